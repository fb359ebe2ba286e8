"""Can the database be written now? It is tried with a row of its own, and what is in the way is said in sentences.

To read says nothing of it: a full disk, a file system that has become read-only and a lock that somebody holds leave
every reading as it was.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoFreeConnection

from storage.sqlite import Misplaced
from storage.store import Store

# Below the time a probe has (`bot.web.CHECK_TIMEOUT_S`).
ANSWERS_WITHIN_S = 1.8
# SQLite's log of changes has room of its own for a while after the disk is full: what does not fit any more is more
# than a row. Below this there is no room for a minute's work.
LOW_ON_SPACE_BYTES = 1024 * 1024

_ON_POSTGRES = {
    "25006": "{shown} is read-only now: a standby answers, or the server was switched to read-only. Connect Countersign"
    " to the primary.",
    "53100": "The disk of {shown} is full. Free some space on the database server.",
    "53300": "{shown} takes no more connections. Raise max_connections, or run fewer processes.",
    "55P03": "Something else holds a lock in {shown} for more than a second. Look at pg_stat_activity for a"
    " transaction that has not ended, and end it.",
    "57P03": "{shown} is starting up or recovering. Wait until it is ready.",
}
_ON_SQLITE = {
    sqlite3.SQLITE_BUSY: "Another process holds the write lock of {shown} for more than a second. Find it with"
    " `fuser -v {shown}`, and end it or wait for it.",
    sqlite3.SQLITE_FULL: "The disk of {shown} is full. Free some space there.",
    sqlite3.SQLITE_READONLY_DBMOVED: "{shown} was replaced, moved or deleted while it was open.",
    sqlite3.SQLITE_READONLY: "{shown} can only be read. Give the file and its folder to the user that Countersign runs"
    " as, and check that the file system is not mounted read-only.",
    sqlite3.SQLITE_CANTOPEN: "{shown} cannot be opened any more. Check that the file and its folder are still there.",
    sqlite3.SQLITE_IOERR: "The disk of {shown} reports errors. Check the system's log, and keep a copy of the file.",
    sqlite3.SQLITE_CORRUPT: "{shown} is damaged. Stop Countersign, keep the file, and restore the newest backup.",
    sqlite3.SQLITE_NOTADB: "{shown} is damaged. Stop Countersign, keep the file, and restore the newest backup.",
}
_MISPLACED = {
    Misplaced.REPLACED: "{shown} is not the file that Countersign has open: another file was put in its place while"
    " Countersign ran",
    Misplaced.GONE: "{shown} is gone: the file was deleted or moved while Countersign ran",
    Misplaced.LOG: "{shown}-wal is not the file that Countersign has open: it was replaced, moved or deleted while"
    " Countersign ran",
}
_NOTHING_BY_IT = (
    "{what}, so nothing is read, approved or sent. {kept} Stop Countersign, put the newest database in place, and"
    " start: the runbook says how, under “The database file was replaced or deleted”."
)
_KEPT = "What Countersign had open is kept as {path}."
_NOT_KEPT = (
    "What Countersign had open could not be kept beside it yet. Don't stop Countersign before it is: it tries again by"
    " itself, so make room there."
)
_NO_ROOM = "The disk of {shown} is full: {free} kB are left. Free some space there."
_NO_ANSWER = "{shown} does not answer. Check that the database server runs and can be reached."
_REFUSED = (
    "{{shown}} refuses to store a row (SQLSTATE {code}), though it answers. Run `countersign doctor`; the database's"
    " own log has the reason. If it shows none that you know, report it as a bug of Countersign."
)
# That the server is away or going away; without a state nothing answered.
_AWAY = ("08", "57P")
_SLOW = "{shown} takes longer than two seconds to store one row. Check the load of its disk and server."


async def why_not_written(store: Store) -> str:
    """Why nothing can be stored now and what to do, in sentences; empty where it can."""
    shown = store.database.shown
    if why := await misplaced(store):
        return why
    try:
        async with asyncio.timeout(ANSWERS_WITHIN_S):
            await store.probe()
    except (TimeoutError, NoFreeConnection):
        return _SLOW.format(shown=shown)
    except SQLAlchemyError as error:
        return explained(error).format(shown=shown)
    except OSError:
        return _NO_ANSWER.format(shown=shown)
    return lacks_room(store)


async def misplaced(store: Store) -> str:
    """That the SQLite file at its path is not the one that is open, what was done about it, and what to do; empty where
    it is, and on PostgreSQL."""
    found = store.misplaced()
    if found is None:
        return ""
    path = await store.keep_what_is_open()
    kept = _KEPT.format(path=path) if path is not None else _NOT_KEPT
    return _NOTHING_BY_IT.format(what=_MISPLACED[found].format(shown=store.database.shown), kept=kept)


def is_out_of_use(error: BaseException) -> bool:
    """Did a transaction end because the database is away, full, locked or read-only? Not by a fault of ours."""
    if isinstance(error, NoFreeConnection):
        return True
    original = error.orig if isinstance(error, DBAPIError) else None
    if isinstance(original, sqlite3.Error):
        return getattr(original, "sqlite_errorcode", sqlite3.SQLITE_IOERR) & 0xFF in _ON_SQLITE
    has_no_connection = isinstance(error, OperationalError | InterfaceError)
    return has_no_connection or getattr(original, "sqlstate", None) in _ON_POSTGRES


def is_damage(error: BaseException) -> bool:
    """Is the SQLite file damaged, or none?"""
    code = getattr(getattr(error, "orig", None), "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def lacks_room(store: Store) -> str:
    """That an SQLite file has no room left to grow, and what to do; empty where it has, and on PostgreSQL."""
    path = store.database.path
    if path is None:
        return ""
    try:
        found = os.statvfs(path.parent)
    except OSError:
        return _ON_SQLITE[sqlite3.SQLITE_CANTOPEN].format(shown=store.database.shown)
    free = found.f_bavail * found.f_frsize
    return _NO_ROOM.format(shown=store.database.shown, free=free // 1024) if free < LOW_ON_SPACE_BYTES else ""


def explained(error: SQLAlchemyError) -> str:
    """What is in the way and what to do, in sentences; `{shown}` stands for the database."""
    original = error.orig if isinstance(error, DBAPIError) else None
    if isinstance(original, sqlite3.Error):
        # The lower byte is the kind, what is above says which of it [sqlite.org, rescode].
        code = getattr(original, "sqlite_errorcode", sqlite3.SQLITE_IOERR)
        return _ON_SQLITE.get(code) or _ON_SQLITE.get(code & 0xFF, _ON_SQLITE[sqlite3.SQLITE_IOERR])
    code = getattr(original, "sqlstate", None) or ""
    if code in _ON_POSTGRES or not code or code.startswith(_AWAY):
        return _ON_POSTGRES.get(code, _NO_ANSWER)
    return _REFUSED.format(code=code)
