"""What is measured, and how."""

from __future__ import annotations

from coverage import Coverage

#: In the environment of what is measured: where it writes what it saw, the beginning of a file's name.
SEEN = "BRANCHES_SEEN"
MEASURED = ("bot/domain", "bot/operations", "bot/partner", "storage")


def measure(file: str) -> Coverage:
    """SQLAlchemy runs statements in greenlets, and SQLite in threads."""
    found = Coverage(data_file=file, data_suffix=True, branch=True, source=[*MEASURED], config_file=False)
    found.set_option("run:concurrency", ["greenlet", "thread"])
    return found
