"""What commands, Home, polling, a claim and an approval cost with 100,000 requests and cards, against 1,000.

With them come a million events, 400,000 messages and as many audit entries. On SQLite and on PostgreSQL; medians of
rounds in turn over both sizes, and what the indexes cost those who write.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

from benchmarks import Row
from tests.support.databases import PostgresDatabases, postgres_server
from tests.support.hot_paths import HOT, Hot, begin
from tests.support.large_data import Size
from tests.support.world import World, a_world

SMALL, LARGE = 1_000, 100_000
ROUNDS = 11
WANTED = 1.5


def measure(size: int = LARGE) -> list[Row]:
    """`size`: how many requests and cards the large database has."""
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(_measured(Path(folder), "SQLite", ["", ""], size))
        with postgres_server() as server:
            databases = PostgresDatabases(server)
            found += asyncio.run(
                _measured(Path(folder), "PostgreSQL", [databases.migrated(), databases.migrated()], size)
            )
    return found


async def _measured(folder: Path, on: str, urls: list[str], size: int) -> list[Row]:
    async with AsyncExitStack() as stack:
        worlds = []
        for name, url, rows in zip(("small", "large"), urls, (SMALL, size), strict=True):
            place = folder / f"{on}-{name}"
            place.mkdir()
            world = await stack.enter_async_context(a_world(place, url=url))
            await begin(world, Size(rows))
            worlds.append(world)
        return [await _row(on, hot, *worlds) for hot in HOT]


async def _row(on: str, hot: Hot, small: World, large: World) -> Row:
    took_ms: tuple[list[float], list[float]] = [], []
    for nth in range(ROUNDS + 1):
        for world, times in zip((small, large), took_ms, strict=True):
            ms = await _once(hot, world)
            if nth:  # the first round is for the caches
                times.append(ms)
    before, now = map(statistics.median, took_ms)
    missed = "" if now / before <= WANTED else f" (wanted: {WANTED})"
    return Row(f"{on}: {hot.name}", f"{now:.1f} ms", f"{now / before:.1f} times {before:.1f} ms{missed}")


async def _once(hot: Hot, world: World) -> float:
    made = await hot.prepared(world) if hot.prepared else None
    before = time.perf_counter()
    await hot.work(world, made)
    return (time.perf_counter() - before) * 1000
