"""Several bots on one PostgreSQL database, with people at work and everything that goes wrong with processes.

Killed, told to end, standing still for longer than any lease, cut off from the database, a database that is closed to
all; API and Slack in trouble meanwhile. What must be true afterwards is what `invariants` says of one bot.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

from tests.crash.outside import Outside, outside
from tests.crash.people_at_work import Operators
from tests.crash.process import BotProcess
from tests.crash.programme import FAULTS, SLACK_FAULTS, Figures, Run, finish, people_at_work
from tests.crash.shared_database import SharedDatabase
from tests.support.databases import PostgresDatabases

# A claim of a bot that is gone is free after so long, and what it had reserved after ten seconds.
LEASE_S = 3.0
STANDS_STILL_S = (1.0, LEASE_S + 1.5)
CLOSED_S = (0.3, 2.5)
BETWEEN_S = (0.2, 1.5)
DRAINS_WITHIN_S = 120.0


class Bots:
    """Those that share a database. The first is `world.bot`."""

    def __init__(self, world: Outside, every: list[BotProcess], rng: random.Random) -> None:
        self.world, self.every, self.rng = world, every, rng

    def one(self) -> BotProcess:
        """One of those that are up; the first is started again where none is."""
        return self.rng.choice([bot for bot in self.every if bot.is_up] or self.every[:1])

    async def kill(self) -> None:
        bot = self.one()
        await bot.kill()
        await bot.start()

    async def end(self) -> None:
        bot = self.one()
        code = await bot.terminate()
        assert code == 0, self.world.last_words()
        await bot.start()

    async def stand_still(self) -> None:
        bot = self.one()
        bot.stand_still()
        await asyncio.sleep(self.rng.uniform(*STANDS_STILL_S))
        bot.go_on()

    async def cut_off(self) -> None:
        assert self.world.shared is not None
        self.world.shared.cut_everybody_off()

    async def close_the_database(self) -> None:
        assert self.world.shared is not None
        # In a thread, as this one may wait for it meanwhile.
        await asyncio.to_thread(self.world.shared.close_for, self.rng.uniform(*CLOSED_S))

    async def trouble(self) -> str:
        """One of these; its name."""
        kinds: list[tuple[Callable[[], Awaitable[None]], int]] = [
            (self.kill, 4),
            (self.end, 1),
            (self.stand_still, 3),
            (self.cut_off, 2),
            (self.close_the_database, 1),
        ]
        (act,) = self.rng.choices([act for act, _ in kinds], [weight for _, weight in kinds])
        await act()
        return act.__name__


async def troubled(world: Outside, troubles: int, *, replicas: int, seed: int) -> Figures:
    """So many troubles, one after another, while people ask and approve; then all that waits comes to its end."""
    rng = random.Random(seed)
    figures, operators = Figures(seed), Operators(world, random.Random(seed + 1), meets=True)
    # A click that comes to a bot that stands still is answered by nobody.
    operators.patience_s = 3.0
    began = time.monotonic()
    async with AsyncExitStack() as stack:
        every = [world.bot]
        for _ in range(replicas - 1):
            every.append(await world.bot.sibling())
            stack.push_async_callback(every[-1].close)
        for bot in every:
            await bot.start()
        bots = Bots(world, every, rng)
        async with people_at_work(world, operators, slower=5):
            for _ in range(troubles):
                world.tell_partner("faults", rng.choice(FAULTS))
                world.slack.workspace.faults.add(dict(rng.choice(SLACK_FAULTS)))
                await asyncio.sleep(rng.uniform(*BETWEEN_S))
                figures.count_trouble(await bots.trouble(), world)
        await finish(world, operators, figures, began, DRAINS_WITHIN_S, slower=5)
    return figures


def bots_on(databases: PostgresDatabases, replicas: int) -> Run:
    """A batch of troubles of so many bots, each batch on a database of its own."""

    async def run(folder: Path, troubles: int, seed: int) -> Figures:
        shared = SharedDatabase(databases.migrated())
        try:
            async with outside(folder, lease_s=LEASE_S, shared=shared) as world:
                return await troubled(world, troubles, replicas=replicas, seed=seed)
        finally:
            shared.forget()

    return run
