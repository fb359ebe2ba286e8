"""Whether the database can be written is tried, and what is in the way is said with its fix."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url, text
from sqlalchemy.exc import OperationalError, ProgrammingError

from bot.domain.time import SystemClock
from storage import audit
from storage import store as store_module
from storage.database import Database, url_of
from storage.errors import DatabaseUnreachable
from storage.faults import explained
from storage.maintenance import back_up, why_not_written
from storage.migrate import migrate
from storage.store import Store
from tests.storage.conftest import Opener
from tests.storage.restores import VAULT
from tests.support.databases import Databases, PostgresDatabases, SqliteFiles, content_of, migrated_file
from tests.support.disks import a_small_disk, fill, immutable, mount, unmount
from tests.support.own_postgres import Server, installed


async def test_nothing_is_said_of_a_database_that_can_be_written(store: Store) -> None:
    assert await why_not_written(store) == ""
    assert await why_not_written(store) == "", "the same row is written again"


def everything_in(url: str) -> object:
    path = Database.parse(url).path
    if path is None:
        return content_of(url)
    with closing(sqlite3.connect(path)) as file:
        return list(file.iterdump())


async def test_what_was_stored_to_see_that_it_can_be_is_taken_back_where_nothing_may_change(
    databases: Databases, open_store: Opener
) -> None:
    url = databases.migrated()
    store = await open_store(url, exclusive=False)
    before = everything_in(url)
    assert await why_not_written(store, leaves_nothing=True) == ""
    assert everything_in(url) == before
    assert await why_not_written(store) == ""
    assert everything_in(url) != before
    await store.close()
    databases.drop(url)


async def test_a_file_that_may_not_be_written_is_not_called_a_disk_that_reports_errors(
    tmp_path: Path, open_store: Opener
) -> None:
    """SQLite calls it that where somebody made it immutable while it was open."""
    path = tmp_path / "bot.db"
    await migrated_file(path)
    store = await open_store(url_of(path))
    assert await why_not_written(store) == ""
    with immutable(path, path.with_name(f"{path.name}-wal")):
        said = await why_not_written(store)
    assert "cannot be written, though the disk is well" in said
    assert "lsattr" in said
    assert await why_not_written(store) == ""


async def test_a_file_that_could_only_be_read_when_it_was_first_tried_is_written_as_soon_as_it_can_be(
    tmp_path: Path, open_store: Opener
) -> None:
    """SQLite goes on to read alone what it opened while it could only be read."""
    path = tmp_path / "bot.db"
    await migrated_file(path)
    store = await open_store(url_of(path))
    with immutable(path, path.with_name(f"{path.name}-wal")):
        assert await why_not_written(store)
    assert await why_not_written(store) == ""


async def test_a_lock_that_another_process_holds_is_named_on_sqlite(
    sqlite_store: Store, sqlite_files: SqliteFiles
) -> None:
    path = sqlite_store.database.path
    assert path is not None
    other = sqlite3.connect(path)
    other.execute("BEGIN IMMEDIATE")
    try:
        said = await why_not_written(sqlite_store)
    finally:
        other.rollback()

    assert "holds the write lock" in said
    assert f"fuser -v {path}" in said
    assert await why_not_written(sqlite_store) == "", "it is over with the lock"


@pytest.mark.parametrize(
    ("locked", "said"),
    [
        ("SELECT * FROM audit_head FOR UPDATE", "holds a lock"),
        ("LOCK TABLE meta IN ACCESS EXCLUSIVE MODE", "holds a lock"),
    ],
)
async def test_a_lock_that_another_connection_holds_is_named_on_postgresql(
    postgres_databases: PostgresDatabases, open_store: Opener, locked: str, said: str
) -> None:
    url = postgres_databases.migrated()
    store = await open_store(url)
    with psycopg.connect(url) as other:
        other.execute(locked.encode())
        found = await why_not_written(store)
        other.rollback()

    assert said in found
    assert "pg_stat_activity" in found
    assert await why_not_written(store) == ""
    await store.close()
    postgres_databases.drop(url)


async def test_a_lock_is_named_while_everything_that_is_stored_waits_for_it(
    postgres_databases: PostgresDatabases, open_store: Opener
) -> None:
    """All connections with which this process writes are taken then."""
    url = postgres_databases.migrated()
    store = await open_store(url)

    async def write() -> None:
        async with store.begin() as tx:
            await audit.append(tx, actor="test", action="test", subject="test")

    with psycopg.connect(url) as other:
        other.execute("SELECT * FROM audit_head FOR UPDATE")
        writers = [asyncio.create_task(write()) for _ in range(30)]
        await asyncio.sleep(0.5)
        said = await why_not_written(store)
        other.rollback()
    await asyncio.gather(*writers)

    assert "Something else holds a lock" in said
    await store.close()
    postgres_databases.drop(url)


async def test_a_standby_that_is_read_only_is_named(
    postgres_databases: PostgresDatabases, open_store: Opener
) -> None:
    url = postgres_databases.migrated()
    name = make_url(url).database
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on'.encode())

    reading = await open_store(url, exclusive=False)

    assert "read-only now" in await why_not_written(reading)
    await reading.close()
    postgres_databases.drop(url)


async def test_a_database_that_was_dropped_is_named(
    postgres_databases: PostgresDatabases, open_store: Opener
) -> None:
    url = postgres_databases.migrated()
    store = await open_store(url)
    postgres_databases.drop(url)

    said = await why_not_written(store)

    assert "has no database for postgresql://" in said


async def test_a_full_disk_is_named_and_over_once_there_is_room(
    small_disk: Path, sqlite_files: SqliteFiles, open_store: Opener
) -> None:
    url = f"sqlite:///{small_disk / 'bot.db'}"
    await migrate(url)
    store = await open_store(url)
    assert await why_not_written(store) == ""

    filler = small_disk / "filler"
    fill(filler)

    said = await why_not_written(store)
    assert "is full" in said
    assert str(small_disk / "bot.db") in said
    async with store.read() as tx:
        assert (await tx.run(text("SELECT 1"))).scalar_one() == 1, "to read says nothing of it"

    filler.unlink()
    assert await why_not_written(store) == ""


async def test_a_full_disk_of_postgresql_is_named_though_small_changes_still_fit(
    open_store: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages that are there already take a changed row. What has to be new, an event or a request, does not fit."""
    monkeypatch.setattr(store_module, "_ROOM_LASTS_S", 0)
    with a_small_disk(200) as disk:
        server = Server(disk / "data")
        server.start()
        try:
            await migrate(server.url)
            store = await open_store(server.url)
            assert await why_not_written(store) == ""

            filler = disk / "filler"
            fill(filler)

            async with store.begin() as tx:
                await tx.run(text("UPDATE meta SET value = value"))
            assert "is full. Free some space on the database server" in await why_not_written(store)

            filler.unlink()
            assert await why_not_written(store) == ""
            assert await why_not_written(store) == "", "what was tried is gone"
            await store.close()
        finally:
            server.stop()


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("programs", [None, *installed()], ids=lambda at: at.parent.name if at else "wheel")
async def test_every_version_of_postgresql_that_is_here_is_ready_and_takes_a_copy(
    tmp_path: Path, open_store: Opener, programs: Path | None
) -> None:
    """What only the newest version knows shows nowhere else."""
    with TemporaryDirectory(prefix="pg", dir="/tmp") as folder:  # which its own user may enter
        server = Server(Path(folder) / "data", programs)
        server.start()
        try:
            await migrate(server.url)
            store = await open_store(server.url)
            assert await why_not_written(store) == ""
            assert await store.too_old() == ""
            assert (await store.server()).startswith("PostgreSQL 1")
            async with store.begin() as tx:
                await audit.append(tx, actor="test", action="test", subject="test")
            await store.close()
            copied = await back_up(server.url, tmp_path / "copy.db", vault=VAULT, clock=SystemClock())
            assert copied.audit_entries >= 1
        finally:
            server.stop()


def test_an_error_that_nobody_knows_is_not_called_a_server_that_does_not_answer() -> None:
    """By its SQLSTATE: whether the server is away is known of few of them alone."""
    database = Database.parse("postgresql://db/x")
    for state in ("42601", "42P01", "23505", "22001", "0A000", "XX000"):
        error = ProgrammingError("INSERT", {}, psycopg.errors.lookup(state)())
        said = explained(error, database)
        assert "does not answer" not in said
        assert state in said
    for state in ("08006", "57P01"):
        away = OperationalError("INSERT", {}, psycopg.errors.lookup(state)())
        assert "does not answer" in explained(away, database)


async def test_a_server_that_is_too_old_is_named_with_what_to_do(
    postgres_databases: PostgresDatabases, open_store: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres_databases.migrated()
    store = await open_store(url)
    assert await store.too_old() == ""
    monkeypatch.setattr(store_module, "OLDEST_POSTGRES", 99)
    assert "Upgrade the server" in await store.too_old()
    await store.close()
    postgres_databases.drop(url)


async def test_a_disk_that_became_read_only_is_named(small_disk: Path, open_store: Opener) -> None:
    url = f"sqlite:///{small_disk / 'bot.db'}"
    await migrate(url)
    store = await open_store(url)
    # A mount over it: the system refuses to switch the one that has open files.
    mount("--bind", str(small_disk), str(small_disk))
    mount("-o", "remount,ro,bind", str(small_disk))

    said = await why_not_written(store)
    unmount(small_disk)

    assert "can only be read" in said
    assert "read-only" in said


@pytest.mark.parametrize("is_made", [True, False])
async def test_a_start_on_a_read_only_file_system_says_so(
    small_disk: Path, open_store: Opener, is_made: bool
) -> None:
    """Not that the file is no database, which it is."""
    url = f"sqlite:///{small_disk / 'bot.db'}"
    if is_made:
        await migrate(url)
    mount("-o", "remount,ro", str(small_disk))

    starts: list[Callable[[str], Awaitable[Any]]] = [migrate, open_store] if is_made else [migrate]
    for start in starts:
        with pytest.raises(DatabaseUnreachable) as refused:
            await start(url)
        said = str(refused.value)
        assert "read-only file system" in said
        assert "Mount it so that it can be written" in said
        assert "is not one" not in said
