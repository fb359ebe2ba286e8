"""Several bots on one PostgreSQL database, with people at work and everything that goes wrong with processes.

Killed, told to end, standing still for longer than any lease, cut off from the database, a database that is closed to
all, clocks that are wrong; API and Slack in trouble meanwhile. What must be true afterwards is what `invariants` says
of one bot.
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
from tests.crash.wrong_clocks import SEEN_WITHIN_S, MachineClock
from tests.support.databases import PostgresDatabases

# A claim of a bot that is gone is free after so long, and what it had reserved after ten seconds.
LEASE_S = 3.0
STANDS_STILL_S = (1.0, LEASE_S + 1.5)
CLOSED_S = (0.3, 2.5)
BETWEEN_S = (0.2, 1.5)
DRAINS_WITHIN_S = 120.0
# By how much the clock of a machine is wrong, in seconds; most of the approval's 15 minutes are left.
WRONG_BY_S = (-300, -45, -5, -1, 1, 5, 45, 300)


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

    async def set_a_clock(self) -> None:
        """Of one machine: wrong, or right again. Its bot goes by it within a second."""
        clock = self.rng.choice(self.world.clocks)
        clock.set_wrong_by(self.rng.choice((0, *WRONG_BY_S)))
        await asyncio.sleep(SEEN_WITHIN_S)

    async def trouble(self) -> str:
        """One of these; its name."""
        kinds: list[tuple[Callable[[], Awaitable[None]], int]] = [
            (self.kill, 4),
            (self.end, 1),
            (self.stand_still, 3),
            (self.cut_off, 2),
            (self.close_the_database, 1),
        ]
        if self.world.clocks:
            kinds.append((self.set_a_clock, 8))
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
        for number in range(2, replicas + 1):
            clock = MachineClock(world.folder / f"clock-{number}") if world.clocks else None
            world.clocks += [clock] if clock else []
            every.append(await world.bot.sibling(clock.environment if clock else None))
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
        for clock in world.clocks:
            clock.set_wrong_by(0)
        await finish(world, operators, figures, began, DRAINS_WITHIN_S, slower=5)
    return figures


def bots_on(databases: PostgresDatabases, replicas: int, *, wrong_clocks: bool = False) -> Run:
    """A batch of troubles of so many bots, each batch on a database of its own. `wrong_clocks`: each bot has the clock
    of a machine of its own, and most of the troubles are of those."""

    async def run(folder: Path, troubles: int, seed: int) -> Figures:
        shared = SharedDatabase(databases.migrated())
        try:
            clock = MachineClock(folder / "clock-1") if wrong_clocks else None
            async with outside(folder, lease_s=LEASE_S, shared=shared, clock=clock) as world:
                return await troubled(world, troubles, replicas=replicas, seed=seed)
        finally:
            shared.forget()

    return run
