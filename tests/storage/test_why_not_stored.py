"""Which error of a database means what: that it is out of use, damaged, or full, and what to do, in words."""

from __future__ import annotations

import os
import sqlite3
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoFreeConnection

from storage import faults
from storage.database import Database
from storage.faults import in_words
from storage.maintenance import write_probe
from storage.protection import unreadable_rows
from storage.store import Store
from storage.tables import metadata
from storage.upsert import insert_all_new, upsert


def of_sqlite(code: int | None, kind: type[DBAPIError] = OperationalError) -> DBAPIError:
    original = sqlite3.OperationalError("no")
    if code is not None:
        original.sqlite_errorcode = code
    return kind("SELECT 1", {}, original)


def of_postgresql(state: str | None, kind: type[DBAPIError] = DBAPIError) -> DBAPIError:
    original = Exception("no")
    cast(Any, original).sqlstate = state
    return kind("SELECT 1", {}, original)


OUT_OF_USE: dict[str, tuple[BaseException, bool]] = {
    "no free connection": (NoFreeConnection("none"), True),
    "locked": (of_sqlite(sqlite3.SQLITE_BUSY), True),
    "full": (of_sqlite(sqlite3.SQLITE_FULL), True),
    "a kind of read error": (of_sqlite(sqlite3.SQLITE_IOERR | 3 << 8), True),
    "an error without a code": (of_sqlite(None), True),
    "a constraint": (of_sqlite(sqlite3.SQLITE_CONSTRAINT, IntegrityError), False),
    "a statement that is wrong": (of_sqlite(sqlite3.SQLITE_ERROR), False),
    "the server is gone": (of_postgresql(None, OperationalError), True),
    "the connection is closed": (of_postgresql(None, InterfaceError), True),
    "read-only": (of_postgresql("25006"), True),
    "a unique rule": (of_postgresql("23505", IntegrityError), False),
    "a fault of ours": (KeyError("x"), False),
}


@pytest.mark.parametrize(("error", "is_so"), OUT_OF_USE.values(), ids=OUT_OF_USE)
def test_a_database_is_out_of_use_by_errors_of_its_own_and_by_none_of_ours(
    error: BaseException, *, is_so: bool
) -> None:
    assert faults.is_out_of_use(error) is is_so


@pytest.mark.parametrize(
    ("error", "is_so"),
    [
        (of_sqlite(sqlite3.SQLITE_CORRUPT), True),
        (of_sqlite(sqlite3.SQLITE_CORRUPT | 2 << 8), True),
        (of_sqlite(sqlite3.SQLITE_NOTADB), True),
        (of_sqlite(sqlite3.SQLITE_FULL), False),
        (of_postgresql("XX001"), False),
        (KeyError("x"), False),
    ],
)
def test_only_what_sqlite_calls_damaged_is_damage(error: BaseException, *, is_so: bool) -> None:
    assert faults.is_damage(error) is is_so


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (of_sqlite(sqlite3.SQLITE_BUSY), "holds the write lock"),
        (of_sqlite(sqlite3.SQLITE_READONLY), "can only be read"),
        (of_sqlite(sqlite3.SQLITE_READONLY_DBMOVED), "was replaced"),
        (of_sqlite(sqlite3.SQLITE_READONLY | 1 << 8), "can only be read"),
        (of_sqlite(sqlite3.SQLITE_ERROR), "reports errors"),
        (of_sqlite(None), "reports errors"),
        (of_postgresql("53100"), "is full"),
        (of_postgresql("08006"), "does not answer"),
        (of_postgresql("57P01"), "does not answer"),
        (of_postgresql("57P03"), "starting up"),
        (of_postgresql(None), "does not answer"),
        (of_postgresql("42P01"), "SQLSTATE 42P01"),
    ],
)
def test_what_is_in_the_way_is_said_by_its_code_and_never_in_words_of_the_database(
    error: DBAPIError, says: str
) -> None:
    is_of_sqlite = isinstance(error.orig, sqlite3.Error)
    database = Database.parse(
        "sqlite:///gone/state.db" if is_of_sqlite else "postgresql://db.example.com/state"
    )
    said = faults.explained(error, database)
    assert says in said
    assert "SELECT" not in said


def a_store(database: Database, probe: Any = None) -> Any:
    async def nothing(*, leaves_nothing: bool) -> None:
        return None

    return SimpleNamespace(database=database, probe=probe or nothing, misplaced=lambda: None)


def raising(error: BaseException) -> Any:
    async def probe(*, leaves_nothing: bool) -> None:
        raise error

    return probe


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (TimeoutError(), "takes longer than two seconds"),
        (NoFreeConnection("none"), "takes longer than two seconds"),
        (of_sqlite(sqlite3.SQLITE_FULL), "is full"),
        (ConnectionRefusedError("no"), "does not answer"),
    ],
)
async def test_a_row_that_cannot_be_stored_is_explained(error: BaseException, says: str) -> None:
    server = Database.parse("postgresql://db.example.com/state")
    assert says in await write_probe.why_not_written(a_store(server, raising(error)))
    assert await write_probe.why_not_written(a_store(server)) == ""


def test_a_disk_with_little_room_is_said_and_a_folder_that_is_gone_as_well(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Database.parse(f"sqlite:///{tmp_path / 'state.db'}")
    gone = Database.parse(f"sqlite:///{tmp_path / 'gone' / 'state.db'}")
    assert faults.lacks_room(file) == ""
    assert "cannot be opened" in faults.lacks_room(gone)
    for free, is_low in (
        (in_words.LOW_ON_SPACE_BYTES, False),
        (in_words.LOW_ON_SPACE_BYTES - 1024, True),
    ):
        found = SimpleNamespace(f_bavail=free // 1024, f_frsize=1024)
        monkeypatch.setattr(os, "statvfs", lambda _, found=found: found)
        assert ("is full" in faults.lacks_room(file)) is is_low


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ('FATAL: password authentication failed for user "me"', "Set PGPASSWORD"),
        ('FATAL: database "state" does not exist', "createdb"),
        ("connection refused", "does not answer"),
    ],
)
def test_why_a_server_lets_nobody_in_is_said_with_what_to_do(said: str, says: str) -> None:
    error = OperationalError("SELECT 1", {}, Exception(said))
    assert says in faults.explained(error, Database.parse("postgresql://me@db.example.com/state"))


async def test_what_the_database_runs_on_is_named_and_sqlite_is_never_too_old(sqlite_store: Store) -> None:
    assert await sqlite_store.server() == f"SQLite {sqlite3.sqlite_version}"
    assert await sqlite_store.too_old() == ""


async def test_where_there_are_no_rows_nothing_is_asked_of_the_database() -> None:
    class Untouched:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"asked for {name}")

    table = metadata.tables["card"]
    await upsert(cast(Any, Untouched()), table, [], key=["id"])
    await insert_all_new(cast(Any, Untouched()), table, [])


async def test_only_a_failure_that_may_be_of_an_unreadable_row_is_looked_into(sqlite_store: Store) -> None:
    sqlite_store.suspect(OSError("x"))
    assert sqlite_store._suspected == set()
    sqlite_store.suspect(of_sqlite(sqlite3.SQLITE_BUSY))
    assert sqlite_store._suspected == set()
    sqlite_store.suspect(ValueError("no number"))
    assert (sqlite_store._suspected == set(unreadable_rows.LOOKED_THROUGH)) is (
        unreadable_rows.may_be_unreadable(ValueError("no number"))
    )


async def test_each_transaction_is_observed_with_how_long_it_took(sqlite_store: Store) -> None:
    seen: list[tuple[str, float]] = []
    sqlite_store.observe = lambda what, seconds: seen.append((what, seconds))
    async with sqlite_store.begin():
        pass
    async with sqlite_store.read():
        pass
    assert len({what for what, _ in seen}) == 2
    assert all(seconds >= 0 for _, seconds in seen)
