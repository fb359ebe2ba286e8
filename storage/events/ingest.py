"""Takes events into the inbox, many in one commit: each is on disk before `put` returns.

A commit per event could never pass one event per flush of the disk. Here whoever comes while a commit is
in flight waits for the next one, and that one takes all of them. On SQLite the rows are written by a
thread of their own through a bare connection, in turn with the transactions of `Store.begin`; on
PostgreSQL by one statement. A batch that fails fails everybody in it, and the card provider delivers again.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Protocol

from sqlalchemy import text

from bot.domain.time import Clock
from storage.columns import time_text
from storage.database import set_pragmas
from storage.sealed_columns import INBOX_PAYLOAD
from storage.sqlite_log import mark_change
from storage.store import Store

MOST_IN_A_BATCH = 512


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event to be stored. `payload` is free of one-time codes; `source` is webhook or poll."""

    event_id: str
    program: str
    type: str
    created_at: datetime
    source: str
    payload: bytes


@dataclass(frozen=True, slots=True)
class Row:
    """An arrival as it is written: sealed, with the time it came."""

    arrival: Arrival
    sealed: str
    received_at: datetime


class Writer(Protocol):
    async def write(self, rows: Sequence[Row]) -> list[bool]:
        """Commit all rows or raise; for each, whether its event was new."""
        ...

    async def close(self) -> None: ...


class Ingest:
    """The way into the inbox. Make one with `Ingest.open`, close it before the store."""

    def __init__(self, store: Store, writer: Writer, clock: Clock, *, most: int) -> None:
        self._store = store
        self._writer = writer
        self._clock = clock
        self._most = most
        self._waiting: list[tuple[Row, asyncio.Future[bool]]] = []
        self._draining: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, store: Store, clock: Clock, *, most: int = MOST_IN_A_BATCH) -> Ingest:
        """`most` is how many events may share a commit; 1 makes a commit for each."""
        path = store.database.path
        writer: Writer = PostgresWriter(store) if path is None else await SqliteWriter.open(path)
        return cls(store, writer, clock, most=most)

    async def put(self, arrival: Arrival) -> bool:
        """Store an event; False when it is known. Durable on return; raises what the database raised."""
        sealed = self._store.vault.seal(arrival.payload, INBOX_PAYLOAD.ref(arrival.event_id))
        stored: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((Row(arrival, sealed, self._clock.now()), stored))
        if self._draining is None:
            self._draining = asyncio.create_task(self._drain(), name="ingest")
        return await stored

    async def _drain(self) -> None:
        """Commit what waits, and what comes meanwhile, until nothing waits."""
        try:
            while self._waiting:
                async with self._store.write_turn:
                    batch = self._waiting[: self._most]
                    del self._waiting[: self._most]
                    await self._commit(batch)
        finally:
            self._draining = None

    async def _commit(self, batch: Sequence[tuple[Row, asyncio.Future[bool]]]) -> None:
        """Those who waited may have gone meanwhile; their events are stored all the same."""
        try:
            self._store.require_its_file()
            found = await self._writer.write([row for row, _ in batch])
        except Exception as error:  # noqa: BLE001 - whatever broke it is for everybody in the batch to handle
            for _, stored in batch:
                if not stored.done():
                    stored.set_exception(error)
            return
        for (_, stored), is_new in zip(batch, found, strict=True):
            if not stored.done():
                stored.set_result(is_new)

    async def close(self) -> None:
        """Let what waits be stored, then give the connection back."""
        if self._draining is not None:
            await asyncio.wait({self._draining})
        await self._writer.close()


class SqliteWriter:
    """A bare connection in a thread of its own: an ORM would cost more than the insert.

    A batch is one statement, as the thread gives up the interpreter at each and has to get it back.
    """

    def __init__(self, connection: sqlite3.Connection, thread: ThreadPoolExecutor) -> None:
        self._connection = connection
        self._thread = thread

    @classmethod
    async def open(cls, path: Path) -> SqliteWriter:
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ingest")
        return cls(await asyncio.get_running_loop().run_in_executor(thread, _connect, path), thread)

    async def write(self, rows: Sequence[Row]) -> list[bool]:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._write, rows)

    def _write(self, rows: Sequence[Row]) -> list[bool]:
        run = self._connection.execute
        run("BEGIN IMMEDIATE")
        try:
            written = run(_insert(len(rows)), [value for row in rows for value in _values(row)]).rowcount
            found = [True] * len(rows) if written == len(rows) else [self._is_ours(row) for row in rows]
            mark_change(run)
            run("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                run("ROLLBACK")
            raise
        return found

    def _is_ours(self, row: Row) -> bool:
        """Is what is stored of this event this row? No two sealed texts are alike."""
        asked = "SELECT sealed_payload FROM inbox WHERE event_id = ?"
        kept: tuple[str] = self._connection.execute(asked, (row.arrival.event_id,)).fetchone()
        return kept[0] == row.sealed

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._connection.close)
        self._thread.shutdown()


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    set_pragmas(connection)
    # Folding the log into the file takes several flushes, and whoever delivers would wait for them: the
    # commits of those who work on the inbox do it.
    connection.execute("PRAGMA wal_autocheckpoint=0")
    return connection


_INTO = (
    "INSERT INTO inbox (event_id, program, type, created_at, received_at, source, sealed_payload, state,"
    " attempts) VALUES "
)
_ROW = "(?, ?, ?, ?, ?, ?, ?, 'received', 0)"
_ONCE = " ON CONFLICT (event_id) DO NOTHING"


@cache
def _insert(rows: int) -> str:
    return _INTO + ", ".join([_ROW] * rows) + _ONCE


def _values(row: Row) -> tuple[str, ...]:
    arrived = row.arrival
    times = (time_text(arrived.created_at), time_text(row.received_at))
    return (arrived.event_id, arrived.program, arrived.type, *times, arrived.source, row.sealed)


class PostgresWriter:
    """One statement for all rows, whatever their number."""

    _INSERT = text(
        "INSERT INTO inbox (event_id, program, type, created_at, received_at, source, sealed_payload, state,"
        " attempts) SELECT *, 'received', 0 FROM unnest(CAST(:ids AS text[]), CAST(:programs AS text[]),"
        " CAST(:types AS text[]), CAST(:created AS timestamptz[]), CAST(:received AS timestamptz[]),"
        " CAST(:sources AS text[]), CAST(:sealed AS text[]))"
        " ON CONFLICT (event_id) DO NOTHING RETURNING event_id"
    )

    def __init__(self, store: Store) -> None:
        self._store = store

    async def write(self, rows: Sequence[Row]) -> list[bool]:
        arrived = [row.arrival for row in rows]
        values = {
            "ids": [one.event_id for one in arrived],
            "programs": [one.program for one in arrived],
            "types": [one.type for one in arrived],
            "created": [one.created_at for one in arrived],
            "received": [row.received_at for row in rows],
            "sources": [one.source for one in arrived],
            "sealed": [str(row.sealed) for row in rows],
        }
        async with self._store.begin() as tx:
            fresh = set((await tx.run(self._INSERT, values)).scalars())
        # Of two rows with one id in a batch only the first is new, as on SQLite.
        found = []
        for one in arrived:
            found.append(one.event_id in fresh)
            fresh.discard(one.event_id)
        return found

    async def close(self) -> None:
        """Nothing of its own: the connections are the store's."""
