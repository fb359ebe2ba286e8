"""An SQLite file while it is open: connections to it, and whether it is still the one at its path."""

from storage.sqlite.connections import SqliteConnection, SqliteEngine, is_busy
from storage.sqlite.open_file import Misplaced, OpenFile

__all__ = ["Misplaced", "OpenFile", "SqliteConnection", "SqliteEngine", "is_busy"]
