"""What commands, Home, polling, a claim and an approval cost with 100,000 requests and cards, against 1,000.

With them come a million events, 400,000 messages and as many audit entries. On SQLite and PostgreSQL; the quickest of
rounds in turn over both sizes, and what the indexes cost those who write.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from benchmarks import Row, wanted
from tests.support.databases import PostgresDatabases, postgres_server
from tests.support.hot_paths import HOT, Hot, begin
from tests.support.hot_writes import WRITES, without_new_indexes
from tests.support.large_data import Size
from tests.support.world import World, a_world

SMALL, LARGE = 1_000, 100_000
ROUNDS = 9
WANTED = 1.5


def measure(size: int = LARGE) -> list[Row]:
    """`size`: how many requests and cards the large database has."""
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(_measured(Path(folder), "SQLite", [""] * 4, size))
        with postgres_server() as server:
            databases = PostgresDatabases(server)
            urls = [databases.migrated() for _ in range(4)]
            found += asyncio.run(_measured(Path(folder), "PostgreSQL", urls, size))
    return found


async def _measured(folder: Path, on: str, urls: list[str], size: int) -> list[Row]:
    async with AsyncExitStack() as stack:
        small, large, plain, indexed = [
            await stack.enter_async_context(_filled(folder, url, rows))
            for url, rows in zip(urls, (SMALL, size, size // 5, size // 5), strict=True)
        ]
        found = [await _row(on, hot, small, large) for hot in HOT]
        await without_new_indexes(plain)
        return found + [await _cost(on, name, write, plain, indexed) for name, write in WRITES]


@asynccontextmanager
async def _filled(folder: Path, url: str, rows: int) -> AsyncIterator[World]:
    async with a_world(Path(tempfile.mkdtemp(dir=folder)), url=url) as world:
        await begin(world, Size(rows))
        yield world


async def _row(on: str, hot: Hot, small: World, large: World) -> Row:
    took_ms: tuple[list[float], list[float]] = [], []
    for nth in range(ROUNDS + 1):
        for world, times in zip((small, large), took_ms, strict=True):
            ms = await _once(hot, world)
            if nth:  # the first round is for the caches
                times.append(ms)
    before, now = map(min, took_ms)
    return Row(
        f"{on}: {hot.name}",
        f"{now:.1f} ms",
        f"{now / before:.1f} times {before:.1f} ms {wanted(now / before, at_most=WANTED)}",
    )


async def _once(hot: Hot, world: World) -> float:
    made = await hot.prepared(world) if hot.prepared else None
    before = time.perf_counter()
    await hot.work(world, made)
    return (time.perf_counter() - before) * 1000


async def _cost(
    on: str, name: str, write: Callable[[World], Awaitable[None]], plain: World, indexed: World
) -> Row:
    took_ms: tuple[list[float], list[float]] = [], []
    for nth in range(ROUNDS + 1):
        for world, times in zip((plain, indexed), took_ms, strict=True):
            before = time.perf_counter()
            await write(world)
            if nth:
                times.append((time.perf_counter() - before) * 1000)
    without, now = map(min, took_ms)
    return Row(
        f"{on}: {name}",
        f"{now:.1f} ms",
        f"{now / without:.2f} times {without:.1f} ms without the new indexes",
    )
