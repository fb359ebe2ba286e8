"""A pause, a "no" and a freeze are done for a person who did all else that they may within a minute, at every door."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot import operations
from bot.domain.errors import TooMuch
from bot.domain.requests import State
from bot.services import people
from handlers import budget, safer
from handlers.deps import Deps
from handlers.guard import Turn
from handlers.views import ids
from storage.operators import pauses
from tests.conftest import MOST_DONE, MOST_LOOKS
from tests.handlers.every_view import MESSAGES, VIEWS
from tests.handlers.slack_driver import ALICE, BOB, SlackDriver
from tests.support.situations import card_status

pytestmark = pytest.mark.by_turns(3)

Json = dict[str, Any]
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


async def cancelling_under_the_dots(driver: SlackDriver, busy: Busy) -> None:
    request = await driver.ask_top_up()
    card = await driver.card(request.id)
    await busy(driver, ALICE)
    await driver.press(ALICE, card, "request:more", value=f"cancel:{ids.stamp(request.id, request.version)}")
    await driver.submit(ALICE)
    assert (await driver.newest()).state is State.CANCELLED


def freezing_in_plain_english(verb: str) -> Callable[[SlackDriver, Busy], Awaitable[None]]:
    async def door(driver: SlackDriver, busy: Busy) -> None:
        await busy(driver, BOB)
        await driver.message(BOB, f"{verb} {driver.world.cards[0]['last4']}", "D0BOB")
        said = (await driver.messages(BOB, "D0BOB"))[-1]
        await driver.press(BOB, said, _review_in(said), "D0BOB")
        await driver.submit(BOB, {"reason": "lost", "run_now": ["yes"]})
        await driver.submit(BOB)
        await driver.world.run_due()
        assert await card_status(driver.world, 0) == "FROZEN"

    door.__name__ = verb
    return door


def _review_in(said: Json) -> str:
    shown = [one for block in said["blocks"] for one in block.get("elements", [])]
    return str(next(one["action_id"] for one in shown if one.get("action_id", "").startswith("say:review")))


async def much_english(driver: SlackDriver, who: str) -> None:
    """As many messages as are read within a minute, and then some."""
    for _ in range(budget.MOST + 5):
        await driver.message(who, "what is our float today?", "D0BOB")
    await _a_moment_later(driver)


@pytest.mark.parametrize(
    "door", [in_plain_english, *map(freezing_in_plain_english, ("freeze", "lock", "turn off card", "❄️"))]
)
async def test_what_stops_something_is_read_where_other_plain_english_is_not(
    driver: SlackDriver, door: Callable[[SlackDriver, Busy], Awaitable[None]]
) -> None:
    await door(driver, much_english)


#: Each thing to press that a view shows, and of menus the choices: does it stop something, or may it?
IS_SAFER = {
    **dict.fromkeys(("request:reject", "request:cancel", "request:more cancel", "sending:pause"), True),
    **dict.fromkeys(("alert:decline", "bulk:leave_out"), True),
    **dict.fromkeys(("form:open card freeze", "alert:remedy", "bulk:review", "draft:edit"), True),
    **dict.fromkeys((f"say:{one}" for one in ("forget", "pick", "review", "stay", "switch", "look", "else")), True),
    **dict.fromkeys((f"request:{one}" for one in ("again", "approve", "confirm", "details")), False),
    **dict.fromkeys((f"request:{one}" for one in ("resolve", "rows", "undo", "try_now", "more details")), False),
    **dict.fromkeys((f"alert:{one}" for one in ("ack", "assign", "confirm", "resume", "snooze")), False),
    **dict.fromkeys((f"alert:{one}" for one in ("take_over", "try_now", "redeliver", "show_card")), False),
    **dict.fromkeys(("alert:more assign", "alert:more resolve", "form:open", "sending:resume"), False),
    **dict.fromkeys((f"answer:{one}" for one in ("look", "page", "share")), False),
    **dict.fromkeys(("bulk:back", "bulk:on", "reveal:new_link", "passkey:page"), False),
}  # fmt: skip


def _pressed(shown: Any) -> Iterator[tuple[str, Json]]:
    """Its name in the table above, and what Slack sends when it is pressed."""
    if isinstance(shown, list):
        for one in shown:
            yield from _pressed(one)
    elif isinstance(shown, dict):
        action = str(shown.get("action_id", ""))
        if action and not action.startswith("value"):
            name = ":".join(action.split(":")[:2])
            for option in shown.get("options", ()):
                yield _named(name, option["value"]), {"action_id": action, "selected_option": option}
            if "options" not in shown:
                yield (
                    _named(name, shown.get("value", "")),
                    {"action_id": action, "value": shown.get("value", "")},
                )
        yield from _pressed([*shown.values()])


def _named(name: str, value: str) -> str:
    if name in ("request:more", "alert:more"):
        return f"{name} {value.partition(':')[0]}"
    return f"{name} card freeze" if name == "form:open" and value.startswith("card freeze") else name


def test_all_that_can_be_pressed_is_known_to_stop_something_or_not() -> None:
    wrong, deps = [], cast(Deps, SimpleNamespace(core=SimpleNamespace(kinds=operations.kinds())))
    for draw in (*MESSAGES.values(), *VIEWS.values()):
        for name, action in _pressed(draw("Marta Kowalska")):
            body = {"type": "block_actions", "actions": [action]}
            turn = Turn(deps, body, cast(Any, None), None, cast(Any, None))
            if name not in IS_SAFER or safer.is_safer(turn) is not IS_SAFER[name]:
                wrong.append((name, action))
    assert wrong == []


@pytest.mark.parametrize("busy", [many_looks, many_things])
@pytest.mark.parametrize(
    "door",
    [
        *(by_command, by_message, in_plain_english, on_home, freeze_now, rejecting, cancelling),
        cancelling_under_the_dots,
        *map(freezing_in_plain_english, ("freeze", "lock", "turn off card", "❄️")),
    ],
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
