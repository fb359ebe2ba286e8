"""Is a log of changes beside an SQLite file of that file? By what is in the two, and by a copy; SQLite opens neither.

SQLite believes any log that is whole in itself, and folds it into whatever file has its name.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

# See https://www.sqlite.org/fileformat2.html: the header of a database, that of a log, and that of each page in a log.
_MAGIC, _VERSION_AT, _PAGE_SIZE_AT, _IN_LOG = b"SQLite format 3\0", 18, 16, 2
_HEADER, _FRAME = 32, 24
_BIGGEST_PAGE = 65_536


def is_of_another(database: Path, log: Path, *, left_at_ns: int | None) -> bool:
    """`left_at_ns`: when the file was changed last that was opened with this log, where that is known: 0 = only that it
    was opened.

    A file that was never switched to a log has none: such is what `countersign backup` writes. Else what was written to
    the file after the log was folded in from the log, as far as it got, so pages of the log are in it as they are.
    Raises OSError.
    """
    with database.open("rb") as pages, log.open("rb") as frames:
        head = pages.read(100)
        if not head.startswith(_MAGIC):
            return False
        if head[_VERSION_AT] != _IN_LOG:
            return True
        file, beside = database.stat(), log.stat()
        # To move a file away and back changes neither what is in it nor when that was changed.
        is_as_left = file.st_mtime_ns == left_at_ns if left_at_ns else file.st_mtime_ns <= beside.st_mtime_ns
        if left_at_ns is None or is_as_left or file.st_ctime_ns <= beside.st_ctime_ns:
            return False
        size = int.from_bytes(head[_PAGE_SIZE_AT : _PAGE_SIZE_AT + 2], "big")
        return not _has_pages_of(pages, frames, _BIGGEST_PAGE if size == 1 else size)


class NotCompared(OSError):
    """File and log could not be copied to see whether they belong together."""


def would_spoil(database: Path, log: Path) -> bool:
    """Where nobody knows with which file the log was opened, as the folder was put back from a copy: is a copy of both
    damaged once the log is folded in?

    That a file was put there after the log was written is seen by the times of both; else there is nothing to ask.
    Raises `NotCompared`, as where there is no room for the copy, and FileNotFoundError where one of both is gone.
    """
    if database.stat().st_ctime_ns <= log.stat().st_ctime_ns:
        return False
    try:
        with tempfile.TemporaryDirectory(
            dir=database.parent, prefix=f".{database.name}.", suffix=".part"
        ) as folder:
            copy = Path(folder) / database.name
            shutil.copyfile(database, copy)
            shutil.copyfile(log, copy.with_name(f"{copy.name}-wal"))
            return _is_spoiled(copy)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NotCompared(error.errno, error.strerror) from None


def _is_spoiled(copy: Path) -> bool:
    with closing(sqlite3.connect(copy)) as connection:
        try:
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            return found != "ok" or _lacks_entries(connection)
        except sqlite3.DatabaseError:
            return True


def _lacks_entries(connection: sqlite3.Connection) -> bool:
    """Of the audit log: pages of two databases may be whole in themselves."""
    tables = "SELECT count(*) FROM sqlite_master WHERE name IN ('audit', 'audit_head')"
    if connection.execute(tables).fetchone() != (2,):
        return False
    count, last = connection.execute("SELECT count(*), coalesce(max(seq), 0) FROM audit").fetchone()
    (end,) = connection.execute("SELECT coalesce(max(seq), 0) FROM audit_head").fetchone()
    return not count == last == end


def _has_pages_of(pages: BinaryIO, frames: BinaryIO, size: int) -> bool:
    """Is every second page of the log in the file as the log has it, at some time? All are, unless the process died
    while it folded the log."""
    header = frames.read(_HEADER)
    if int.from_bytes(header[8:12], "big") != size:
        return False
    salt, found, same = header[16:24], set[int](), set[int]()
    while len(frame := frames.read(_FRAME + size)) == _FRAME + size and frame[8:16] == salt:
        number = int.from_bytes(frame[:4], "big")
        found.add(number)
        if number not in same:
            pages.seek((number - 1) * size)
            if pages.read(size) == frame[_FRAME:]:
                same.add(number)
    return 2 * len(same) >= len(found)
