"""What several processes share costs on PostgreSQL; the floor is one small transaction by the same driver."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import text

from benchmarks import Row
from bot.domain.time import SystemClock
from bot.engine.distributed import Distributed
from bot.partner.ratelimit import Lane, SharedRateLimiter
from bot.services.processes import StoredMinute
from storage.operators import leases, replicas
from storage.store import Store
from storage.vault import Keyring, Vault, new_master
from tests.support.databases import PostgresDatabases, postgres_server

TIMES = 200
QUEUE = "money:main"
# So that neither lot nor minute ends.
PLENTY = 1_000_000
LEASE = timedelta(seconds=7)
# Of one program: its channels, readings, events and jobs.
LOCKS = [f"job:{number}" for number in range(50)]
ONE = text("UPDATE meta SET value = value WHERE name = 'instance'")


@dataclass(frozen=True, slots=True)
class Nothing:
    """No request is due: what is measured are jobs."""

    name: str = QUEUE
    ids: tuple[str, ...] = ()
    at_once: int | None = 8


def measure() -> list[Row]:
    """Medians of many in turn, on one connection each; the database runs on the same machine."""
    with postgres_server() as url:
        databases = PostgresDatabases(url)
        found = asyncio.run(_all(databases.migrated()))
        databases.close()
    floor = found["a transaction that changes one row"]
    return [Row(what, f"{ms:.2f} ms", f"{ms / floor:.1f} × that transaction") for what, ms in found.items()]


async def _all(url: str) -> dict[str, float]:
    store = await Store.open(url, vault=Vault(Keyring.parse(new_master())), clock=SystemClock())
    found: dict[str, float] = {}

    async def transaction(act: Callable[[Any], Awaitable[object]]) -> None:
        async with store.begin() as tx:
            await act(tx)

    async def one() -> None:
        await transaction(lambda tx: tx.run(ONE))

    found["a transaction that changes one row"] = await _median(one)
    single = SharedRateLimiter(SystemClock(), StoredMinute(store, "single"), owner="a", per_minute=PLENTY)
    lots = SharedRateLimiter(SystemClock(), StoredMinute(store, "lots"), owner="a", per_minute=PLENTY)
    found["a place in the minute of a key, each by itself"] = await _median(
        lambda: single.acquire(Lane.URGENT)
    )
    found["a place in the minute of a key, in lots (mean)"] = await _mean(lambda: lots.acquire(Lane.MONEY))
    found["a process says that it works"] = await _median(
        lambda: transaction(lambda tx: replicas.beat(tx, "host:1:a", "worker"))
    )
    found["a process renews its locks"] = await _median(
        lambda: transaction(lambda tx: leases.take(tx, LOCKS, "a", lasts=LEASE))
    )
    carried = await _carried(store)
    found["a job written in a transaction (beside it)"] = max(
        0.0, carried[0] - found["a transaction that changes one row"]
    )
    found["from the commit to the start of its work"] = carried[1]
    await store.close()
    return found


async def _carried(store: Store) -> tuple[float, float]:
    """Median ms of a transaction that enqueues, and from its end until the work starts."""
    carrier = Distributed(store.database.libpq, {QUEUE: 8}, sweep_every_s=60)
    started = asyncio.Event()
    begun_at = 0.0

    async def due(_: Collection[str]) -> list[Any]:
        return [Nothing()]

    async def execute(_: str) -> None:
        nonlocal begun_at
        begun_at = time.perf_counter()
        started.set()

    running = asyncio.create_task(carrier.run(due, execute))
    await asyncio.sleep(1)
    enqueued, waited = [], []
    for number in range(TIMES // 2):
        started.clear()
        began = time.perf_counter()
        async with store.begin() as tx:
            await tx.run(ONE)
            await carrier.enqueue(tx, f"R-{number}", QUEUE)
        done = time.perf_counter()
        with suppress(TimeoutError):
            async with asyncio.timeout(5):
                await started.wait()
        enqueued.append(done - began)
        waited.append(max(0.0, begun_at - done))
    running.cancel()
    await asyncio.wait({running})
    await carrier.drain(2)
    return statistics.median(enqueued) * 1e3, statistics.median(waited) * 1e3


async def _median(act: Callable[[], Awaitable[object]]) -> float:
    took = []
    for _ in range(TIMES):
        began = time.perf_counter()
        await act()
        took.append(time.perf_counter() - began)
    return statistics.median(took) * 1e3


async def _mean(act: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    for _ in range(TIMES):
        await act()
    return (time.perf_counter() - began) / TIMES * 1e3
