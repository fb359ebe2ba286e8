"""What becomes of files and commits that fail in the middle: copies, the log of changes, connections, the inbox."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from bot.domain.time import SystemClock
from storage import sqlite_log
from storage.cards import api_snapshots
from storage.database import Database, RollingBack, url_of
from storage.errors import SchemaBehind
from storage.events import Ingest, cursors, inbox
from storage.events import ingest as ingest_room
from storage.maintenance import copies, figures
from storage.maintenance.copies import CopyRefused, back_up, put_back
from storage.migrate import migrate, migrate_if_empty, require_current
from storage.migrations import carrier_schema
from storage.sqlite import connections
from storage.sqlite.open_file import OpenFile
from storage.store import Store
from tests.storage.restores import VAULT
from tests.storage.test_ingest import an_arrival
from tests.storage.test_restore_drill import a_database_and_its_backup
from tests.support.clock import FrozenClock
from tests.support.databases import Databases, damage

CLOCK = SystemClock()


async def test_no_file_is_no_backup_and_the_database_stays_as_it_is(tmp_path: Path) -> None:
    path, _ = await a_database_and_its_backup(tmp_path)
    before = path.read_bytes()
    with pytest.raises(CopyRefused, match="There is no backup at"):
        await put_back(url_of(path), tmp_path / "none.db", vault=VAULT, clock=CLOCK)
    assert path.read_bytes() == before


async def test_a_damaged_backup_is_not_put_in_place_nor_one_that_arrives_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, copy = await a_database_and_its_backup(tmp_path)
    before, whole = path.read_bytes(), copies._copy_file

    def spoiling(source: Path, target: Path) -> None:
        whole(source, target)
        damage(target, "request")

    with monkeypatch.context() as patched:
        patched.setattr(copies, "_copy_file", spoiling)
        with pytest.raises(CopyRefused, match="is damaged") as refused:
            await put_back(url_of(path), copy, vault=VAULT, clock=CLOCK)
        assert str(copy) in str(refused.value), "as people know it"
    damage(copy, "request")
    with pytest.raises(CopyRefused, match=f"{copy} is damaged"):
        await put_back(url_of(path), copy, vault=VAULT, clock=CLOCK)
    assert path.read_bytes() == before
    assert not [name for name in os.listdir(tmp_path) if ".part" in name]


async def test_a_log_that_somebody_changed_is_neither_backed_up_nor_put_in_place(tmp_path: Path) -> None:
    path, copy = await a_database_and_its_backup(tmp_path)
    for changed in (path, copy):
        with closing(sqlite3.connect(changed)) as file:
            file.execute("DROP TRIGGER audit_no_update")
            file.execute("UPDATE audit SET actor = 'X' WHERE seq = 1")
            file.commit()
    said = r"The audit chain in .* is broken at entry 1 \(hash\)"
    with pytest.raises(CopyRefused, match=said):
        await back_up(url_of(path), tmp_path / "new.db", vault=VAULT, clock=CLOCK)
    with pytest.raises(CopyRefused, match=said):
        await put_back(url_of(path), copy, vault=VAULT, clock=CLOCK)
    assert not (tmp_path / "new.db").exists()


async def test_an_empty_database_is_migrated_and_an_older_one_left_as_it_is(databases: Databases) -> None:
    url = databases.empty()
    with pytest.raises(SchemaBehind, match="is empty"):
        await require_current(url)
    await migrate_if_empty(url)
    await require_current(url)
    store = await Store.open(url, vault=VAULT, clock=CLOCK)
    async with store.begin() as tx:
        await tx.run(text("UPDATE alembic_version SET version_num = '0001'"))
    await store.close()
    await migrate_if_empty(url)
    with pytest.raises(SchemaBehind, match="has an older form"):
        await require_current(url)
    databases.drop(url)


class Package:
    """In place of procrastinate's: its whole schema, and the steps between its versions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "migrations").mkdir()
        (folder / "schema.sql").write_text("CREATE TABLE carried (step text)")

    def step(self, name: str) -> None:
        (self.folder / "migrations" / name).write_text(f"INSERT INTO carried VALUES ('{name}')")


@pytest.mark.parametrize("databases", ["postgresql"], indirect=True)
def test_the_carriers_tables_take_the_steps_that_are_missing_and_each_once(
    own_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Package(tmp_path)
    monkeypatch.setattr(carrier_schema, "_package", lambda: made.folder)
    made.step("01.00.sql")

    engine = create_engine(Database.parse(own_url).url, poolclass=NullPool)

    def bring_up() -> list[str]:
        with engine.begin() as connection:
            carrier_schema.bring_up(connection)
            return list(connection.execute(text("SELECT step FROM carried ORDER BY step")).scalars())

    with engine.begin() as connection:
        connection.execute(text("DELETE FROM meta WHERE name = 'carrier_schema'"))
    assert bring_up() == [], "the whole schema has the steps until then"
    made.step("02.00.sql")
    made.step("03.00.sql")
    assert bring_up() == ["02.00.sql", "03.00.sql"]
    assert bring_up() == ["02.00.sql", "03.00.sql"]


async def test_the_event_log_was_read_when_the_last_of_the_programs_was(
    sqlite_store: Store, clock: FrozenClock
) -> None:
    async def done_at() -> Any:
        async with sqlite_store.read() as tx:
            found = await figures(tx, programs=["a", "b"], job_prefix="job:", events="events")
        return found.done_at

    assert await done_at() == {}
    first = clock.now()
    for program in ("a", "b"):
        async with sqlite_store.begin() as tx:
            await cursors.put(tx, program, "events", "1")
            await api_snapshots.put(tx, program, "job:poll", 1)
        clock.advance(60)
    assert await done_at() == {"events": first, "poll": first}


async def test_a_connection_whose_transaction_cannot_be_ended_is_closed_and_not_used_again(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[Any] = []

    def fails(_: Any) -> None:
        """As where the disk is gone: the transaction stays open."""

    async def change(name: str) -> None:
        async with sqlite_store.begin() as tx:
            used.append(tx.connection)
            await api_snapshots.put(tx, "main", name, 1)
            if name == "lost":
                raise ValueError

    with monkeypatch.context() as patched:
        patched.setattr(connections.SqliteConnection, "rollback", fails)
        with pytest.raises(ValueError):
            await change("lost")
    await change("kept")
    assert used[0] is not used[1]
    async with sqlite_store.read() as tx:
        assert await api_snapshots.get(tx, "main", "lost") is None
        assert await api_snapshots.get(tx, "main", "kept") is not None


async def test_work_that_never_began_is_not_waited_for(sqlite_store: Store) -> None:
    """It was handed to a thread, and taken back before that had time for it."""
    done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    done.cancel()
    await connections._until_done(done)
    assert done.cancelled()


async def test_an_open_file_says_so_where_it_cannot_be_opened_or_is_replaced_just_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_database = tmp_path / "text.db"
    no_database.write_bytes(b"no database at all" * 100)
    with pytest.raises(OperationalError, match="not a database"):
        OpenFile(no_database)

    path = tmp_path / "bot.db"
    await migrate(url_of(path))
    file = OpenFile(path)
    assert file.changed_ns > 0
    opened, connect = [], sqlite3.connect

    def replaced_just_then(*given: Any, **named: Any) -> Any:
        path.rename(tmp_path / "moved.db")
        opened.append(connect(*given, **named))
        return opened[0]

    with monkeypatch.context() as patched:
        patched.setattr("storage.sqlite.open_file.sqlite3.connect", replaced_just_then)
        with pytest.raises(OperationalError, match="is not the one that is open"):
            file.connect(RollingBack)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")
    path.unlink(missing_ok=True)
    assert file.changed_ns == 0, "nobody knows"
    file.close()


@pytest.mark.parametrize("tables", [(), ("audit",), ("audit", "audit_head"), ("audit", "request")])
def test_what_is_no_database_of_ours_is_not_said_to_be_spoiled(
    tmp_path: Path, tables: tuple[str, ...]
) -> None:
    """As one of before the audit log: there is nothing to compare."""
    columns = {"audit": "seq, subject, outcome, body", "audit_head": "seq", "request": "id, state"}
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as made:
        for name in tables:
            made.execute(f"CREATE TABLE {name} ({columns[name]})")
        made.commit()
    assert not sqlite_log._is_spoiled(path)
    if "audit" in tables:
        with closing(sqlite3.connect(path)) as made:
            made.execute("INSERT INTO audit (seq) VALUES (2)")
            made.commit()
        assert sqlite_log._is_spoiled(path) == ("audit_head" in tables), "an entry is missing"


class Failing:
    """In place of the writer of the inbox: it waits, and fails."""

    async def write(self, _: object) -> list[bool]:
        await asyncio.sleep(0.02)
        raise OSError("no")

    async def close(self) -> None:
        """There is nothing to close."""


async def test_a_commit_that_fails_is_an_error_for_those_who_are_still_there(
    sqlite_store: Store, clock: FrozenClock
) -> None:
    ingest = Ingest(sqlite_store, Failing(), clock, most=10)
    leaving, staying = (asyncio.create_task(ingest.put(an_arrival(name))) for name in ("left", "stayed"))
    await asyncio.sleep(0.01)
    leaving.cancel()
    with pytest.raises(OSError, match="no"):
        await staying
    with suppress(asyncio.CancelledError):
        await leaving
    await ingest.close()


async def test_where_sqlite_has_taken_the_batch_back_by_itself_the_cause_is_what_is_raised(
    sqlite_store: Store, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a full disk: there is no transaction any more that could be rolled back."""
    ingest = await Ingest.open(sqlite_store, clock)

    def taken_back(run: Any) -> None:
        run("ROLLBACK")
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(ingest_room, "mark_change", taken_back)
        with pytest.raises(sqlite3.OperationalError, match="full"):
            await ingest.put(an_arrival("lost"))
    assert await ingest.put(an_arrival("kept"))
    async with sqlite_store.read() as tx:
        assert [event.event_id for event in await inbox.waiting(tx)] == ["kept"]
    await ingest.close()
