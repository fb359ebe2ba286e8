"""Connections to an SQLite file: statements run in the event loop, what waits for the disk in a thread.

Most of our statements take SQLite some ten microseconds, a way to a thread and back takes two hundred. So only COMMIT,
which waits for the disk, and what is handed over whole (`run_sync`) go there. A task that has held the loop for
`TURN_S` with its statements lets the others go on before the next.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from itertools import chain, repeat
from typing import Any, TypeVar

from sqlalchemy import Connection, CursorResult, Dialect, Engine, Executable, create_engine, event
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from storage import sqlite_log
from storage.database import BUSY_MS, RollingBack, set_pragmas
from storage.sqlite.open_file import OpenFile

log = logging.getLogger("countersign.storage")

T = TypeVar("T")

TURN_S = 0.005
# Longer than this in one statement, and everybody feels it: it is logged.
SLOW_S = 0.25
# Pauses between asking for the write lock, as SQLite's own busy handler makes them; the last again and again.
_PAUSES_S = (0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.025, 0.025, 0.025, 0.05, 0.05, 0.1)
# A reader hardly ever meets a lock: while another process recovers the log, or folds it for the last time.
_READER_BUSY_MS = 500


class Prefetched(sqlite3.Cursor):
    """Has read all its rows when its statement has run, so that none stays open behind a result nobody reads."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self._rows: deque[Any] = deque()

    def execute(self, sql: str, parameters: Any = ()) -> Prefetched:
        super().execute(sql, parameters)
        self._rows = deque(super().fetchall())
        return self

    def fetchone(self) -> Any:
        return self._rows.popleft() if self._rows else None

    def fetchmany(self, size: int | None = None) -> list[Any]:
        most = self.arraysize if size is None else size
        return [self._rows.popleft() for _ in range(min(most, len(self._rows)))]

    def fetchall(self) -> list[Any]:
        rows, self._rows = list(self._rows), deque()
        return rows


class _Dbapi(RollingBack):
    """A connection of sqlite3, as we use it."""

    def cursor(self, factory: Any = Prefetched) -> Any:
        return super().cursor(factory)


class SqliteEngine:
    """Up to so many connections to one file. It offers what `storage` uses of SQLAlchemy's AsyncEngine."""

    def __init__(self, file: OpenFile, *, writes: bool, connections: int, busy_ms: int = BUSY_MS) -> None:
        self._writes = writes
        self._busy_ms = busy_ms
        self.sync_engine = _engine(file, writes=writes)
        self._free = asyncio.Semaphore(connections)
        self._idle: list[SqliteConnection] = []
        self._threads = ThreadPoolExecutor(connections, thread_name_prefix="sqlite")

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[SqliteConnection]:
        """A connection outside a transaction."""
        async with self._free:
            connection = (
                self._idle.pop()
                if self._idle
                else SqliteConnection(
                    self.sync_engine, self._threads, writes=self._writes, busy_ms=self._busy_ms
                )
            )
            try:
                yield connection
            finally:
                if connection.is_usable:
                    self._idle.append(connection)
                else:
                    connection.close()

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[SqliteConnection]:
        """A transaction: committed at the end of the block, rolled back when it raises."""
        async with self.connect() as connection:
            try:
                await connection.begin()
                yield connection
                await connection.commit()
            except OperationalError as error:
                # SQLite may have opened a file that could only be read then, and stays at that. One that is gone from
                # its path is read on.
                connection.only_reads = (
                    _kind(error) == sqlite3.SQLITE_READONLY
                    and _code(error) != sqlite3.SQLITE_READONLY_DBMOVED
                )
                raise
            finally:
                connection.rollback()

    async def dispose(self) -> None:
        """Close what is not in use."""
        while self._idle:
            self._idle.pop().close()
        self._threads.shutdown(wait=False)


class SqliteConnection:
    """One connection. It offers what `storage` uses of SQLAlchemy's AsyncConnection."""

    def __init__(
        self, engine: Engine, threads: ThreadPoolExecutor, *, writes: bool, busy_ms: int = BUSY_MS
    ) -> None:
        # For SQLAlchemy all its life is one transaction: BEGIN, COMMIT and ROLLBACK are said here.
        self._connection: Connection = engine.connect()
        self._connection.begin()
        self._dbapi: Any = self._connection.connection.driver_connection
        self._threads = threads
        self._writes = writes
        self._busy_ms = busy_ms
        self._turn_began_s = 0.0
        self._changes_before = 0
        self.only_reads = False

    @property
    def dialect(self) -> Dialect:
        return self._connection.dialect

    async def begin(self) -> None:
        """Take the write lock where this connection writes, for as long as others hold it up to its limit."""
        self._turn_began_s = time.monotonic()
        self._changes_before = self._dbapi.total_changes
        if not self._writes:
            self._connection.exec_driver_sql("BEGIN")
            return
        gives_up_s = time.monotonic() + self._busy_ms / 1000
        pauses_s = chain(_PAUSES_S, repeat(_PAUSES_S[-1]))
        while True:
            try:
                self._connection.exec_driver_sql("BEGIN IMMEDIATE")
                return
            except OperationalError as error:
                if not is_busy(error) or time.monotonic() >= gives_up_s:
                    raise
            await asyncio.sleep(next(pauses_s))

    async def execute(self, statement: Executable, *given: Any) -> CursorResult[Any]:
        """Run one statement; its rows have been read when this returns. Raises the errors of SQLAlchemy."""
        began_s = time.monotonic()
        if began_s - self._turn_began_s > TURN_S:
            await asyncio.sleep(0)
            began_s = self._turn_began_s = time.monotonic()
        result: CursorResult[Any] = self._connection.execute(statement, *given)
        took_s = time.monotonic() - began_s
        if took_s > SLOW_S:
            log.warning(
                "storage.slow", extra={"seconds": round(took_s, 3), "statement": str(statement)[:200]}
            )
        return result

    @asynccontextmanager
    async def begin_nested(self) -> AsyncIterator[None]:
        """A savepoint."""
        with self._connection.begin_nested():
            yield

    async def run_sync(self, work: Callable[[Connection], T]) -> T:
        """What takes its time, in a thread."""
        return await self._in_a_thread(lambda: work(self._connection))

    @property
    def has_changed(self) -> bool:
        """Has its transaction changed anything? Then, and only then, its end writes to the disk (`mark_change`)."""
        return bool(self._dbapi.total_changes != self._changes_before)

    async def commit(self) -> None:
        """In a thread where something was written, because it waits for the disk."""
        if not self.has_changed:
            self._connection.exec_driver_sql("COMMIT")
        else:
            sqlite_log.mark_change(self._dbapi.execute)
            await self._in_a_thread(lambda: self._connection.exec_driver_sql("COMMIT"))

    def rollback(self) -> None:
        """Undo what was not committed; nothing where all was."""
        with suppress(sqlite3.Error):  # then it is not used again
            if self._dbapi.in_transaction:
                self._dbapi.rollback()

    @property
    def is_usable(self) -> bool:
        """Nothing is left over that the next to use it would meet."""
        is_broken = self._connection.invalidated or self.only_reads
        return not is_broken and not self._dbapi.in_transaction

    def close(self) -> None:
        self._connection.close()

    async def _in_a_thread(self, work: Callable[[], T]) -> T:
        """Not left alone when the task is cancelled: two may not use the connection at once."""
        done = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError:
            await _until_done(done)
            raise


async def _until_done(done: asyncio.Future[Any]) -> None:
    """Wait, whoever cancels meanwhile: its end takes no longer than the disk does."""
    while not done.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait({done})
    if not done.cancelled():
        done.exception()  # seen: the task is cancelled either way


def _engine(file: OpenFile, *, writes: bool) -> Engine:
    def connect() -> sqlite3.Connection:
        return file.connect(_Dbapi)

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)

    @event.listens_for(engine, "connect")
    def _prepared(dbapi: Any, _record: object) -> None:
        # Whoever waits in SQLite itself holds the loop: `begin` asks again instead.
        set_pragmas(dbapi, read_only=not writes, busy_ms=0 if writes else _READER_BUSY_MS)

    return engine


def is_busy(error: OperationalError) -> bool:
    """Does another connection hold the write lock?"""
    return _kind(error) == sqlite3.SQLITE_BUSY


def _kind(error: OperationalError) -> int:
    return _code(error) & 0xFF


def _code(error: OperationalError) -> int:
    return int(getattr(error.orig, "sqlite_errorcode", 0))
