"""Timers run what they are given at its time, and the carrier survives what it carries.

Freezegun holds every clock of the machine: the wall clock of APScheduler's triggers and the loop's own.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from freezegun import freeze_time
from freezegun.api import FrozenDateTimeFactory, StepTickTimeFactory, TickingDateTimeFactory

from bot.engine.carried import Due, Execute
from bot.engine.embedded import Embedded
from bot.engine.timers import Timers


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


@dataclass(frozen=True)
class Lane:
    """A queue of the carrier."""

    name: str
    ids: list[str]
    at_once: int | None = 8


def lanes(*named: tuple[str, Iterable[str], int | None]) -> Due:
    """A database that names these ids as due, whatever becomes of them: name of the queue, ids, slots."""

    async def due(but_not: Collection[str]) -> list[Lane]:
        return [Lane(name, [i for i in ids if i not in but_not], at_once) for name, ids, at_once in named]

    return due


@asynccontextmanager
async def a_carrier(due: Due, execute: Execute) -> AsyncIterator[tuple[Embedded, Machine]]:
    """The carrier, running, on a machine whose clocks the test moves."""
    carrier = Embedded(sweep_every_s=2)
    with a_machine() as machine:
        running = asyncio.create_task(carrier.run(due, execute))
        await machine.passes(0)
        try:
            yield carrier, machine
        finally:
            running.cancel()
            draining = asyncio.create_task(carrier.drain(0))
            await machine.passes(0)
            await machine.passes(1)
            await asyncio.gather(running, draining, return_exceptions=True)


async def test_the_sweep_takes_up_what_no_wake_up_named_and_what_broke() -> None:
    due = {"R-1": 2, "R-2": 1}

    async def execute(request_id: str) -> None:
        due[request_id] -= 1
        if due[request_id]:
            raise RuntimeError("the first try breaks")
        del due[request_id]

    async with a_carrier(lanes(("main", due, 8)), execute) as (_, machine):
        assert due == {"R-1": 1}, "the one that broke rests for a moment"
        await machine.passes(2.1)
        assert due == {}, "and is taken up again by the next sweep"

        due["R-3"] = 1
        await machine.passes(1.7)
        assert due == {"R-3": 1}, "nobody told of it"
        await machine.passes(0.4)
        assert due == {}


async def test_a_job_that_still_runs_when_it_is_due_again_is_no_news(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """While the API stands still, every job would say so every few seconds."""
    with a_machine() as machine:
        machine.may_end.clear()
        timers = Timers()
        timers.every("job", 5, machine.job)
        timers.start()
        for _ in range(4):
            await machine.passes(6)
        machine.may_end.set()
        await machine.passes(0)
        timers.stop()

    assert len(machine.runs) == 1
    assert caplog.messages == []


async def test_one_request_is_never_executed_twice_at_once() -> None:
    inside = 0
    most = 0
    runs = 0

    async def execute(_: str) -> None:
        nonlocal inside, most, runs
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0)
        inside -= 1
        runs += 1

    async with a_carrier(lanes(("main", ["R-1"], 8)), execute) as (carrier, machine):
        for _ in range(9):
            carrier.wake("R-1")
            await machine.passes(0)

    assert runs >= 5
    assert most == 1


class Calls:
    """Executions that last until the test ends them, and how often each id was executed."""

    def __init__(self, *hanging: str) -> None:
        self.hanging = hanging
        self.counts: Counter[str] = Counter()
        self.may_end = asyncio.Event()

    async def execute(self, request_id: str) -> None:
        self.counts[request_id] += 1
        if request_id.startswith(self.hanging):
            await self.may_end.wait()


async def test_a_hundred_hanging_calls_cost_what_is_urgent_nothing() -> None:
    calls = Calls("R-")
    due = lanes(("main", [f"R-{n}" for n in range(100)], 8), ("urgent", ["F-1"], None))

    async with a_carrier(due, calls.execute) as (_, machine):
        await machine.passes(0)

        assert calls.counts["F-1"] == 1
        assert len(calls.counts) == 9, "eight of the others are under way"


async def test_a_hundred_urgent_calls_that_hang_do_not_wait_for_one_another() -> None:
    calls = Calls("F-")

    async with a_carrier(lanes(("urgent", [f"F-{n}" for n in range(100)], None)), calls.execute):
        assert len(calls.counts) == 100


async def test_a_program_whose_calls_hang_starves_no_other() -> None:
    calls = Calls("SLOW-")
    due = lanes(("slow", [f"SLOW-{n}" for n in range(100)], 8), ("main", ["R-1", "R-2"], 8))

    async with a_carrier(due, calls.execute):
        assert calls.counts["R-1"] == calls.counts["R-2"] == 1


async def test_a_free_slot_is_used_at_once_while_more_is_waiting() -> None:
    left = [f"R-{n}" for n in range(30)]
    passed = 0.0

    async def execute(request_id: str) -> None:
        await asyncio.sleep(0)
        left.remove(request_id)

    async with a_carrier(lanes(("main", left, 8)), execute) as (_, machine):
        while left and passed < 10:
            await machine.passes(0)
            passed += 0.1

    assert left == []


@pytest.mark.parametrize("breaks", [True, False], ids=["it breaks", "nothing comes of it"])
async def test_what_is_due_again_and_again_is_tried_less_and_less(breaks: bool) -> None:
    tries = 0

    async def execute(_: str) -> None:
        nonlocal tries
        tries += 1
        if breaks:
            raise RuntimeError("always")

    async with a_carrier(lanes(("main", ["R-1"], 8)), execute) as (carrier, machine):
        for _ in range(600):
            await machine.passes(1)
        assert 8 <= tries <= 20, "1, 2, 4 s and so on, then once a minute"

        before = tries
        carrier.wake("R-1")
        await machine.passes(0)
        assert tries == before + 1, "whoever made it due has it tried at once"


async def test_after_it_was_closed_nothing_is_taken_up_and_what_runs_is_waited_for() -> None:
    calls = Calls("R-1")
    due: list[str] = ["R-1"]

    async with a_carrier(lanes(("main", due, 8)), calls.execute) as (carrier, machine):
        carrier.close()
        due += ["R-2", "R-3"]
        carrier.wake("R-2")
        await machine.passes(5)
        assert set(calls.counts) == {"R-1"}

        draining = asyncio.create_task(carrier.drain(8))
        await machine.passes(7)
        assert not draining.done()
        calls.may_end.set()
        await machine.passes(0.1)
        assert draining.done()
