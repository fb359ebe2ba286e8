"""Timers run what they are given at its time, and the carrier survives what it carries.

Freezegun holds every clock of the machine: the wall clock of APScheduler's triggers and the loop's own.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from freezegun import freeze_time
from freezegun.api import FrozenDateTimeFactory, StepTickTimeFactory, TickingDateTimeFactory

from bot.engine.embedded import Embedded
from bot.engine.timers import Timers
from tests.support.waiting import eventually


@dataclass
class Machine:
    """A machine whose clocks only a test moves, and a job; `runs` are seconds since the machine was started."""

    clocks: FrozenDateTimeFactory | StepTickTimeFactory | TickingDateTimeFactory
    may_end: asyncio.Event = field(default_factory=asyncio.Event)
    passed: float = 0
    runs: list[float] = field(default_factory=list)

    async def job(self) -> None:
        self.runs.append(self.passed)
        await self.may_end.wait()

    async def passes(self, seconds: float) -> None:
        """Time jumps, as it does for a process that was suspended, and the loop does what is due."""
        self.clocks.tick(seconds)
        self.passed += seconds
        for _ in range(10):
            await asyncio.sleep(0)


@contextmanager
def a_machine() -> Iterator[Machine]:
    with freeze_time(datetime(2026, 3, 2, 9, 0, tzinfo=UTC)) as clocks:
        machine = Machine(clocks)
        machine.may_end.set()
        yield machine


@asynccontextmanager
async def a_timer(
    seconds: float, job: Callable[[Machine], Awaitable[None]] = Machine.job
) -> AsyncIterator[Machine]:
    """The machine with one timer, just started."""
    with a_machine() as machine:
        timers = Timers()
        timers.every("job", seconds, lambda: job(machine))
        timers.start()
        await machine.passes(0)
        try:
            yield machine
        finally:
            timers.stop()
            machine.may_end.set()
            await machine.passes(0)


async def test_a_timer_runs_its_job_even_when_it_is_a_lambda_and_after_it_failed() -> None:
    async def fails_at_first(machine: Machine) -> None:
        await machine.job()
        if len(machine.runs) == 1:
            raise RuntimeError("the first run breaks")

    async with a_timer(60, fails_at_first) as machine:
        for run in range(1, 4):
            await machine.passes(67)
            assert len(machine.runs) == run


async def test_a_timer_runs_once_each_cadence_and_at_most_a_tenth_later() -> None:
    async with a_timer(60) as machine:
        for _ in range(20 * 66):
            await machine.passes(1)

    gaps = {later - sooner for sooner, later in pairwise([0, *machine.runs])}
    assert len(machine.runs) >= 20
    assert min(gaps) >= 59  # a run is seen at the full second after it
    assert max(gaps) <= 67
    assert max(gaps) - min(gaps) >= 2, "timers of one cadence beat together"


@pytest.mark.parametrize("seconds", [60, 3600, 86400])
async def test_runs_missed_while_the_machine_was_suspended_are_folded_into_one(seconds: float) -> None:
    async with a_timer(seconds) as machine:
        await machine.passes(5.5 * seconds)
        assert len(machine.runs) == 1

        await machine.passes(1.2 * seconds)
        assert len(machine.runs) == 2, "the cadence goes on"


async def test_a_timer_does_not_run_while_its_last_run_goes_on() -> None:
    async with a_timer(60) as machine:
        machine.may_end.clear()
        for _ in range(4):
            await machine.passes(67)
        assert len(machine.runs) == 1

        machine.may_end.set()
        await machine.passes(0)
        await machine.passes(67)
        assert len(machine.runs) == 2


async def test_the_sweep_takes_up_what_no_wake_up_told_of_and_what_broke() -> None:
    due = {"R-1": 2, "R-2": 1}

    async def execute(request_id: str) -> None:
        due[request_id] -= 1
        if due[request_id]:
            raise RuntimeError("the first try breaks")
        del due[request_id]

    async def ids() -> list[str]:
        return list(due)

    carrier = Embedded(sweep_every_s=2)
    with a_machine() as machine:
        running = asyncio.create_task(carrier.run(ids, execute))
        await machine.passes(0)
        assert due == {}, "the one that broke is taken up again at once"

        due["R-3"] = 1
        await machine.passes(1.9)
        assert due == {"R-3": 1}, "nobody told of it"
        await machine.passes(0.2)
        assert due == {}
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_one_request_is_never_executed_twice_at_once() -> None:
    inside = 0
    most = 0
    runs = 0

    async def execute(_: str) -> None:
        nonlocal inside, most, runs
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.01)
        inside -= 1
        runs += 1

    async def ids() -> list[str]:
        return ["R-1"]

    carrier = Embedded(sweep_every_s=0.001)
    running = asyncio.create_task(carrier.run(ids, execute))

    def ran_often() -> bool:
        carrier.wake("R-1")
        return runs >= 5

    await eventually("five runs of the request", ran_often, every_s=0.001)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await carrier.drain(1)

    assert most == 1
