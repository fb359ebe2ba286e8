"""What SQLite and PostgreSQL say of a statement that they did not do, in words for whoever runs Countersign.

Of their own words none go on: they may hold the address with its password.
"""

from __future__ import annotations

import errno
import os
import re
import sqlite3
from pathlib import Path
from typing import Final

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoFreeConnection

from storage.database import DISK_FAILS, FULL, NO_ROOM, QUOTA_USED_UP, Database, log_path

# SQLite's log of changes has room of its own for a while after the disk is full: what does not fit any more is more
# than a row. Below this there is no room for a minute's work.
LOW_ON_SPACE_BYTES: Final = 1024 * 1024

_DISK_FULL = "53100"
_ON_POSTGRES = {
    "25006": "{shown} is read-only now: a standby answers, or the server was switched to read-only. Connect Countersign"
    " to the primary.",
    "28P01": "PostgreSQL does not take the password for {shown}. Set PGPASSWORD to it; in COUNTERSIGN_DATABASE_URL its"
    " special characters would have to be encoded.",
    "28000": "PostgreSQL does not let this user in to {shown}. Check COUNTERSIGN_DATABASE_URL, whether there is such a"
    " role, and pg_hba.conf on the server.",
    "3D000": "PostgreSQL has no database for {shown}. Make it with createdb, or correct COUNTERSIGN_DATABASE_URL.",
    _DISK_FULL: "The disk of {shown} is full. Free some space on the database server.",
    "53300": "{shown} takes no more connections. Raise max_connections, or run fewer processes.",
    "55P03": "Something else holds a lock in {shown} for more than a second. Look at pg_stat_activity for a"
    " transaction that has not ended, and end it.",
    "57P03": "{shown} is starting up or recovering. Wait until it is ready.",
}
# A connection that is refused comes without its state, so it is known by the words, where the server speaks English. In
# any language it says first how bad it is, and two spaces follow; what libpq itself says of a connection has none.
_SAID_BY_THE_SERVER = re.compile(r"\S:  \S")
_REFUSALS = (
    (re.compile("password"), "28P01"),
    (re.compile('database ".*" does not exist'), "3D000"),
    (re.compile('role ".*" does not exist|no pg_hba.conf entry'), "28000"),
    (re.compile("starting up|shutting down|recovery"), "57P03"),
    (re.compile("too many (clients|connections)|remaining connection slots"), "53300"),
)
_ON_SQLITE = {
    sqlite3.SQLITE_BUSY: "Another process holds the write lock of {shown} for more than a second. Find it with"
    " `fuser -v {shown}`, and end it or wait for it.",
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_READONLY_DBMOVED: "{shown} was replaced, moved or deleted while it was open.",
    sqlite3.SQLITE_READONLY: "{shown} can only be read. Give the file and its folder to the user that Countersign runs"
    " as, and check that the file system is not mounted read-only.",
    sqlite3.SQLITE_CANTOPEN: "{shown} cannot be opened. Check that the file and its folder are there, and that the user"
    " that Countersign runs as may write there.",
    sqlite3.SQLITE_IOERR: DISK_FAILS,
    sqlite3.SQLITE_CORRUPT: "{shown} is damaged. Stop Countersign, keep the file, and restore the newest backup.",
    sqlite3.SQLITE_NOTADB: "{shown} is not a database, or its beginning is damaged. Check COUNTERSIGN_DATABASE_URL; if"
    " it names the right file, stop Countersign, keep the file, and restore the newest backup.",
}
# Those that SQLite has for whatever it does not know by its number: a quota that is used up, no room for the index of
# its log, a file system that has become read-only. The system says which it is where something else is stored there.
_MAY_BE_ANOTHER = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
_QUOTA, _NOT_ALLOWED = "quota", "not allowed"
# A server refuses a connection in words that nobody here knows: it may be full or going away, so it is tried again.
_LETS_NOBODY_IN, _STARTING = "lets nobody in", "57P03"
_FULL = (sqlite3.SQLITE_FULL, _QUOTA)
# Countersign is started again after the others: they end by themselves, or with somebody's work on a disk or server.
_LASTS = {
    *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB),
    *("28P01", "28000", "3D000", _NOT_ALLOWED),
}
_OF_THE_SYSTEM = {
    _QUOTA: QUOTA_USED_UP,
    _NOT_ALLOWED: "{shown} or its log (-wal) cannot be written, though the disk is well. Give both and their folder to"
    " the user that Countersign runs as, and see with `lsattr` whether somebody made one of them immutable.",
}
_ASKED_FOR_S = 2
_LITTLE_ROOM = "The disk of {shown} is full: {free} kB are left. Free some space there."
_NO_ANSWER = (
    "{shown} does not answer. Check that the database server runs and can be reached, and that COUNTERSIGN_DATABASE_URL"
    " names it."
)
_REFUSED = (
    "{{shown}} refuses to store a row (SQLSTATE {code}), though it answers. Run `countersign doctor`; the database's"
    " own log has the reason. If it shows none that you know, report it as a bug of Countersign."
)
_OF_THE_SERVER = (
    "{shown} answers, and refuses the connection. The log of the database server has the reason, such as a password, a"
    " role, a database that is not there, pg_hba.conf, too many connections, or that it is full or going away. Correct"
    " it there, or in COUNTERSIGN_DATABASE_URL."
)
# That the server is away or going away; without a state nothing answered.
_AWAY = ("08", "57P")


def explained(error: SQLAlchemyError, database: Database) -> str:
    """What is in the way and what to do, in sentences. May take long on a disk that is slow or fails."""
    return in_a_sentence(fault_found(error, database), database)


def in_a_sentence(code: int | str, database: Database) -> str:
    """What to say of what was `fault_found`."""
    return _template(code).format(shown=database.shown)


def _template(code: int | str) -> str:
    if isinstance(code, int):
        return _ON_SQLITE.get(code) or _ON_SQLITE.get(code & 0xFF, _ON_SQLITE[sqlite3.SQLITE_IOERR])
    if code in _OF_THE_SYSTEM:
        return _OF_THE_SYSTEM[code]
    if code in _ON_POSTGRES:
        return _ON_POSTGRES[code]
    if code == _LETS_NOBODY_IN:
        return _OF_THE_SERVER
    return _NO_ANSWER if not code or code.startswith(_AWAY) else _REFUSED.format(code=code)


def fault_found(error: SQLAlchemyError, database: Database) -> int | str:
    """What is in the way: SQLite's number or PostgreSQL's state, or what the system says where SQLite does not know."""
    code, path = _code(error), database.path
    if code == _LETS_NOBODY_IN and _is_starting(database):
        return _STARTING
    if path is None or not isinstance(code, int) or code & 0xFF not in _MAY_BE_ANOTHER:
        return code
    refused = database.refuses(LOW_ON_SPACE_BYTES)
    if refused == errno.EDQUOT:
        return _QUOTA
    if refused in NO_ROOM or _has_little_room(path):
        return sqlite3.SQLITE_FULL
    if refused == errno.EROFS:
        return sqlite3.SQLITE_READONLY
    if code & 0xFF == sqlite3.SQLITE_IOERR and not _may_be_written(path):
        return _NOT_ALLOWED
    return sqlite3.SQLITE_IOERR if refused == errno.EIO else code


def _code(error: SQLAlchemyError) -> int | str:
    """SQLite's number, of which the lower byte is the kind and what is above says which of it [sqlite.org, rescode]; or
    the state that PostgreSQL gives, empty where nothing answered."""
    original = error.orig if isinstance(error, DBAPIError) else None
    if isinstance(original, sqlite3.Error):
        return getattr(original, "sqlite_errorcode", sqlite3.SQLITE_IOERR)
    if state := getattr(original, "sqlstate", None):
        return str(state)
    said = str(original) if original is not None else ""
    known = next((state for words, state in _REFUSALS if words.search(said)), "")
    return known or (_LETS_NOBODY_IN if _SAID_BY_THE_SERVER.search(said) else "")


def _is_starting(database: Database) -> bool:
    """Does the server take nobody yet, or no longer? libpq knows it by the state, which it does not hand on."""
    from psycopg import conninfo, pq

    address = conninfo.make_conninfo(database.libpq, connect_timeout=_ASKED_FOR_S)
    return pq.PGconn.ping(address.encode()) == pq.Ping.REJECT


def is_full(code: int | str) -> bool:
    """Is what was `fault_found` want of room?"""
    return code in (*_FULL, _DISK_FULL)


def lasts(code: int | str) -> bool:
    """Is it still so when Countersign is started again, until somebody changes a setting, an owner or the file?"""
    return (code & 0xFF if isinstance(code, int) else code) in _LASTS


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


def lacks_room(database: Database) -> str:
    """That an SQLite file has no room left to grow, and what to do; empty where it has, and on PostgreSQL."""
    if database.path is None:
        return ""
    try:
        free = _free_bytes(database.path)
    except OSError:
        return _ON_SQLITE[sqlite3.SQLITE_CANTOPEN].format(shown=database.shown)
    return _LITTLE_ROOM.format(shown=database.shown, free=free // 1024) if free < LOW_ON_SPACE_BYTES else ""


def _has_little_room(path: Path) -> bool:
    try:
        return _free_bytes(path) < LOW_ON_SPACE_BYTES
    except OSError:
        return False


def _free_bytes(path: Path) -> int:
    found = os.statvfs(path.resolve().parent)
    return found.f_bavail * found.f_frsize


def _may_be_written(path: Path) -> bool:
    """By the names alone: to open and close the file would drop the locks that SQLite holds on it in this process."""
    there = [one for one in (path, log_path(path)) if one.exists()]
    return all(os.access(one, os.W_OK) for one in there)
