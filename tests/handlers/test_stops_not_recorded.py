"""What a person reads whose pause, "no" or withdrawal the database does not take: the truth, at every door."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy import Insert, Update

from bot.domain.requests import State
from bot.services.operators import late_stops
from handlers.views import ids
from storage.operators import pauses
from storage.transaction import Tx
from tests.handlers.slack_driver import ALICE, CAROL, OPS, SlackDriver
from tests.services.outcome_steps import top_ups

#: Nothing can be recorded from here on; and it can again.
Breaks = Callable[[], None]
BROKEN = {"audit_head", "person"}


@pytest.fixture
def breaks(monkeypatch: pytest.MonkeyPatch) -> Breaks:
    run = Tx.run

    async def fails(tx: Tx, statement: Any, *args: Any) -> Any:
        if isinstance(statement, Insert | Update) and str(statement.table) in BROKEN:
            raise OverflowError("Python int too large to convert to SQLite INTEGER")
        return await run(tx, statement, *args)

    return lambda: monkeypatch.setattr(Tx, "run", fails)


async def by_command(driver: SlackDriver, _request: str, breaks: Breaks) -> None:
    breaks()
    await driver.command(CAROL, "/countersign pause main stolen key")


async def on_home(driver: SlackDriver, _request: str, breaks: Breaks) -> None:
    home = await driver.home(CAROL)
    await driver.act("click", {"user": CAROL, "view_id": home["id"], "action_id": "sending:pause:main"})
    breaks()
    await driver.submit(CAROL, {"reason": "stolen"})


async def rejecting(driver: SlackDriver, request: str, breaks: Breaks) -> None:
    await driver.press(CAROL, await driver.card(request), "request:reject")
    breaks()
    await driver.submit(CAROL, {"reason": "no"})


async def cancelling(driver: SlackDriver, request: str, breaks: Breaks) -> None:
    value = f"cancel:{ids.stamp(request, (await driver.newest()).version)}"
    await driver.press(ALICE, await driver.card(request), "request:more", value=value)
    breaks()
    await driver.submit(ALICE)


async def rejecting_from_the_click_on(driver: SlackDriver, request: str, breaks: Breaks) -> None:
    card = await driver.card(request)
    breaks()
    await driver.press(CAROL, card, "request:reject")
    await driver.submit(CAROL, {"reason": "no"})


async def cancelling_from_the_click_on(driver: SlackDriver, request: str, breaks: Breaks) -> None:
    value = f"cancel:{ids.stamp(request, (await driver.newest()).version)}"
    card = await driver.card(request)
    breaks()
    await driver.press(ALICE, card, "request:more", value=value)
    await driver.submit(ALICE)


async def _read_by(driver: SlackDriver, who: str) -> str:
    """All that they have before them."""
    shown: list[Any] = [await driver.messages(who, channel) for channel in (OPS, f"D0{who[2:]}")]
    with suppress(Exception):
        shown.append(await driver.modal(who))
    return json.dumps(shown)


@pytest.mark.parametrize(
    "door",
    [
        *(by_command, on_home, rejecting, cancelling),
        *(rejecting_from_the_click_on, cancelling_from_the_click_on),
    ],
)
async def test_the_person_reads_what_is_held_and_that_it_is_tried_again(
    driver: SlackDriver,
    monkeypatch: pytest.MonkeyPatch,
    breaks: Breaks,
    door: Callable[[SlackDriver, str, Breaks], Awaitable[None]],
) -> None:
    request = await driver.ask_top_up()
    run = Tx.run
    await door(driver, request.id, breaks)
    monkeypatch.setattr(Tx, "run", run)

    await driver.world.approve(request)
    said = await _read_by(driver, ALICE if door in (cancelling, cancelling_from_the_click_on) else CAROL)
    assert "This is not recorded yet" in said
    await driver.world.run_due()
    assert top_ups(driver.world) == []

    async def say(_text: str, _whom: Any) -> None:
        raise AssertionError("an alert can be stored")

    await late_stops.LateStops(driver.core, say).look()
    async with driver.core.store.read() as tx:
        is_paused = await pauses.of(tx, "main") is not None
    assert is_paused or (await driver.newest()).state is State.CANCELLED
    await driver.world.run_due()
    assert top_ups(driver.world) == []
