"""`kill -9` on the way of an event, from receipt to its alert and copies: none accepted is lost or reported twice."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crash.outside import LEASE_S, Outside, outside
from tests.crash.programme import crash_points
from tests.events.deliverer import Deliverer, keep_secret, violations
from tests.events.relayed_events import CONFIG, Systems, systems
from tests.support.waiting import eventually

SEED = 20260303
DIES_WITHIN_S = 15.0
# Where an alert's message is posted; people pass these points, too.
POSTING = ("outbox.sending", "outbox.sent")


@dataclass
class Street:
    """All that is outside of a bot that learns of events: the card provider, Slack and the systems it copies for."""

    world: Outside
    deliverer: Deliverer
    systems: Systems
    kills: int = 0

    @asynccontextmanager
    async def delivering(self) -> AsyncIterator[None]:
        """The card provider delivers while this block runs; the bot may die meanwhile."""
        working = asyncio.create_task(self.deliverer.work(self.world.bot.url))
        try:
            yield
            assert not working.done(), working.exception()
        finally:
            working.cancel()
            await asyncio.wait({working})

    async def dies_at(self, point: str, nth: int) -> None:
        """A life that ends when it passes this point for the nth time."""
        await self.world.bot.start(point=point, nth=nth, wait=False)
        if await self.world.bot.ready():
            async with self.delivering():
                died = await self.world.bot.died(DIES_WITHIN_S)
        else:
            died = await self.world.bot.died(0)  # at what was left from before
        assert died == point, f"{point} was not passed {nth} times"
        self._rest()

    async def dies_at_random(self, kills: int, rng: random.Random) -> None:
        for _ in range(kills):
            await self.world.bot.start()
            async with self.delivering():
                await asyncio.sleep(rng.uniform(0.02, 0.4))
                await self.world.bot.kill()
            self._rest()

    def _rest(self) -> None:
        """So many starts in a minute would be refused by Slack."""
        self.kills += 1
        self.world.leap(LEASE_S)

    async def judged(self) -> list[str]:
        """Deliver the rest to a bot that stays alive, let it handle, tell and copy everything, and look."""
        await self.world.bot.start()
        await self.deliverer.finish(self.world.bot.url)
        await self._until_none("SELECT 1 FROM inbox WHERE state = 'received'")
        assert await self.world.until_drained(40), "some message is still owed"
        flying = asyncio.create_task(self.world.let_time_fly())  # what a dead process had taken is leased
        try:
            await self._until_none("SELECT 1 FROM relay_delivery WHERE state = 'owed'")
        finally:
            flying.cancel()
        await self.world.bot.kill()
        return [*violations(self.world, self.deliverer), *self.systems.violations(self.world, self.kills)]

    async def _until_none(self, sql: str) -> None:
        await eventually(f"none of {sql}", lambda: not self.world.rows(sql), within_s=30)

    def __str__(self) -> str:
        received = (
            f"{self.kills} kills, {len(self.deliverer.accepted)} events, {dict(self.deliverer.answers)}"
        )
        copies = sum(len(one.got) for one in self.systems.receivers.values())
        return f"{received}, {copies} copies, {self.systems.repeats} of them repeats"


@asynccontextmanager
async def a_street(folder: Path, seed: int, *, bug: str = "") -> AsyncIterator[Street]:
    async with (
        systems(folder) as copies,
        outside(folder, bug=bug, config=CONFIG, relay=copies.given) as world,
    ):
        await keep_secret(world)
        yield Street(world, Deliverer(world, random.Random(seed)), copies)


@pytest.mark.timeout(120)
async def test_a_kill_at_any_point_of_an_events_way_loses_and_doubles_nothing(tmp_path: Path) -> None:
    points = crash_points(of_events=True)
    assert {"inbox.verified", "inbox.stored", "inbox.handled", "relay.taken", "relay.sent"} <= set(points)

    async with a_street(tmp_path, SEED) as street:
        for point in (*points, *POSTING):
            for nth in (1, 4) if point.startswith("inbox.") else (1,):
                await street.dies_at(point, nth)
        assert await street.judged() == []

    assert street.deliverer.answers["none"] > 0, "no delivery was cut off: nothing was tried"
    assert street.systems.repeats > 0, "no copy was sent and not marked: nothing was tried"
    print(f"\nseed {SEED}: {street}")


@pytest.mark.by_turns(5)
@pytest.mark.parametrize(
    ("bug", "point", "complaint"),
    [
        ("answers-before-storing", "inbox.stored", "was accepted and is lost"),
        ("marks-handled-first", "inbox.handled", "is drawn from"),
        ("marks-copies-first", "relay.taken", "never got"),
    ],
)
async def test_a_planted_bug_on_the_way_of_an_event_is_found(
    tmp_path: Path, bug: str, point: str, complaint: str
) -> None:
    async with a_street(tmp_path, SEED, bug=bug) as street:
        await street.dies_at(point, 1)
        found = await street.judged()

    assert any(complaint in one for one in found), found


async def _random_kills(folder: Path, kills: int, seed: int) -> None:
    async with a_street(folder, seed) as street:
        await street.dies_at_random(kills, random.Random(seed + 1))
        assert await street.judged() == []
    declines = [name for name in street.deliverer.accepted if name.endswith("-declined")]
    assert len(declines) >= kills // 2, "each of them had to be told of"
    print(f"\nseed {seed}: {street}")


async def test_random_kills_lose_and_double_no_event(tmp_path: Path) -> None:
    await _random_kills(tmp_path, 5, SEED)


@pytest.mark.soak
async def test_a_hundred_random_kills_lose_and_double_no_event(tmp_path: Path) -> None:
    await _random_kills(tmp_path, 100, SEED + 10)


@pytest.mark.soak
async def test_every_point_of_an_events_way_many_times(tmp_path: Path) -> None:
    points = (*crash_points(of_events=True), *POSTING)
    for number in range(10):
        folder = tmp_path / str(number)
        folder.mkdir()
        async with a_street(folder, SEED + number) as street:
            for point in points:
                await street.dies_at(point, 1 if point == "backfill.read" else 1 + number % 4)
            assert await street.judged() == []
        print(f"\nseed {SEED + number}: {street}")
