"""A bot whose lines to the API, to Slack and to PostgreSQL are spoiled, one after another and together, with people at
work. What must be true afterwards is what `invariants` says of a bot that was killed."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import suppress

from tests.crash.faulty_lines import Line
from tests.crash.outside import Outside
from tests.crash.people_at_work import Operators
from tests.crash.programme import Figures, finish, people_at_work
from tests.support.waiting import eventually

# Where nothing is sent by then, a line is spoiled all the same.
UNDER_WAY_WITHIN_S = 2.0
_UNDER_WAY = "SELECT id FROM request WHERE state IN ('approved', 'executing') LIMIT 1"
DRAINS_WITHIN_S = 120.0


async def spoil_lines(world: Outside, troubles: int, *, seed: int) -> Figures:
    """So many troubles of lines, now and then two at once, while people ask and approve; then all comes to its end."""
    rng = random.Random(seed)
    figures, operators = Figures(seed), Operators(world, random.Random(seed + 1), meets=True)
    # A click that a silent line keeps is answered by nobody.
    operators.patience_s = 3.0
    began = time.monotonic()
    await world.bot.start()
    async with people_at_work(world, operators, slower=5):
        while sum(figures.troubles.values()) < troubles:
            with suppress(AssertionError):
                await eventually(
                    "something is to be sent",
                    lambda: world.rows(_UNDER_WAY),
                    within_s=UNDER_WAY_WITHIN_S,
                    every_s=0.01,
                )
            await asyncio.sleep(rng.uniform(0, 0.1))
            spoiled = rng.sample(world.lines, rng.choice((1, 1, 1, 2)))
            for name in await asyncio.gather(*(_spoil(one, rng) for one in spoiled)):
                figures.count_trouble(name, world)
    await finish(world, operators, figures, began, DRAINS_WITHIN_S, slower=5)
    return figures


async def _spoil(line: Line, rng: random.Random) -> str:
    """Spoil it in one way; what was done."""
    act = rng.choice(line.troubles())
    await act()
    return f"{act.__name__} {line.name.removeprefix('COUNTERSIGN_').removesuffix('_URL').lower()}"
