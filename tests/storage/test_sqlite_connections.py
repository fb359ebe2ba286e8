"""SQLite in the event loop: others go on meanwhile, the disk is waited for elsewhere, and nothing stays open."""

import asyncio
import logging
import sqlite3
import threading
import time
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from storage.cards import api_snapshots
from storage.sqlite import connections as sqlite_connections
from storage.store import Store

MANY = text("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i FROM n")


def connection_of(tx: Any) -> Any:
    return tx.connection


def dbapi_of(tx: Any) -> Any:
    return connection_of(tx)._dbapi


async def test_a_long_transaction_lets_others_go_on_between_its_statements(sqlite_store: Store) -> None:
    longest_s, is_over = 0.0, False

    async def others() -> None:
        nonlocal longest_s
        while not is_over:
            seen_s = time.monotonic()
            await asyncio.sleep(0)
            longest_s = max(longest_s, time.monotonic() - seen_s)

    waiting = asyncio.create_task(others())
    await asyncio.sleep(0)
    began_s = time.monotonic()
    async with sqlite_store.read() as tx:
        for _ in range(1000):
            await tx.run(MANY)
    took_s = time.monotonic() - began_s
    is_over = True
    await waiting

    assert longest_s < took_s / 5, f"held up for {longest_s:.3f} s of {took_s:.3f} s"


async def test_a_commit_waits_for_the_disk_outside_the_loop_and_nothing_else_does(
    sqlite_store: Store,
) -> None:
    said: list[tuple[str, bool]] = []

    def trace(statement: str) -> None:
        said.append((statement.split(maxsplit=1)[0], threading.current_thread() is threading.main_thread()))

    async with sqlite_store.begin() as tx:
        dbapi_of(tx).set_trace_callback(trace)
        await api_snapshots.put(tx, "main", "float", "whole")
    async with sqlite_store.begin() as tx:
        await tx.run(MANY)

    # The second wrote nothing, so its COMMIT is not waited for.
    of = [(word, in_loop) for word, in_loop in said if word in ("INSERT", "BEGIN", "COMMIT")]
    assert of == [("INSERT", True), ("COMMIT", False), ("BEGIN", True), ("COMMIT", True)]


async def test_the_loop_goes_on_while_somebody_else_has_the_write_lock(sqlite_store: Store) -> None:
    other = sqlite3.connect(str(sqlite_store.database.path), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    turns = 0

    async def change() -> None:
        async with sqlite_store.begin() as tx:
            await api_snapshots.put(tx, "main", "float", "whole")

    changing = asyncio.create_task(change())
    for _ in range(20):
        await asyncio.sleep(0.005)
        turns += 1
    assert not changing.done()
    other.execute("COMMIT")

    async with asyncio.timeout(1):
        await changing
    assert turns == 20
    other.close()


async def test_a_wait_for_the_write_lock_ends_with_an_error_and_the_next_is_free_again(
    sqlite_store: Store,
) -> None:
    async with sqlite_store.begin() as tx:
        connection_of(tx)._busy_ms = 50  # the one connection that writes
    other = sqlite3.connect(str(sqlite_store.database.path), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(OperationalError, match="locked"):
        async with sqlite_store.begin():
            pass
    other.close()

    async with sqlite_store.begin() as tx:
        await api_snapshots.put(tx, "main", "float", "whole")


async def test_rows_that_nobody_read_hold_nothing_open(sqlite_store: Store) -> None:
    async with sqlite_store.begin() as tx:
        await api_snapshots.put(tx, "main", "float", "before")
        await api_snapshots.put(tx, "main", "other", "before")
    kept = []
    for _ in range(3):
        async with sqlite_store.read() as tx:
            kept.append(await tx.run(text("SELECT * FROM reading")))
    async with sqlite_store.begin() as tx:
        await api_snapshots.put(tx, "main", "float", "after")

    assert await sqlite_store.checkpoint()
    assert len(kept[0].all()) == 2


async def test_rows_come_one_by_one_in_parts_or_all_at_once_as_they_are_asked_for(
    sqlite_store: Store,
) -> None:
    async with sqlite_store.read() as tx:
        result = await tx.run(MANY)
        one, some, rest = result.fetchone(), result.fetchmany(3), result.fetchall()

        assert one == (1,)
        assert [row[0] for row in some] == [2, 3, 4]
        assert len(rest) == 496
        assert (await tx.run(MANY)).scalars().first() == 1


async def test_a_commit_that_fails_is_undone_and_the_connection_is_used_again(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(_connection: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    used: list[Any] = []

    async def change() -> None:
        async with sqlite_store.begin() as tx:
            used.append(dbapi_of(tx))
            await api_snapshots.put(tx, "main", "float", "lost")

    with monkeypatch.context() as patched:
        patched.setattr(sqlite_connections.SqliteConnection, "commit", fails)
        with pytest.raises(sqlite3.OperationalError, match="full"):
            await change()

    async with sqlite_store.begin() as tx:
        assert await api_snapshots.get(tx, "main", "float") is None
        assert dbapi_of(tx) is used[0]


async def test_a_statement_that_holds_everybody_up_is_logged(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sqlite_connections, "SLOW_S", 0.0)
    caplog.set_level(logging.WARNING, "countersign.storage")

    async with sqlite_store.read() as tx:
        await tx.run(MANY, {})

    assert [record.message for record in caplog.records] == ["storage.slow"]


async def test_what_was_handed_to_a_thread_ends_before_anybody_else_has_its_connection(
    sqlite_store: Store,
) -> None:
    ended: list[str] = []

    def fold(_connection: Any) -> None:
        time.sleep(0.2)
        ended.append("the first")

    async def first() -> None:
        async with sqlite_store._writer.connect() as connection:
            await connection.run_sync(fold)

    async def second() -> None:
        async with sqlite_store._writer.connect():
            ended.append("the second")

    one = asyncio.create_task(first())
    await asyncio.sleep(0.05)
    one.cancel()
    await asyncio.gather(one, second(), return_exceptions=True)

    assert one.cancelled()
    assert ended == ["the first", "the second"]
