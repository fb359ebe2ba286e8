"""`kill -9` on the way of an event, from receipt to its alert: none accepted is lost, stored or told of twice."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.crash.outside import LEASE_S, Outside, outside
from tests.crash.programme import crash_points
from tests.events.deliverer import Deliverer, keep_secret, violations

SEED = 20260303
DIES_WITHIN_S = 15.0


@asynccontextmanager
async def delivering(world: Outside, deliverer: Deliverer) -> AsyncIterator[None]:
    """The service delivers while this block runs; the bot may die meanwhile."""
    working = asyncio.create_task(deliverer.work(world.bot.url))
    try:
        yield
        assert not working.done(), working.exception()
    finally:
        working.cancel()
        await asyncio.wait({working})


async def judged(world: Outside, deliverer: Deliverer) -> list[str]:
    """Deliver the rest to a bot that stays alive, let it handle everything, and look."""
    await world.bot.start()
    await deliverer.finish(world.bot.url)
    async with asyncio.timeout(30):
        while world.rows("SELECT 1 FROM inbox WHERE state = 'received'"):
            await asyncio.sleep(0.05)
    assert await world.until_drained(40), "some message is still owed"
    await world.bot.kill()
    return violations(world, deliverer)


async def kill_at_random(world: Outside, deliverer: Deliverer, kills: int, rng: random.Random) -> None:
    for _ in range(kills):
        await world.bot.start()
        async with delivering(world, deliverer):
            await asyncio.sleep(rng.uniform(0.02, 0.4))
            await world.bot.kill()
        world.leap(LEASE_S)  # so many starts in a minute would be refused by Slack


async def test_a_kill_at_any_point_of_an_events_way_loses_and_doubles_nothing(tmp_path: Path) -> None:
    points = crash_points(of_events=True)
    assert {"inbox.verified", "inbox.stored", "inbox.handled"} <= set(points)

    async with outside(tmp_path) as world:
        deliverer = Deliverer(world, random.Random(SEED))
        await keep_secret(world)
        for nth in (1, 4):
            for point in points:
                await world.bot.start(point=point, nth=nth, wait=False)
                if await world.bot.ready():
                    async with delivering(world, deliverer):
                        assert await world.bot.died(DIES_WITHIN_S) == point
                else:
                    assert await world.bot.died(0) == point  # at what was left from before
        assert await judged(world, deliverer) == []

    assert deliverer.answers["none"] > 0, "no delivery was cut off: nothing was tried"
    print(f"\nseed {SEED}: {2 * len(points)} kills, {len(deliverer.accepted)} events, {deliverer.answers}")


@pytest.mark.parametrize(
    ("bug", "point", "complaint"),
    [
        ("answers-before-storing", "inbox.stored", "was accepted and is lost"),
        ("marks-handled-first", "inbox.handled", "is drawn from"),
    ],
)
async def test_a_planted_bug_on_the_way_of_an_event_is_found(
    tmp_path: Path, bug: str, point: str, complaint: str
) -> None:
    async with outside(tmp_path, bug=bug) as world:
        deliverer = Deliverer(world, random.Random(SEED))
        await keep_secret(world)
        await world.bot.start(point=point, nth=1, wait=False)
        if await world.bot.ready():
            async with delivering(world, deliverer):
                assert await world.bot.died(DIES_WITHIN_S) == point
        found = await judged(world, deliverer)

    assert any(complaint in one for one in found), found


async def _random_kills(folder: Path, kills: int, seed: int) -> None:
    async with outside(folder) as world:
        deliverer = Deliverer(world, random.Random(seed))
        await keep_secret(world)
        await kill_at_random(world, deliverer, kills, random.Random(seed + 1))
        assert await judged(world, deliverer) == []
    declines = [name for name in deliverer.accepted if name.endswith("-declined")]
    assert len(declines) >= kills // 2, "each of them had to be told of"
    print(f"\nseed {seed}: {kills} kills, {len(deliverer.accepted)} events, {deliverer.answers}")


async def test_random_kills_lose_and_double_no_event(tmp_path: Path) -> None:
    await _random_kills(tmp_path, 8, SEED)


@pytest.mark.soak
async def test_a_hundred_random_kills_lose_and_double_no_event(tmp_path: Path) -> None:
    await _random_kills(tmp_path, 100, SEED + 10)
