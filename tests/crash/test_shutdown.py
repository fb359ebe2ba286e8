"""SIGTERM with work under way: it ends in time, and what was begun is begun no second time."""

import asyncio
import random
import time
from pathlib import Path

import pytest

from tests.crash.invariants import violations
from tests.crash.outside import Outside, outside
from tests.crash.people_at_work import Operators
from tests.crash.process import BotProcess, Refused
from tests.crash.programme import TOPUP
from tests.support.waiting import eventually

LIMIT_S = 10.0


async def _until_sent(world: Outside) -> None:
    """Until an attempt has been written and not answered: the call is under way."""
    await eventually(
        "a call is under way", lambda: world.rows("SELECT id FROM attempt WHERE answered_at IS NULL")
    )


async def _top_up_under_way(world: Outside, api_takes_s: float) -> Operators:
    operators = Operators(world, random.Random(1))
    world.tell_partner("faults", {"operation": TOPUP, "effect": "delay", "seconds": api_takes_s})
    await world.bot.start()
    assert await operators.ask("U0ALICE", "card_topup")
    await operators.approve_everything(10)
    await _until_sent(world)
    return operators


@pytest.mark.timed
@pytest.mark.parametrize("api_takes_s", [1.5, 30.0], ids=["a call that ends in time", "a call that does not"])
async def test_sigterm_in_mid_call_ends_in_time_and_pays_once(tmp_path: Path, api_takes_s: float) -> None:
    async with outside(tmp_path) as world:
        await _top_up_under_way(world, api_takes_s)
        in_time = api_takes_s < LIMIT_S

        began = time.monotonic()
        code = await world.bot.terminate()
        took_s = time.monotonic() - began

        assert code == 0, world.last_words()
        assert took_s < LIMIT_S
        (state,) = world.rows("SELECT state FROM request")[0]
        assert state == ("succeeded" if in_time else "executing"), "what ends in time is recorded"

        world.tell_partner("faults", method="DELETE")
        await world.bot.start()
        # The first call is still waiting inside the API: the same key finds it there.
        drained = await world.until_drained(20)
        found = await violations(world)
        print(
            f"\nSIGTERM: ended with {code} after {took_s:.1f} s, {world.bot.starts} starts, {len(found)} broken"
        )
        assert (drained, found) == (True, [])


@pytest.mark.timed
async def test_sigterm_while_slack_and_the_api_stand_still_ends_in_time(tmp_path: Path) -> None:
    async with outside(tmp_path) as world:
        await _top_up_under_way(world, 30.0)

        took_s = (
            world.bot.ended_after_sigterm_s()
        )  # both run in this process, which does nothing else meanwhile
        code = await world.bot.exit_code()

        assert took_s < LIMIT_S, f"{took_s:.1f} s"
        assert code == 0, world.last_words()


@pytest.mark.timed
async def test_sigterm_while_people_work_loses_nothing(tmp_path: Path) -> None:
    async with outside(tmp_path) as world:
        operators = Operators(world, random.Random(2))
        operators.patience_s = 10  # nobody kills the bot here: a window that is slow does come
        for _ in range(3):
            await world.bot.start()
            for person in ("U0ALICE", "U0DAVE"):
                assert await operators.ask(person, "card_topup")
            await eventually("Bob approves one", lambda: operators.approve_one("U0BOB"))
            began = time.monotonic()
            assert await world.bot.terminate() == 0, world.last_words()
            took_s = time.monotonic() - began
            assert took_s < LIMIT_S, f"{took_s:.1f} s"
            operators.go_home()

        await world.bot.start()
        flying = asyncio.create_task(world.let_time_fly())
        await operators.approve_everything(10)
        flying.cancel()
        assert await world.until_drained(20)
        assert len(world.rows("SELECT id FROM request WHERE state = 'succeeded'")) == 6
        assert await violations(world) == []


async def test_a_second_process_on_one_sqlite_file_refuses_and_the_first_works_on(tmp_path: Path) -> None:
    async with outside(tmp_path) as world:
        operators = Operators(world, random.Random(3))
        await world.bot.start()
        second = await world.bot.sibling()
        try:
            await _refuses(second)
        finally:
            await second.close()

        assert await operators.ask("U0ALICE", "card_topup")
        await operators.approve_everything(10)
        assert await world.until_drained(20)
        assert await violations(world) == []


async def _refuses(second: BotProcess) -> None:
    with pytest.raises(Refused, match=r"Another Countersign process is using .+bot\.db\. Stop it first"):
        await second.start()
    assert await second.exit_code() == 1
