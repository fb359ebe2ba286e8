"""How long `countersign audit verify --deep` takes on SQLite, and how much memory, where all of it is whole.

Each request was submitted, approved, sent and has an outcome: four entries of the audit log. `countersign doctor` does
the same, and looks whether each row can be read.
"""

from __future__ import annotations

import asyncio
import tempfile
from datetime import timedelta
from pathlib import Path

from benchmarks import Row
from tests.support.commands import as_a_command
from tests.support.requests_on_record import many
from tests.support.world import a_world

SIZE = 100_000
APART = timedelta(minutes=10)


def measure(size: int = SIZE) -> list[Row]:
    """`size`: how many requests the database has."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measured(Path(folder), size))


async def _measured(folder: Path, size: int) -> list[Row]:
    async with a_world(folder) as world:
        request = await world.top_up("50")
        await world.run(10)
        await world.advance(3600)
        await many(world, await world.request(request.id), size, apart=APART)
        plain, deep, start = [
            as_a_command(world, "audit", "verify", *more) for more in ([], ["--deep"], ["--help"])
        ]
    return [
        Row(
            f"audit verify, {4 * size:,} entries",
            f"{plain.took_s:.1f} s",
            f"{plain.cpu_s:.1f} s of the processor, {plain.most_mb:.0f} MB",
        ),
        Row(
            f"audit verify --deep, {size:,} requests, {4 * size:,} entries",
            f"{deep.took_s:.1f} s",
            f"{deep.cpu_s:.1f} s of the processor, {deep.most_mb:.0f} MB, of which {start.most_mb:.0f} MB to start",
        ),
    ]
