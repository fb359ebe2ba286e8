"""Bring a database to the schema of this program: look, lock, look again, copy, upgrade.

Several starters at once are fine: one upgrades, the others find it done. The whole upgrade is one
transaction on both databases, so that a crash leaves the old schema whole. Alembic is imported when there is
something to upgrade: every start looks, and to look takes two names.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, insert, inspect, select, text
from sqlalchemy.pool import NullPool

from storage import instance, tables
from storage.database import Database, connections_named, file_lock, set_pragmas
from storage.errors import DatabaseInUse, DatabaseUnreachable, SchemaBehind, SchemaTooNew
from storage.faults import named
from storage.sqlite_log import mark_change

_FOLDER = Path(__file__).parent / "migrations"
_WAIT_MS = 60_000  # an upgrade by another starter may take a while
_CONNECTED = text(
    "SELECT DISTINCT application_name FROM pg_stat_activity WHERE application_name LIKE :names"
    " AND datname = current_database() AND pid <> pg_backend_pid() ORDER BY 1"
)
_ADVISORY_LOCK = 0x636F756E  # any number that only this program uses
# One of the two lines by which a file of a migration says what it is, and what it follows.
_REVISION = re.compile(r"""^(revision|down_revision)\b[^=\n]*=\s*["']?(\w+)""", re.MULTILINE)
_NAME_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"

Choose = Callable[[str], str]


async def migrate(url: str, *, choose: Choose = secrets.choice) -> str:
    """Upgrade the database at `url`, making it first if need be; returns the revision it is at now.

    Raises `SchemaTooNew` when a newer program was here, `DatabaseInUse` when an upgrade is needed
    while another process works on the SQLite file. `choose` draws the letters of a new instance name.
    """
    return await asyncio.to_thread(_migrate, Database.parse(url), choose)


def newest() -> str:
    """The revision this program needs."""
    return _revisions(_FOLDER)[0]


async def migrate_if_empty(url: str) -> None:
    """As `migrate` for a database in which nothing of Countersign is; any other is left as it is."""
    if await asyncio.to_thread(_current, Database.parse(url)) is None:
        await migrate(url)


async def require_current(url: str) -> None:
    """Raise `SchemaBehind` or `SchemaTooNew` unless the database is at this program's revision."""
    database = Database.parse(url)
    found = await asyncio.to_thread(_current, database)
    if not _is_current(found, database):
        if found is None:
            raise SchemaBehind(f"The database {database.shown} is empty. Run `countersign migrate` first.")
        raise SchemaBehind(
            f"The database {database.shown} has an older form. Run `countersign migrate` first."
        )


@cache
def _revisions(folder: Path) -> tuple[str, frozenset[str]]:
    """The newest revision in a folder of migrations, and all of them, as the files name them in their first lines."""
    files = [path.read_text(encoding="utf-8") for path in (folder / "versions").glob("*.py")]
    named = [dict(_REVISION.findall(file)) for file in files]
    follows = {names["revision"]: names["down_revision"] for names in named if names}
    (last,) = follows.keys() - follows.values()
    return last, frozenset(follows)


def _is_current(found: str | None, database: Database) -> bool:
    if found is not None and found not in _revisions(_FOLDER)[1]:
        raise SchemaTooNew(
            f"The database {database.shown} was upgraded by a newer Countersign (revision {found}),"
            " so this one must not touch it. Start the newer version, or restore the copy made"
            " before the upgrade."
        )
    return found == newest()


def _current(database: Database) -> str | None:
    """Look without a lock."""
    if not database.is_begun():
        return None
    if fault := database.log_of_another():
        raise fault
    engine = _engine(database)
    try:
        with named(database), engine.connect() as connection:
            return _revision(connection)
    except DatabaseUnreachable:
        if fault := database.unwritable():
            raise fault from None
        raise
    finally:
        engine.dispose()


def _revision(connection: Connection) -> str | None:
    """Where Alembic has noted that this database is; None where it has noted nothing."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(
        text("SELECT version_num FROM alembic_version")
    ).scalar_one_or_none()
    return found


def _migrate(database: Database, choose: Choose) -> str:
    with named(database):
        _bring_up(database, choose)
    return newest()


def _bring_up(database: Database, choose: Choose) -> None:
    database.create_file()
    if not _is_current(_current(database), database):
        engine = _engine(database, begin="BEGIN IMMEDIATE")
        with _locked(engine, database) as connection:
            found = _revision(connection)
            if not _is_current(found, database):
                _upgrade(connection, database, found, choose)
        engine.dispose()


def _upgrade(connection: Connection, database: Database, found: str | None, choose: Choose) -> None:
    if database.path is None:
        _require_nobody_else(connection, database)
        _run_scripts(connection, choose)
        return
    try:
        with file_lock(database.path):
            if found is not None:
                _copy(database.path, found)
            _run_scripts(connection, choose)
            mark_change(connection.exec_driver_sql)
    except DatabaseInUse:
        raise DatabaseInUse(
            f"Another Countersign process is using {database.path}, and the database has to be upgraded."
            " Stop it first."
        ) from None


def _require_nobody_else(connection: Connection, database: Database) -> None:
    """A process of an older version goes on writing rows of its time beneath this one. Raises `DatabaseInUse`."""
    found = connection.execute(_CONNECTED, {"names": connections_named("%")}).scalars().all()
    if found:
        raise DatabaseInUse(
            f"Other Countersign processes are using {database.shown} ({', '.join(found)}), and the database has to be"
            " upgraded. Stop them first."
        )


def _run_scripts(connection: Connection, choose: Choose) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_FOLDER))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    name = tables.meta.c.name
    if connection.execute(select(name).where(name == instance.INSTANCE)).first() is None:
        drawn = "".join(choose(_NAME_LETTERS) for _ in range(6))
        connection.execute(insert(tables.meta).values(name=instance.INSTANCE, value=drawn))


def _copy(path: Path, revision: str) -> None:
    """Keep the file as it is now beside itself: `<file>.before-upgrade-from-<revision>`. All of it, or none."""
    target = path.with_name(f"{path.name}.before-upgrade-from-{revision}")
    target.unlink(missing_ok=True)
    os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(target)) as copy:
            source.backup(copy)
    except BaseException:
        for end in ("", "-journal", "-wal", "-shm"):
            target.with_name(f"{target.name}{end}").unlink(missing_ok=True)
        raise


@contextmanager
def _locked(engine: Engine, database: Database) -> Iterator[Connection]:
    """A connection in a transaction that no other migration can be in at the same time."""
    with engine.connect() as connection:
        if database.path is not None:
            # SQLite cannot switch foreign keys inside a transaction; tables are rebuilt with them off.
            connection.connection.cursor().execute("PRAGMA foreign_keys=OFF")
        with connection.begin():
            if database.path is None:
                connection.execute(text(f"SET LOCAL lock_timeout = {_WAIT_MS}"))
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})"))
            yield connection


def _engine(database: Database, *, begin: str = "BEGIN") -> Engine:
    engine = create_engine(database.url, poolclass=NullPool)
    if database.path is not None:

        @event.listens_for(engine, "connect")
        def _connect(dbapi: sqlite3.Connection, _record: object) -> None:
            set_pragmas(dbapi, busy_ms=_WAIT_MS)

        @event.listens_for(engine, "begin")
        def _begin(connection: Connection) -> None:
            connection.exec_driver_sql(begin)

    return engine
