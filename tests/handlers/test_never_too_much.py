"""A pause, a "no" and a freeze are done for a person who did all else that they may within a minute, at every door."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from bot.domain.errors import TooMuch
from bot.domain.requests import State
from bot.services import people
from handlers import budget
from storage.operators import pauses
from tests.conftest import MOST_DONE, MOST_LOOKS
from tests.handlers.slack_driver import ALICE, BOB, SlackDriver
from tests.support.situations import card_status

pytestmark = pytest.mark.by_turns(3)

Busy = Callable[[SlackDriver, str], Awaitable[None]]


async def many_looks(driver: SlackDriver, who: str) -> None:
    with suppress(TooMuch):
        for _ in range(MOST_LOOKS + 1):
            await people.member(driver.core, who)
    await _a_moment_later(driver)


async def many_things(driver: SlackDriver, who: str) -> None:
    for _ in range(MOST_DONE):
        await driver.command(who, "/countersign nonsense", settle=False)
    await driver.settle()
    await _a_moment_later(driver)


async def _a_moment_later(driver: SlackDriver) -> None:
    """Past what a look that only answers serves for."""
    driver.world.clock.advance(people.ANSWERED_WITHIN_S + 1)
    await driver.tell("clock", {"advance_seconds": people.ANSWERED_WITHIN_S + 1})


async def _is_paused(driver: SlackDriver) -> bool:
    async with driver.core.store.read() as tx:
        return bool(await pauses.all(tx))


async def by_command(driver: SlackDriver, busy: Busy) -> None:
    await busy(driver, BOB)
    await driver.command(BOB, "/countersign pause main stolen key")
    assert await _is_paused(driver)


async def by_message(driver: SlackDriver, busy: Busy) -> None:
    await busy(driver, BOB)
    await driver.message(BOB, "countersign pause main stolen key", "D0BOB")
    assert await _is_paused(driver)


async def in_plain_english(driver: SlackDriver, busy: Busy) -> None:
    await busy(driver, BOB)
    await driver.message(BOB, "pause everything!", "D0BOB")
    said = (await driver.messages(BOB, "D0BOB"))[-1]
    await driver.press(BOB, said, "sending:pause:0", "D0BOB")
    await driver.submit(BOB, {"reason": "stolen"})
    assert await _is_paused(driver)


async def on_home(driver: SlackDriver, busy: Busy) -> None:
    home = await driver.home(BOB)
    await busy(driver, BOB)
    await driver.act("click", {"user": BOB, "view_id": home["id"], "action_id": "sending:pause:main"})
    await driver.submit(BOB, {"reason": "stolen"})
    assert await _is_paused(driver)


async def freeze_now(driver: SlackDriver, busy: Busy) -> None:
    await busy(driver, BOB)
    await driver.command(BOB, f"/card freeze {driver.world.cards[0]['id']} lost")
    await driver.submit(BOB, {"reason": "lost", "run_now": ["yes"]})
    await driver.submit(BOB)
    await driver.world.run_due()
    assert await card_status(driver.world, 0) == "FROZEN"


async def rejecting(driver: SlackDriver, busy: Busy) -> None:
    request = await driver.ask_top_up()
    card = await driver.card(request.id)
    await busy(driver, BOB)
    await driver.press(BOB, card, "request:reject")
    await driver.submit(BOB, {"reason": "no"})
    assert (await driver.newest()).state is State.REJECTED


async def cancelling(driver: SlackDriver, busy: Busy) -> None:
    request = await driver.ask_top_up()
    await busy(driver, ALICE)
    await driver.command(ALICE, f"/requests cancel {request.id}")
    assert (await driver.newest()).state is State.CANCELLED


@pytest.mark.parametrize("busy", [many_looks, many_things])
@pytest.mark.parametrize(
    "door", [by_command, by_message, in_plain_english, on_home, freeze_now, rejecting, cancelling]
)
async def test_what_only_stops_something_is_done_for_whoever_did_too_much(
    driver: SlackDriver,
    monkeypatch: pytest.MonkeyPatch,
    door: Callable[[SlackDriver, Busy], Awaitable[None]],
    busy: Busy,
) -> None:
    monkeypatch.setattr(people, "MOST_LOOKS", MOST_LOOKS)
    monkeypatch.setattr(budget, "MOST_DONE", MOST_DONE)

    await door(driver, busy)
