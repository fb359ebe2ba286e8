"""One look at Slack serves all who wait for it, also where it fails: nobody stands in line for the same failure."""

from __future__ import annotations

import asyncio

import pytest

from bot.domain.errors import LookupFailed, SlackAway, TooMuch
from bot.services.shared_look import MOST_KEPT, SharedLooks
from tests.support.clock import FrozenClock

TIMEOUT_S = 30.0


class Asked:
    """Slack, which takes its time to answer or to fail."""

    def __init__(self, clock: FrozenClock, *, fails: bool) -> None:
        self.clock, self.fails, self.times = clock, fails, 0

    async def __call__(self) -> str:
        self.times += 1
        await asyncio.sleep(0)
        self.clock.advance(TIMEOUT_S)
        if self.fails:
            raise SlackAway("Slack does not answer.", "no answer")
        return "seen"


async def test_who_waited_for_a_look_that_failed_is_given_that_failure() -> None:
    clock = FrozenClock()
    looks, slack = SharedLooks(), Asked(clock, fails=True)
    waiting = [asyncio.create_task(looks.at("roles", slack, clock, within_s=10)) for _ in range(8)]

    found = await asyncio.gather(*waiting, return_exceptions=True)

    assert all(isinstance(error, LookupFailed) for error in found)
    assert slack.times == 1
    with pytest.raises(LookupFailed):
        await looks.at("roles", slack, clock, within_s=10)
    assert slack.times == 2, "who asks after it failed asks again"


async def test_what_was_seen_too_long_ago_by_its_end_is_seen_again_by_who_waited() -> None:
    """What is sent rests on it, so a slow answer is no fresher for having been waited for."""
    clock = FrozenClock()
    looks, slack = SharedLooks(), Asked(clock, fails=False)

    found = await asyncio.gather(*(looks.at("roles", slack, clock, within_s=10) for _ in range(3)))

    assert found == ["seen"] * 3
    assert slack.times == 3


async def test_who_waited_for_one_slow_look_at_the_account_is_served_by_it() -> None:
    clock = FrozenClock()
    looks, api = SharedLooks(), Asked(clock, fails=False)

    found = await asyncio.gather(*(looks.lately("account", api, clock, within_s=1) for _ in range(8)))

    assert found == ["seen"] * 8
    assert api.times == 1
    await looks.lately("account", api, clock, within_s=1)
    assert api.times == 2, "it began long ago by now"


async def test_looks_at_ever_more_people_do_not_fill_the_memory() -> None:
    clock = FrozenClock()
    looks = SharedLooks()

    async def look() -> str:
        return "seen"

    for number in range(3 * MOST_KEPT):
        await looks.lately(number, look, clock, within_s=10)
        looks.note(("noted", number), clock.monotonic(), "seen", clock)

    assert len(looks._seen) <= MOST_KEPT
    assert len(looks._turns) <= MOST_KEPT
    assert looks.begun_at(("noted", 3 * MOST_KEPT - 1)) is not None


async def test_who_may_not_look_says_nothing_to_who_waits_or_comes_later() -> None:
    """It is asked only where a look is needed, and what it raises is nobody else's answer."""
    clock = FrozenClock()
    looks, slack = SharedLooks(), Asked(clock, fails=False)
    asked = list[str]()

    def too_much() -> None:
        asked.append("asked")
        raise TooMuch("Too much.")

    first, second, third = await asyncio.gather(
        looks.lately("account", slack, clock, within_s=1, first=too_much),
        looks.lately("account", slack, clock, within_s=1),
        looks.lately("account", slack, clock, within_s=1, first=too_much),
        return_exceptions=True,
    )

    assert isinstance(first, TooMuch)
    assert (second, third) == ("seen", "seen")
    assert (slack.times, len(asked)) == (1, 1)
    assert await looks.at("account", slack, clock, within_s=TIMEOUT_S + 1) == "seen"
