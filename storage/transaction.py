"""One transaction: the statements of the query modules run in it, and what waits for its commit.

With it goes what this process knows of the audit chain.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    CursorResult,
    DateTime,
    Executable,
    Row,
    Select,
    func,
    literal,
    select,
    text,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.chain_memory import ChainMemory
from storage.columns import UtcDateTime
from storage.sqlite_connections import SqliteConnection
from storage.vault import Vault

#: PostgreSQL's own, which all who share the database share; it goes on within a transaction.
DATABASE_CLOCK = func.clock_timestamp(type_=DateTime(timezone=True))
_HOLD = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")
# Databases bound the parameters of one statement; SQLite's older ones at 999.
_AT_ONCE = 500


Connected = AsyncConnection | SqliteConnection


class Tx:
    """One transaction. `now` is the clock's time when it began (on SQLite: when it had the lock).

    `versions`: the numbers of signed rows that this process has seen committed, by table and key. `chain`: what it
    knows of the audit chain; `known_end`: number and fingerprint of the last entry that it had committed before;
    `passkeys`: what it had read of passkeys by then.
    """

    def __init__(
        self,
        connection: Connected,
        *,
        vault: Vault,
        now: datetime,
        writes: bool,
        versions: dict[tuple[str, str], int],
        chain: ChainMemory | None = None,
    ) -> None:
        self.connection = connection
        self.vault = vault
        self.now = now
        self.writes = writes
        self.versions = versions
        self.chain = chain or ChainMemory()
        # As it is before the first statement: what was committed later may not be seen by it.
        self.known_end = (self.chain.known_seq, self.chain.known_hash)
        self.passkeys = self.chain.passkeys
        self._callbacks: list[Callable[[], None]] = []

    @property
    def is_postgres(self) -> bool:
        return self.connection.dialect.name == "postgresql"

    @property
    def lease_clock(self) -> ColumnElement[datetime]:
        """Leases run on one clock for all processes: the database's on PostgreSQL, the machine's on SQLite."""
        if self.is_postgres:
            return DATABASE_CLOCK
        return literal(self.machine_now, UtcDateTime())

    @property
    def machine_now(self) -> datetime:
        """What the clock of the machine says that all processes on one SQLite file are on."""
        return self.now

    def lease_end(self, lasts: timedelta) -> Any:
        """So long from now on the clock of leases, as a value to write."""
        return self.lease_clock + lasts if self.is_postgres else self.machine_now + lasts

    async def lasts(self, lease_until: datetime | None) -> bool:
        """A lease until then is not over."""
        if lease_until is None:
            return False
        return lease_until >= (
            (await self.run(select(self.lease_clock))).scalar_one() if self.is_postgres else self.machine_now
        )

    async def hold(self, name: str) -> None:
        """One transaction at a time goes on with `name`, where there is no row yet that could be locked. SQLite's write
        lock does so already.

        Whoever holds several takes them in the order of their names, and locks rows only after that.
        """
        if self.is_postgres:
            await self.run(_HOLD, {"name": name})

    async def run(self, statement: Executable, *args: Any) -> CursorResult[Any]:
        """Execute one statement; for the query modules of this package."""
        result: CursorResult[Any] = await self.connection.execute(statement, *args)
        return result

    async def run_among(
        self, asked: Select[Any], column: ColumnElement[Any], values: Collection[str]
    ) -> list[Row[Any]]:
        """The rows of `asked` whose `column` is one of `values`, however many they are."""
        wanted, found = sorted(values), list[Row[Any]]()
        for start in range(0, len(wanted), _AT_ONCE):
            some = asked.where(column.in_(wanted[start : start + _AT_ONCE]))
            found += (await self.run(some)).all()
        return found

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        """What fails inside is undone, with what it asked for after the commit; the rest goes on."""
        asked_before = len(self._callbacks)
        try:
            async with self.connection.begin_nested():
                yield
        except BaseException:
            del self._callbacks[asked_before:]
            raise

    def after_commit(self, callback: Callable[[], None]) -> None:
        """Run `callback` once this transaction is durable; never if it rolls back."""
        self._callbacks.append(callback)

    def committed(self) -> None:
        for callback in self._callbacks:
            callback()
