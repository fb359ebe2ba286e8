"""Timers really run what they are given, and the carrier survives what it carries."""

import asyncio

from bot.engine.embedded import Embedded
from bot.engine.timers import Timers
from tests.support.waiting import eventually


async def test_a_timer_runs_its_job_even_when_it_is_a_lambda_and_after_it_failed() -> None:
    runs: list[int] = []

    async def job(fails: bool) -> None:
        runs.append(1)
        if fails:
            raise RuntimeError("the first run breaks")

    timers = Timers()
    timers.every("job", 0.05, lambda: job(len(runs) == 0))
    timers.start()
    try:
        await eventually(lambda: len(runs) >= 3, "two more runs of a job whose first run broke")
    finally:
        timers.stop()


async def test_the_sweep_takes_up_what_no_wake_up_told_of_and_what_broke() -> None:
    due = {"R-1": 2, "R-2": 1}

    async def execute(request_id: str) -> None:
        due[request_id] -= 1
        if due[request_id]:
            raise RuntimeError("the first try breaks")
        del due[request_id]

    async def ids() -> list[str]:
        return list(due)

    carrier = Embedded(sweep_every_s=0.05)
    running = asyncio.create_task(carrier.run(ids, execute))
    try:
        await eventually(lambda: not due, "the sweep executed both requests, the broken one again")
    finally:
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

    def woken() -> bool:
        carrier.wake("R-1")
        return runs >= 5

    try:
        await eventually(woken, "five executions of one request", every_s=0.001)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    await carrier.drain(1)

    assert most == 1
