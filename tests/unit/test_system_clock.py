"""The machine's clock, which everything outside tests is handed: freezegun holds the machine still."""

import asyncio
from datetime import UTC, datetime

from freezegun import freeze_time

from bot.domain.time import SystemClock

MORNING = datetime(2026, 3, 29, 1, 30, tzinfo=UTC)


def test_the_time_is_the_machines_as_aware_utc() -> None:
    with freeze_time(MORNING):
        now = SystemClock().now()

    assert now == MORNING
    assert now.tzinfo is UTC


def test_a_duration_is_what_passed_between_two_readings() -> None:
    clock = SystemClock()
    with freeze_time(MORNING) as machine:
        before = clock.monotonic()
        machine.tick(2.5)

        assert clock.monotonic() - before == 2.5


async def test_a_sleeper_wakes_when_its_time_has_passed_and_not_before() -> None:
    with freeze_time(MORNING) as machine:
        sleeper = asyncio.create_task(SystemClock().sleep(30))
        await others_run()
        machine.tick(29)
        await others_run()
        assert not sleeper.done()

        machine.tick(1.1)
        await others_run()
        assert sleeper.done()


async def test_sleeping_for_less_than_nothing_lets_the_others_run_once() -> None:
    seen: list[str] = []

    async def other() -> None:
        seen.append("the other")

    with freeze_time(MORNING):
        task = asyncio.create_task(other())
        await SystemClock().sleep(-1)
        seen.append("the sleeper")

    await task
    assert seen == ["the other", "the sleeper"]


async def others_run() -> None:
    """Whatever the loop has to do now is done."""
    for _ in range(5):
        await asyncio.sleep(0)
