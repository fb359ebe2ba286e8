"""Work side by side: what fails is raised as it is."""

from __future__ import annotations

import asyncio
import logging

import pytest

from bot.together import Together, each


async def fails(error: Exception, after: int = 1) -> None:
    for _ in range(after):
        await asyncio.sleep(0)
    raise error


async def test_the_first_task_that_fails_ends_the_others_and_its_error_is_raised_itself() -> None:
    waiting = list[asyncio.Task[object]]()

    async def work() -> None:
        async with Together() as group:
            waiting.append(group.create_task(asyncio.Event().wait()))
            group.create_task(fails(KeyError("the first")))

    with pytest.raises(KeyError, match="the first"):
        await work()
    assert waiting[0].cancelled()


async def test_a_group_in_which_nothing_fails_ends_when_all_is_done() -> None:
    async with Together() as group:
        done = group.create_task(asyncio.sleep(0, "done"))
    assert done.result() == "done"


async def test_whoever_cancels_a_group_ends_what_is_under_way() -> None:
    async def work() -> None:
        async with Together() as group:
            group.create_task(asyncio.Event().wait())

    task = asyncio.create_task(work())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_of_each_all_are_done_before_the_first_error_is_raised(
    caplog: pytest.LogCaptureFixture,
) -> None:
    done = []

    async def work() -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        done.append("work")

    with caplog.at_level(logging.ERROR), pytest.raises(KeyError, match="a row"):
        await each([fails(KeyError("a row"), after=3), fails(OSError("no disk")), work()])
    assert done == ["work"]
    assert "no disk" in caplog.text, "what is not raised is not lost"
    assert await each([asyncio.sleep(0, 1), asyncio.sleep(0, 2)]) == [1, 2]
