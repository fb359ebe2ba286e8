"""What one person's flood of plain English costs another's command: from typing it to its answer on the screen."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle
from pathlib import Path

from benchmarks import Row, wanted
from sandbox.slack import Workspace, interactions
from tests.crash.outside import ASKERS, outside
from tests.handlers.test_flood import COSTLY

TIMES = 60
FLOODS = 3  # of the 20 messages that are read in a minute, one after the other, and more that are not
EVERY_S = 0.02
PATIENCE_S = 20.0
WANTED_MS = 100
OTHER = "U0DAVE"


def measure() -> list[Row]:
    """Milliseconds with nobody else there, while one person floods, and how much longer the slowest waited."""
    with tempfile.TemporaryDirectory() as folder:
        quiet, flooded, sent = asyncio.run(_measured(Path(folder)))
    later_ms = max(flooded) - statistics.median(quiet)
    goal = wanted(later_ms, at_most=WANTED_MS, unit=" ms")
    return [
        Row("alone", _figure(quiet)),
        Row(
            f"while another person sends {sent} messages of 2,000 characters",
            _figure(flooded),
            f"the slowest {later_ms:.0f} ms later than usual {goal}",
        ),
    ]


def _figure(times: list[float]) -> str:
    return f"p50 {statistics.median(times):.1f} ms, slowest {max(times):.1f} ms, {len(times)} times"


async def _measured(folder: Path) -> tuple[list[float], list[float], int]:
    async with outside(folder) as world:
        await world.bot.start()
        workspace = world.slack.workspace
        for _ in range(5):  # the first answers build what later ones find
            await _answered(workspace)
        quiet = [await _answered(workspace) for _ in range(TIMES)]
        flooded, sent, texts = list[float](), 0, cycle(COSTLY)
        for _ in range(FLOODS):
            flood = asyncio.create_task(_flood(workspace, texts))
            flooded += [await _answered(workspace) for _ in range(TIMES // FLOODS)]
            flood.cancel()
            sent += await flood
            world.leap(61)  # the next flood is read again
        return quiet, flooded, sent


async def _answered(workspace: Workspace) -> float:
    """Milliseconds from a command to its answer, which only who typed it sees."""
    seen, begun = len(workspace.store.ephemerals), time.perf_counter()
    typed = asyncio.create_task(interactions.command(workspace, OTHER, "C0OPS", "/countersign help"))
    async with asyncio.timeout(PATIENCE_S):
        while len(workspace.store.ephemerals) == seen:
            await asyncio.sleep(0.0005)
    took_ms = (time.perf_counter() - begun) * 1000
    await typed
    await asyncio.sleep(EVERY_S)
    return took_ms


async def _flood(workspace: Workspace, texts: Iterator[str]) -> int:
    """Write as fast as the acks come, until cancelled; returns how many there were."""
    sent = 0
    with suppress(asyncio.CancelledError):
        for piece in texts:
            text = (piece * 2000)[:2000].strip() or f"{piece}."
            await interactions.write(workspace, ASKERS[0], "D0ALICE", text, None)
            sent += 1
    return sent
