"""A bot at work for days: what its process weighs at the end of each.

The bot is a process of its own, so that nothing of the simulator and of the stand-in is weighed with it. Its time is
let fly as in tests/crash; a day is so many operations and so many events, however long they take.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import random
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

from tests.crash.outside import Outside, outside
from tests.crash.people_at_work import Operators
from tests.crash.programme import people_at_work
from tests.support.waiting import eventually

DAY_S = 86_400.0
# A day is flown through in so many leaps; a lease is not lost over them, as nothing is under way then.
LEAPS_A_DAY = 48
# What a day brings on timers in addition to what the crash tests let run.
JOBS = ("events", "moved", "account", "purge", "retention", "alerts", "watch", "declines", "digest", "remind")
# The events of a day come in so many lots.
LOTS = 20
_ASKED = "SELECT count(*) AS n FROM request"
_HANDLED = "SELECT count(*) AS n FROM inbox WHERE state = 'processed' AND type LIKE 'card.%'"


@dataclass(frozen=True, slots=True)
class Day:
    """At the end of it. `mb`: the resident memory of the bot."""

    operations: int
    events: int
    mb: float


async def days(folder: Path, count: int, *, operations: int, events: int, seed: int = 14) -> list[Day]:
    """So many days with so many operations and events in each, after a tenth of a day that is not counted."""
    async with outside(folder, jobs=JOBS) as world:
        await world.bot.start()
        operators = Operators(world, random.Random(seed))
        amounts = itertools.count(1)
        await _work(world, operators, amounts, max(2, operations // 10), max(LOTS, events // 10))
        found = []
        for _ in range(count):
            await _work(world, operators, amounts, operations, events)
            await _night(world)
            gc.collect()
            found.append(Day(_count(world, _ASKED), _count(world, _HANDLED), _mb(world)))
        return found


async def _work(
    world: Outside, operators: Operators, amounts: itertools.count[int], operations: int, events: int
) -> None:
    rng = random.Random(next(amounts))
    asked, handled = _count(world, _ASKED) + operations, _count(world, _HANDLED)
    async with people_at_work(world, operators, slower=3):
        for lot in range(1, LOTS + 1):
            for _ in range(events // LOTS):
                card = rng.choice(world.cards())["id"]
                amount_usd = f"{next(amounts) % 900 / 100 + 0.01:.2f}"
                world.tell_partner("purchases", {"card_id": card, "amount_usd": amount_usd})
            wanted = asked - operations + operations * lot // LOTS
            await eventually(
                "so many asked",
                partial(_are_asked, world, wanted),
                within_s=600 + operations,
                every_s=0.05,
            )
    made = handled + events // LOTS * LOTS
    flying = asyncio.create_task(world.let_time_fly())
    try:
        await eventually("every event is handled", lambda: _count(world, _HANDLED) >= made, within_s=900)
    finally:
        flying.cancel()
        await asyncio.wait({flying})


async def _night(world: Outside) -> None:
    """The rest of a day: what is done once a day is done, and what is kept for a day goes."""
    for _ in range(LEAPS_A_DAY):
        world.leap(DAY_S / LEAPS_A_DAY)
        await asyncio.sleep(0.01)


def _are_asked(world: Outside, wanted: int) -> bool:
    return _count(world, _ASKED) >= wanted


def _count(world: Outside, sql: str) -> int:
    return int(world.rows(sql)[0]["n"])


def _mb(world: Outside) -> float:
    assert world.bot.pid is not None
    return float(psutil.Process(world.bot.pid).memory_info().rss) / 1e6
