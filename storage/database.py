"""A database address, and how a connection to it is set up. Nothing here opens one."""

from __future__ import annotations

import errno
import fcntl
import glob
import os
import re
import socket
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from storage.errors import (
    BadDatabaseUrl,
    DatabaseAway,
    DatabaseInUse,
    DatabaseMissing,
    DatabaseUnreachable,
    DiskFull,
)
from storage.sqlite_log import NotCompared, belongs, remove_left, would_spoil

# FULL: an intent must survive a power cut. secure_delete: purged personal details leave no bytes.
PRAGMAS: tuple[str, ...] = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    "secure_delete=ON",
)
# Of pages, in KiB. A large cache cut the slowest inserts five times on a large table. With two connections that write
# and four that read a process keeps 40 MiB at most, however long it runs. Of the 64 MB that are for all caches a
# directory of 20,000 cards takes 17.
WRITER_CACHE_KIB, READER_CACHE_KIB = 12_288, 4_096
BUSY_MS = 10_000
# What a lock file says.
_INODES = re.compile(rb"(?P<file>\d+) (?P<log>\d+) (?P<lock>\d+)(?: (?P<changed>\d+))?\n")
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
FULL = "The disk of {shown} is full. Free some space there."
QUOTA_USED_UP = (
    "The disk of {shown} is full for the user that Countersign runs as, whose quota is used up. Free some space there,"
    " or raise the quota."
)
DISK_FAILS = (
    "The disk of {shown} reports errors. Look at `dmesg`, and at the quota of the user that Countersign runs as, before"
    " you do anything else, and keep a copy of the file."
)
# As much as a start has to store at once.
_PAGE_BYTES = 4096
_KEEP = "Nothing that is only in that log is in the file, so keep it."
# What SQLite or an unfinished copy has beside a file, or is: no database.
_BESIDE = ("-journal", "-wal", "-shm", ".lock", ".part")


def process_name() -> str:
    """This process, as others that share the database know it: `host:number`."""
    return f"{socket.gethostname()[-40:]}:{os.getpid()}"


def connections_named(process: str) -> str:
    """What PostgreSQL shows of the connections of this process."""
    return f"countersign {process}"


def url_of(path: Path) -> str:
    """The address of this SQLite file, whatever characters its name has."""
    return URL.create("sqlite", database=str(path)).render_as_string()


@dataclass(frozen=True, slots=True)
class Database:
    """Where the data lives. `path` is set for SQLite only."""

    url: URL
    path: Path | None

    @classmethod
    def parse(cls, text: str) -> Database:
        """`sqlite:///relative.db`, `sqlite:////absolute.db` or `postgresql://…`; raises `BadDatabaseUrl`."""
        fix = "Use sqlite:///path/to/file.db or postgresql://user:password@host/name."
        try:
            url = make_url(text)
        except (ArgumentError, ValueError):
            raise BadDatabaseUrl(f"The database address cannot be read. {fix}") from None
        backend = url.get_backend_name()
        if backend == "postgresql":
            return cls(url.set(drivername="postgresql+psycopg"), None)
        if backend != "sqlite":
            raise BadDatabaseUrl(f"Countersign does not know the database {backend}. {fix}")
        if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
            raise BadDatabaseUrl(
                f"The SQLite database must be a file: requests have to outlive a restart. {fix}"
            )
        return cls(url, Path(url.database))

    @property
    def anchors_beside(self) -> Path | None:
        """The file of audit anchors beside an SQLite file."""
        return None if self.path is None else self.path.with_name(self.path.name + ".anchors")

    @property
    def libpq(self) -> str:
        """The address as PostgreSQL's own library reads it, password and all; empty on SQLite."""
        plain = self.url.set(drivername="postgresql")
        return "" if self.path else plain.render_as_string(hide_password=False)

    @property
    def shown(self) -> str:
        """The address as it was written, without its password."""
        as_written = self.url.set(drivername=self.url.get_backend_name())
        return str(self.path) if self.path else as_written.render_as_string(hide_password=True)

    def unwritable(self) -> DatabaseUnreachable | None:
        """Why the SQLite file or its folder cannot be written, with the fix; None where they can, or are not there.

        Not while this process has the file open: closing it here drops the locks that SQLite holds on it.
        """
        if self.path is None or not self.path.parent.is_dir():
            return None
        try:
            _store_beside(self.path, _PAGE_BYTES)
            if self.path.exists():
                os.close(os.open(self.path, os.O_RDWR))
        except OSError as error:
            return self._why_unwritable(error)
        lock = lock_path(self.path)
        if lock.exists() and not os.access(lock, os.R_OK | os.W_OK):
            return DatabaseUnreachable(
                f"{lock} cannot be written ({os.strerror(errno.EACCES)}). Give it to the user that Countersign runs as:"
                " another user made it, by running a command on this database."
            )
        return None

    def refuses(self, size: int) -> int:
        """The number of the error with which the folder of the SQLite file refuses to store so many bytes; 0 where it
        takes them, and on PostgreSQL. Nothing of them is left, not even where this process is killed. May take long."""
        try:
            if self.path is not None:
                _store_beside(self.path, size)
        except OSError as error:
            return error.errno or errno.EIO
        return 0

    def log_of_another(self, *, is_locked: bool = False) -> DatabaseUnreachable | None:
        """That the log beside the SQLite file is of another file, with the fix; None where it is not.

        SQLite would not notice, and mix the two. Known where Countersign was killed, and a file put in place after it.
        `is_locked`: whoever asks has the lock of the database, so no other process is at work on it.
        """
        if self.path is None:
            return None
        log, lock = log_path(self.path), lock_path(self.path)
        with suppress(OSError):
            remove_left(self.path)
        try:
            if not log.stat().st_size:
                return None
            other = self._why_of_another(self.path, log, lock, is_locked=is_locked)
        except NotCompared as error:
            kind = DiskFull if error.errno in NO_ROOM else DatabaseUnreachable
            return self.unwritable() or kind(
                f"Whether the log {log} is of {self.path} cannot be seen ({error.strerror}), as the two do not say it."
                f" Nothing was opened. {self.path.parent} needs room for a copy of both; free some and start."
            )
        except OSError:
            return None
        if not other:
            return None
        return DatabaseUnreachable(
            f"The log {log} is of another file than {self.path}, which was put in its place while Countersign ran or"
            " after it was killed. Nothing was opened, because SQLite would mix the two. If you put another database in"
            f" place, move {log} away, keep it, and start. {other}"
        )

    def _why_of_another(self, path: Path, log: Path, lock: Path, *, is_locked: bool) -> str:
        """What to do then; empty where the log is of the file."""
        noted = self._noted(log, lock)
        if noted is not None and path.stat().st_ino != noted[0]:
            return f"If it is the same database, copied, remove {lock} and start."
        # One that a bot works with right now changes beneath this: what is so stays so.
        for pause_s in (0.0, 0.05, 0.2):
            time.sleep(pause_s)  # noqa: TID251 - in a thread, before anything runs
            found = belongs(path, log)
            if found:
                return ""
            if found is None:
                break
        else:
            return _KEEP
        # Changes of an older version say nothing of themselves. The process that made them noted how it left the file.
        is_as_left = noted is not None and path.stat().st_mtime_ns == noted[1]
        is_known = is_as_left or (noted is not None and not is_locked and _is_held(lock))
        return _KEEP if not is_known and would_spoil(path, log) else ""

    def _noted(self, log: Path, lock: Path) -> tuple[int, int] | None:
        """The inode of the file that was opened with this log, and when it was changed last (0 = unknown). None where
        that is not known, or all of the folder was copied or put back, the lock with it."""
        try:
            opened = _INODES.fullmatch(lock.read_bytes())
            if opened is None or log.stat().st_ino != int(opened["log"]):
                return None
            found = int(opened["file"]), int(opened["changed"] or 0)
            return found if lock.stat().st_ino == int(opened["lock"]) else None
        except OSError:
            return None

    def require_file(self) -> None:
        """Raise `DatabaseMissing` where there is no SQLite file, or an empty one beside what it held."""
        if why := self.leads_nowhere() or self.left_behind():
            raise DatabaseMissing(why)
        if self.path is not None and not self.path.exists():
            raise DatabaseMissing(f"There is no database at {self.shown}. Run `countersign migrate` first.")

    def is_begun(self) -> bool:
        """Is there more than a name? SQLite takes a file without a byte for a new database, and deletes its log."""
        try:
            return self.path is None or self.path.stat().st_size > 0
        except OSError:
            return False

    def leads_nowhere(self) -> str:
        """That the path is a link to a file that is not there, with the fix; empty where it is not."""
        if self.path is None or self.path.exists() or not self.path.is_symlink():
            return ""
        real = self.path.resolve()
        leads = f"{self.path} is a link to {real}, which is not there."
        if kept := _kept(self.path):
            return (
                f"{leads} It was deleted or moved while Countersign ran: what was open is kept as {kept[-1]}. Nothing"
                f" was started. Move that to {real} and start, unless the disk with {real} is only not mounted."
            )
        return f"{leads} Nothing was started. Mount its disk, or correct the link."

    def left_behind(self) -> str:
        """What lies beside an SQLite file that is missing or empty, with what to do; empty where nothing does.

        A log of changes holds what is in no other file, and SQLite deletes it where it finds a new file beside it.
        """
        if self.path is None or self.is_begun():
            return ""
        is_empty = ", whose file is empty" if self.path.exists() else ""
        real = _real(self.path)
        nothing = f"There is no database at {self.path}{is_empty}"
        of_kept = _beside(self.path, ".kept-*")
        if kept := _kept(self.path):
            return (
                f"{nothing}: it was deleted or moved while Countersign ran, and what was open"
                f" is kept as {kept[-1]}. Nothing was started. Rename that to {real} and start."
            )
        if of_kept:
            return (
                f"{nothing}: it was deleted or moved while Countersign ran. Countersign"
                f" was killed while it kept what was open, so {of_kept[0]} is not whole. Nothing was started. Put the"
                f" file back if it was moved, or restore the newest backup, and move {of_kept[0]} away."
            )
        of_before = sorted(
            (one for one in _beside(self.path, ".before-restore-*") if not one.name.endswith(_BESIDE)),
            key=lambda one: one.stat().st_mtime,
        )
        if of_before:
            return (
                f"{nothing}, but there is {of_before[-1]}, which `countersign restore` replaced:"
                " it may have been killed before the backup was in place. Nothing was started. Restore again, or rename"
                f" that, and its -wal file if there is one, to {real} and start."
            )
        log = log_path(self.path)
        try:
            if not log.stat().st_size:
                return ""
        except OSError:
            return ""
        return (
            f"{nothing}, but there is its log {log}, with changes that are in no other file. Nothing"
            f" was started. Put the database back to {real}, beside its log, and start."
        )

    def _why_unwritable(self, error: OSError) -> DatabaseUnreachable:
        if error.errno == errno.EROFS:
            return DatabaseUnreachable(
                f"The database {self.path} is on a read-only file system. Mount it so that it can be written, or"
                " correct COUNTERSIGN_DATABASE_URL."
            )
        if error.errno in NO_ROOM:
            template = QUOTA_USED_UP if error.errno == errno.EDQUOT else FULL
            return DiskFull(template.format(shown=self.path))
        if error.errno == errno.EIO:
            return DatabaseAway(DISK_FAILS.format(shown=self.path))
        return DatabaseUnreachable(
            f"The database {self.path} and its folder cannot be written ({error.strerror}). Give them to the user that"
            " Countersign runs as, or correct COUNTERSIGN_DATABASE_URL."
        )

    def create_file(self) -> None:
        """Make the SQLite file and its folder, readable by this user alone; nothing if it is there.

        It appears under its name with the write-ahead log switched on: that switch is the one step at
        which several starters at once would trip over each other. Raises `DatabaseUnreachable` where it
        cannot be made, and `DatabaseMissing` where something of one that was there lies beside it.
        """
        if self.path is None or self.is_begun():
            return
        if why := self.leads_nowhere():
            raise DatabaseMissing(why)
        if why := self.left_behind():
            raise DatabaseMissing(f"{why} For a new, empty database move it away.")
        if self.path.exists():
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, fresh = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
            os.close(handle)
            try:
                with closing(sqlite3.connect(fresh)) as connection:
                    connection.execute("PRAGMA journal_mode=WAL")
                with suppress(FileExistsError):  # another starter was quicker, with the same file
                    os.link(fresh, self.path)
            finally:
                os.unlink(fresh)
        except OSError as error:
            raise self._why_unwritable(error) from None


class RollingBack(sqlite3.Connection):
    """Closing it ends its transaction at once.

    SQLite alone would not: while a cursor of the connection is alive, and the traceback of a cancelled task keeps
    one, a closed connection stays open behind the scenes and holds the write lock until Python collects garbage.
    """

    def close(self) -> None:
        try:
            if self.in_transaction:
                self.rollback()
        finally:
            super().close()


def set_pragmas(dbapi: Any, *, read_only: bool = False, busy_ms: int = BUSY_MS) -> None:
    """Prepare a fresh SQLite connection, through either driver. We say BEGIN ourselves."""
    dbapi.isolation_level = None
    cursor = dbapi.cursor()
    # First, as the others may have to wait for a lock.
    cache = f"cache_size=-{READER_CACHE_KIB if read_only else WRITER_CACHE_KIB}"
    only = f"query_only={'ON' if read_only else 'OFF'}"
    for pragma in (f"busy_timeout={busy_ms}", *PRAGMAS, cache, only):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _store_beside(path: Path, size: int) -> None:
    """Store so many bytes on its disk, in a file without a name. Raises OSError."""
    with tempfile.TemporaryFile(dir=path.resolve().parent, buffering=0) as file:
        left = memoryview(os.urandom(size))
        while left:
            left = left[file.write(left) :]
        os.fsync(file.fileno())


def _real(path: Path) -> Path:
    """The file itself, where its path is a link."""
    return path.resolve() if path.is_symlink() else path


def _kept(path: Path) -> list[Path]:
    """What was open when the file was deleted or replaced beneath Countersign, the newest last; whole ones only."""
    return [one for one in _beside(path, ".kept-*") if not one.name.endswith(_BESIDE)]


def _beside(path: Path, pattern: str) -> list[Path]:
    """Files that are named after the SQLite file, in order: beside its path, and where that is a link beside the real
    one, as `countersign restore` replaces that."""
    found = {
        one for file in {path, _real(path)} for one in file.parent.glob(f"{glob.escape(file.name)}{pattern}")
    }
    return sorted(found, key=lambda one: (one.name, one))


def log_path(path: Path) -> Path:
    """The log of changes of an SQLite file, whatever path leads to it."""
    real = path.resolve()
    return real.with_name(real.name + "-wal")


def lock_path(path: Path) -> Path:
    """The lock file of an SQLite file, whatever path leads to it."""
    real = path.resolve()
    return real.with_name(real.name + ".lock")


def _is_held(lock: Path) -> bool:
    """Is a process at work on the database?"""
    try:
        handle = os.open(lock, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(handle)


class FileLock:
    """Holds a SQLite database, whatever path leads to it. The system drops it when the process dies.

    Twice: a lock file beside the file that the path leads to, which other machines see too where the folder is
    shared; and on Linux a name made of the file's device and inode, for hard links, which have folders of their own.
    """

    def __init__(self, path: Path) -> None:
        """Take the lock or raise `DatabaseInUse`."""
        real = path.resolve()
        self._file = os.open(lock_path(real), os.O_RDWR | os.O_CREAT, 0o600)
        self._name = socket.socket(socket.AF_UNIX)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if sys.platform == "linux" and real.exists():
                # No lock on the file itself: closing that would drop the locks that SQLite holds on it.
                found = real.stat()
                self._name.bind(f"\0countersign:{found.st_dev}:{found.st_ino}")
        except OSError as error:
            self.release()
            if error.errno not in (errno.EWOULDBLOCK, errno.EADDRINUSE):
                raise
            raise DatabaseInUse(
                f"Another Countersign process is using {path}. Stop it first; to run several at once,"
                " use PostgreSQL."
            ) from None

    def note(self, file: int, log: int, *, changed_ns: int, is_news: bool = True) -> None:
        """Which file and which log are open, by their inodes, and when the file was changed last, for whoever opens
        them after this process. `is_news`: more than the time; that alone need not outlive the machine."""
        with suppress(OSError):  # a full disk: then nobody knows
            line = b"%d %d %d %d\n" % (file, log, os.fstat(self._file).st_ino, changed_ns)
            os.pwrite(self._file, line, 0)
            os.ftruncate(self._file, len(line))
            if is_news:
                os.fsync(self._file)

    def release(self) -> None:
        self._name.close()
        os.close(self._file)


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    lock = FileLock(path)
    try:
        yield
    finally:
        lock.release()
