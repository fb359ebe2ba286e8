"""Is a log of changes beside an SQLite file that was begun on that file? SQLite itself opens neither to find out.

SQLite believes any log that is whole in itself, and folds it into whatever file has its name. So each change that we
store leaves two random numbers on the first page of the database: its own, and that of the change before it. The first
page is in the log then, and says to which state of the file the log belongs, whatever was folded, by whom, and whatever
times and owners the two have.
"""

from __future__ import annotations

import fcntl
import glob
import os
import secrets
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

# See https://www.sqlite.org/fileformat2.html: the header of a database, that of a log, and that of each page in a log.
_MAGIC, _VERSION_AT, _PAGE_SIZE_AT, _IN_LOG = b"SQLite format 3\0", 18, 16, 2
_USER_VERSION_AT, _APPLICATION_ID_AT = 60, 68
_HEADER, _FRAME, _HEAD = 32, 24, 100
_BIGGEST_PAGE = 65_536
# Any number that both take, but for 0: that is what a database has in which nobody wrote one.
_MOST = 2**31 - 1
_UNFINISHED = ".part"


class NotCompared(OSError):
    """File and log could not be copied to see whether they belong together."""


class _Change(NamedTuple):
    """The last change on a first page, by its number, and the one before it; 0 = by an older version."""

    before: int
    number: int


def mark_change(run: Callable[[str], Any]) -> None:
    """In the transaction that changes something, before it is committed."""
    (before,) = run("PRAGMA user_version").fetchone()
    run(f"PRAGMA application_id={before}")
    run(f"PRAGMA user_version={1 + secrets.randbelow(_MOST)}")


def belongs(database: Path, log: Path) -> bool | None:
    """Was the log begun on the file, as that is or was at some time since? None where the two do not say.

    A file that was never switched to a log has none: such is what `countersign backup` writes. Of the changes in the
    log the file has the one before the first, or, where some of the log was folded in, any of them. Raises OSError.
    """
    with database.open("rb") as pages:
        head = pages.read(_HEAD)
    if not head.startswith(_MAGIC):
        return True  # nor does SQLite open such a file, with any log
    if head[_VERSION_AT] != _IN_LOG:
        return False
    size = int.from_bytes(head[_PAGE_SIZE_AT : _PAGE_SIZE_AT + 2], "big")
    in_log = list(_changes_in(log, _BIGGEST_PAGE if size == 1 else size))
    found = _change_on(head)
    if not in_log or not in_log[0].before or not found.number:
        return None
    return found in in_log or found.number == in_log[0].before


def _change_on(head: bytes) -> _Change:
    before, number = (
        int.from_bytes(head[at : at + 4], "big") for at in (_APPLICATION_ID_AT, _USER_VERSION_AT)
    )
    return _Change(before, number)


def _changes_in(log: Path, size: int) -> Iterator[_Change]:
    """As the first page has them, in the order in which they were made. Behind its end may be what is left of an older
    log."""
    with log.open("rb") as frames:
        salt, at = frames.read(_HEADER)[16:24], _HEADER
        while len(frame := frames.read(_FRAME + _HEAD)) == _FRAME + _HEAD and frame[8:16] == salt:
            if int.from_bytes(frame[:4], "big") == 1:
                yield _change_on(frame[_FRAME:])
            at += _FRAME + size
            frames.seek(at)


def would_spoil(database: Path, log: Path) -> bool:
    """Where the two do not say whether they belong together: is a copy of both damaged once the log is folded in?

    Damaged is what has other pages, another audit log or other open requests than one whole database has. Raises
    `NotCompared`, as where there is no room for the copy, and FileNotFoundError where one of both is gone.
    """
    try:
        with _folder_beside(database) as folder:
            copy = folder / database.name
            shutil.copyfile(database, copy)
            shutil.copyfile(log, copy.with_name(f"{copy.name}-wal"))
            return _is_spoiled(copy)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NotCompared(error.errno, error.strerror) from None


@contextmanager
def _folder_beside(database: Path) -> Iterator[Path]:
    """For copies, locked for as long as they are worked on, and gone at the end."""
    with tempfile.TemporaryDirectory(
        dir=database.parent, prefix=f".{database.name}.", suffix=_UNFINISHED
    ) as folder:
        handle = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield Path(folder)
        finally:
            os.close(handle)


def remove_left(database: Path) -> None:
    """Copies that a process which was killed has left."""
    for folder in database.parent.glob(f".{glob.escape(database.name)}.*{_UNFINISHED}"):
        with suppress(OSError):  # a file is of a backup, which looks after it
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
            finally:
                os.close(handle)


def _is_spoiled(copy: Path) -> bool:
    with closing(sqlite3.connect(copy)) as connection:
        try:
            # A value that no column of ours takes says nothing of pages: somebody wrote it, and only it is set aside.
            connection.execute("PRAGMA ignore_check_constraints=ON")
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            return found != "ok" or _lacks_entries(connection) or _has_other_requests(connection)
        except sqlite3.DatabaseError:
            return True


def _has_tables(connection: sqlite3.Connection, *names: str) -> bool:
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    return there.issuperset(names)


def _lacks_entries(connection: sqlite3.Connection) -> bool:
    """Of the audit log: pages of two databases may be whole in themselves."""
    if not _has_tables(connection, "audit", "audit_head"):
        return False
    count, last = connection.execute("SELECT count(*), coalesce(max(seq), 0) FROM audit").fetchone()
    (end,) = connection.execute("SELECT max(seq) FROM audit_head").fetchone()
    # Where nothing says where it ends, that is said at the start, whatever log there is.
    return count != last or end not in (None, last)


_LAST_STATES = """
SELECT request.state, (
    SELECT json_extract(audit.body, '$.state') FROM audit
    WHERE audit.subject >= 'request:' || request.id || ':' AND audit.subject < 'request:' || request.id || ';'
      AND audit.outcome = 'ok' AND json_extract(audit.body, '$.state') IS NOT NULL
    ORDER BY audit.seq DESC LIMIT 1
) FROM request WHERE request.state IN ('pending', 'approved', 'executing', 'unresolved')
"""


def _has_other_requests(connection: sqlite3.Connection) -> bool:
    """Is a request open in another state than the audit log has it in?"""
    if not _has_tables(connection, "audit", "request"):
        return False
    found = connection.execute(_LAST_STATES).fetchall()
    return any(on_record is not None and state != on_record for state, on_record in found)
