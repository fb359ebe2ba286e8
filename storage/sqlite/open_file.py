"""Is the SQLite file at its path still the one that is open?

A file that somebody renames into its place, or a file that is deleted, changes nothing for a connection that has the
old one open: it reads and commits on, into a file that nobody will find again. A connection that is opened after that
is worse: SQLite finds the log of changes by its name, so the new file takes pages of the old one. The same holds for
whatever opens the file next, also after this process was killed. So nothing is opened or written then, and the log is
folded into the file that it belongs to, after which it is empty.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from sqlalchemy.exc import OperationalError

from storage.database import RollingBack, log_path, set_pragmas


class Misplaced(StrEnum):
    """What is wrong at the path: another file, none, or another log of changes beside it or none."""

    REPLACED = "replaced"
    GONE = "gone"
    LOG = "log"


class OpenFile:
    """A connection of its own keeps the file and its log open, so that neither may change for a good reason.

    Once it was found to be misplaced, `kept` is where what was open is kept, and `is_settled` says that nothing is
    left to be done.
    """

    def __init__(self, path: Path) -> None:
        """Open it. Raises `OperationalError`."""
        self._path = path
        self._log = log_path(path)
        self.kept: Path | None = None
        self.is_settled = False
        self._turn = asyncio.Lock()
        try:
            self._connection = sqlite3.connect(path, check_same_thread=False, factory=RollingBack, timeout=10)
            # It waits for nobody: whoever is in the way may be waiting for this.
            set_pragmas(self._connection, read_only=True, busy_ms=0)
            self._connection.execute("SELECT 1 FROM sqlite_master").fetchall()
        except sqlite3.Error as error:
            raise OperationalError("connect", {}, error) from error
        self._is = _identity(path)
        self._log_is = _identity(self._log)

    @property
    def inodes(self) -> tuple[int, int]:
        """Of the file and its log, as they were opened; 0 = unknown."""
        return (self._is[1], self._log_is[1]) if self._is and self._log_is else (0, 0)

    @property
    def changed_ns(self) -> int:
        """When the file at the path was changed last; 0 = unknown."""
        try:
            return os.stat(self._path).st_mtime_ns
        except OSError:
            return 0

    def misplaced(self) -> Misplaced | None:
        """What is wrong at the path now; None where all is as it was opened. Two looks at a name, no more."""
        found = _identity(self._path)
        if found != self._is:
            return Misplaced.GONE if found is None else Misplaced.REPLACED
        if _identity(self._log) != self._log_is:
            return Misplaced.LOG
        # It may have been moved back: what is written from now on is kept, too.
        self.is_settled, self.kept = False, None
        return None

    def require(self) -> None:
        """Raise `OperationalError` where it is not the one that is open."""
        found = self.misplaced()
        if found is not None:
            error = sqlite3.OperationalError(
                f"the file at {self._path} is not the one that is open ({found})"
            )
            error.sqlite_errorcode = sqlite3.SQLITE_READONLY_DBMOVED
            raise OperationalError("BEGIN", {}, error)

    def connect(self, factory: type[sqlite3.Connection]) -> sqlite3.Connection:
        """Another connection to it. Raises `OperationalError` where the file at the path is not the one that is open.

        SQLite opens the file here, and its log at the first statement: what is at the path by then is looked at again.
        """
        self.require()
        connection = sqlite3.connect(
            self._path, check_same_thread=False, cached_statements=500, factory=factory, timeout=0
        )
        try:
            self.require()
        except OperationalError:
            connection.close()
            raise
        return connection

    async def keep(self, now: datetime) -> None:
        """Where it is misplaced: leave nothing in a log that could get into another file, and keep what was open.

        To be done again while `is_settled` is False: a reader was in the way.
        """
        async with self._turn:
            if not self.is_settled and self.misplaced() is not None:
                await asyncio.to_thread(self._keep, now)

    def _keep(self, now: datetime) -> None:
        is_folded = self._fold()
        if self.kept is None and self._path.parent.is_dir():
            self._copy(now)
        self.is_settled = is_folded and (self.kept is not None or not self._path.parent.is_dir())

    def _copy(self, now: datetime) -> None:
        """Tried again until there is room for it: with this process goes the last name of what is open."""
        target = self._path.with_name(f"{self._path.name}.kept-{now:%Y%m%dT%H%M%SZ}")
        # Under its own name once it is whole: whoever finds it takes it for the newest database.
        unfinished = target.with_name(f"{target.name}.part")
        try:
            os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except OSError:
            return
        copy = sqlite3.connect(unfinished)
        try:
            self._connection.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
            copy.close()
            os.rename(unfinished, target)
            self.kept = target
        except (sqlite3.Error, OSError):
            copy.close()
            for name in ("", "-journal", "-wal", "-shm"):
                unfinished.with_name(unfinished.name + name).unlink(missing_ok=True)

    def _fold(self) -> bool:
        """The log goes into the file that is open, wherever that is now, and is empty then; False while somebody is in
        the way."""
        try:
            is_busy, *_ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error:  # no room, or a disk that is gone
            return False
        return not is_busy

    def close(self) -> None:
        """Last of all that are open on it. SQLite itself folds nothing, and deletes nothing, where the file was
        replaced or moved."""
        if self.misplaced() is not None:
            self._fold()
        self._connection.close()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
