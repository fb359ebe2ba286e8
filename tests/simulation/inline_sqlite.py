"""Connections to SQLite without threads: what SQLAlchemy's async engine offers of what `storage` uses, in the loop.

Before each statement, each BEGIN and each COMMIT the seed may let others run, or the process be killed. SQLAlchemy
compiles the statements, once for the run of all seeds, and knows the types; `statements` hands them to SQLite itself.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from storage import tables as t
from storage.database import BUSY_MS, Database, set_pragmas
from tests.simulation import statements

# How long SQLite's own busy handler waits each time while somebody else holds the lock, in seconds; the last again.
_WAITS_S = (0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.025, 0.025, 0.025, 0.05, 0.05, 0.1)
# The machine's own seconds: nothing in a simulation takes them.
_REALLY_WAITED_S = 1.0
_PATH: ContextVar[str] = ContextVar("path")


NO_ENTRY = "simulated: the audit takes no entry"


class DiskTrouble(sqlite3.OperationalError):
    """What SQLite says when the disk is full."""


def connect(path: Path | str, **more: Any) -> sqlite3.Connection:
    """A connection to a database file that no other process opens: then SQLite asks the system for no lock, and shares
    no memory. It never waits in the machine's own time."""
    made: sqlite3.Connection = sqlite3.connect(f"file:{path}?vfs=unix-excl", uri=True, timeout=0, **more)
    return made


def _engine(*, read_only: bool) -> Engine:
    def made() -> sqlite3.Connection:
        return connect(_PATH.get(), cached_statements=1000)

    engine = create_engine("sqlite://", creator=made, poolclass=NullPool, query_cache_size=5000)

    @event.listens_for(engine, "connect")
    def _connect(dbapi: Any, _record: object) -> None:
        set_pragmas(dbapi, read_only=read_only, busy_ms=0)
        dbapi.execute("PRAGMA synchronous = OFF")  # the machine itself never goes down

    return engine


_WRITER = _engine(read_only=False)
_READER = _engine(read_only=True)


class WaitsForReal(Exception):
    """Nobody could go on meanwhile, and a run would take as long as it waits."""


class ConnectionBroke(sqlite3.OperationalError):
    """The connection to the database is gone in the middle of a COMMIT: done or not, nobody knows."""


class Storage:
    """The connections of one process to one database file, and what may go wrong with them."""

    def __init__(self, rng: random.Random, *, interrupts: float, after_commit: Callable[[], None]) -> None:
        self.rng = rng
        self.interrupts = interrupts
        self.after_commit = after_commit
        self.after_lost_commit: Callable[[], None] = lambda: None
        self.full = False  # the disk: every COMMIT of a writer fails
        self.lost_commits: deque[bool] = (
            deque()
        )  # of the next ones: it breaks in each, and whether it was done
        self.refusal = ""  # what the database says to every BEGIN
        self.takes_no_entry = False  # of the audit: every one fails
        self.engines: list[InlineEngine] = []

    def open(self, database: Database) -> tuple[Any, Any]:
        """As `storage.store.Engines`: one to write through and one to read through."""
        path = str(database.path)
        pair = InlineEngine(self, _WRITER, path, writes=True), InlineEngine(self, _READER, path, writes=False)
        self.engines += pair
        return pair

    def kill(self) -> None:
        """The process is gone: its connections close, and what was not committed is undone."""
        for engine in self.engines:
            engine.break_off()

    def require_database(self) -> None:
        """Raises what the database says while it takes nothing."""
        if self.refusal:
            raise OperationalError("BEGIN", {}, sqlite3.OperationalError(f"simulated: {self.refusal}"))

    async def maybe_others(self) -> None:
        """A place at which the seed may let other tasks run."""
        if self.interrupts and self.rng.random() < self.interrupts:
            await asyncio.sleep(0)


class InlineEngine:
    """What `Store` uses of an AsyncEngine."""

    def __init__(self, storage: Storage, engine: Engine, path: str, *, writes: bool) -> None:
        self._storage = storage
        self._engine = engine
        self._path = path
        self.writes = writes
        self._idle: list[InlineConnection] = []
        self._all: list[InlineConnection] = []

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[InlineConnection]:
        connection = self.take()
        try:
            yield connection
        finally:
            self.give_back(connection)

    def begin(self) -> Transaction:
        """A transaction, as a block."""
        return Transaction(self._storage, self)

    async def begun(self, connection: InlineConnection) -> None:
        """Another process may hold the write lock: it is asked for again, as SQLite's busy handler does."""
        until_s = asyncio.get_running_loop().time() + BUSY_MS / 1000
        for tries, wait_s in enumerate(chain(_WAITS_S, repeat(_WAITS_S[-1]))):
            began_s = time.monotonic()
            try:
                connection.dbapi.execute("BEGIN IMMEDIATE" if self.writes else "BEGIN")
            except sqlite3.OperationalError as error:
                if time.monotonic() - began_s > _REALLY_WAITED_S:
                    raise WaitsForReal("SQLite waits for a lock in the machine's own time") from error
                # Time that leaps is no time in which the lock was asked for.
                is_over = asyncio.get_running_loop().time() >= until_s and tries >= len(_WAITS_S)
                if "locked" not in str(error) or is_over:
                    raise OperationalError("BEGIN", {}, error) from error
            else:
                return
            await asyncio.sleep(wait_s)

    async def dispose(self) -> None:
        self.break_off()

    def break_off(self) -> None:
        for connection in self._all:
            connection.close()
        self._all.clear()
        self._idle.clear()

    def take(self) -> InlineConnection:
        if self._idle:
            return self._idle.pop()
        _PATH.set(self._path)
        connection = InlineConnection(self._storage, self._engine.connect())
        self._all.append(connection)
        return connection

    def give_back(self, connection: InlineConnection) -> None:
        if connection in self._all:
            self._idle.append(connection)


class Transaction:
    """A block that commits at its end, or rolls back when it raises."""

    __slots__ = ("_connection", "_engine", "_storage")

    def __init__(self, storage: Storage, engine: InlineEngine) -> None:
        self._storage = storage
        self._engine = engine
        self._connection: InlineConnection

    async def __aenter__(self) -> InlineConnection:
        self._connection = self._engine.take()
        try:
            self._storage.require_database()
            await self._storage.maybe_others()
            await self._engine.begun(self._connection)
        except BaseException:
            self._engine.give_back(self._connection)
            raise
        return self._connection

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        storage, connection, writes = self._storage, self._connection, self._engine.writes
        try:
            if error is not None:
                connection.undo()
                return
            try:
                await storage.maybe_others()
                if writes and storage.full:
                    raise OperationalError("COMMIT", {}, DiskTrouble("database or disk is full"))
            except BaseException:
                connection.undo()
                raise
            lost = storage.lost_commits.popleft() if writes and storage.lost_commits else None
            connection.say("COMMIT" if lost is not False else "ROLLBACK")
            if writes and connection.changed() and lost is not False:
                storage.after_commit()
            if lost is not None:
                storage.after_lost_commit()
                raise OperationalError("COMMIT", {}, ConnectionBroke("simulated: the connection broke"))
            await storage.maybe_others()
        finally:
            self._engine.give_back(connection)


class InlineConnection:
    """What `Tx` uses of an AsyncConnection. For SQLAlchemy all of its life is one transaction; we say BEGIN."""

    def __init__(self, storage: Storage, connection: Connection) -> None:
        self._storage = storage
        self._connection = connection
        self._before = 0
        self.dialect = connection.dialect
        connection.begin()
        dbapi: Any = connection.connection.driver_connection
        self.dbapi, self.say = dbapi, dbapi.execute

    def changed(self) -> bool:
        """Whether anything was written since this was asked last."""
        before, self._before = self._before, self.dbapi.total_changes
        return before != self._before

    def undo(self) -> None:
        """Roll back, unless the process died meanwhile and its connections with it."""
        if not self._connection.closed and self.dbapi.in_transaction:
            self.dbapi.execute("ROLLBACK")

    def close(self) -> None:
        """What is not committed is undone by it."""
        self._connection.close()

    async def execute(self, statement: Any, *args: Any) -> Any:
        storage = self._storage
        if (
            storage.interrupts and storage.rng.random() < storage.interrupts
        ):  # as maybe_others, without a call
            await asyncio.sleep(0)
        if storage.takes_no_entry and getattr(statement, "table", None) is t.audit:
            raise OperationalError("INSERT", {}, sqlite3.OperationalError(NO_ENTRY))
        return statements.execute(self._connection, self.dbapi, statement, *args)

    @asynccontextmanager
    async def begin_nested(self) -> AsyncIterator[None]:
        with self._connection.begin_nested():
            yield

    async def run_sync(self, work: Callable[[Connection], Any]) -> Any:
        return work(self._connection)
