"""People are shown by their display names: no message, window or Home shows a handle or a bare Slack id."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bot.services import execution
from bot.services.messages import reminders
from tests.handlers.slack_driver import ALICE, BOB, CAROL, OPS, Json, SlackDriver

ALERTS = "C0ALERTS"
PEOPLE = (ALICE, BOB, CAROL)
# What Slack draws as a name by itself, and addresses, which nobody reads.
_DRAWN_BY_SLACK = re.compile(r"<[@#!][^>]*>|<https?://[^|>]*(?:\|[^>]*)?>")
_HANDLE = re.compile(r"\b(?:alice|bob|carol)\b|\b[UW]0[A-Z0-9]{3,}\b")


def texts(view: Any) -> Iterator[str]:
    """Every text in a message or a view, as people see it."""
    if isinstance(view, dict):
        for name, value in view.items():
            if name in ("text", "alt_text", "label") and isinstance(value, str):
                yield _DRAWN_BY_SLACK.sub("", value)
            elif name not in ("channel", "user", "value"):
                yield from texts(value)
    elif isinstance(view, list):
        for value in view:
            yield from texts(value)


async def handles(driver: SlackDriver) -> list[str]:
    """What anybody sees now that is a handle or an id, with the text around it."""
    found = []
    for person in PEOPLE:
        seen = await driver.see(person)
        said = [m for c in seen["channels"] for m in c["messages"] if m["is_app"]]
        for view in (*said, *seen["views"], seen["home"] or {}):
            found += [text for text in texts(view) if _HANDLE.search(text)]
    return found


async def decided(driver: SlackDriver, request_id: str, person: str, button: str, typed: Json) -> None:
    await driver.press(person, await driver.card(request_id), f"request:{button}")
    assert await handles(driver) == []
    await driver.submit(person, typed)


async def test_no_handle_is_shown_however_far_a_request_gets(driver: SlackDriver) -> None:
    done = await driver.ask_top_up(amount="120", reason="Hotel in Porto for the trade fair")
    await decided(driver, done.id, BOB, "approve", {})
    await execution.execute(driver.core, done.id)
    rejected = await driver.ask_top_up(amount="600", reason="New laptop for the design team")
    await decided(driver, rejected.id, CAROL, "approve", {})
    await driver.world.advance(20 * 60)
    await reminders.remind(driver.core)
    await driver.settle()
    await decided(driver, rejected.id, BOB, "reject", {"reason": "Order it through IT"})
    await driver.command(ALICE, f"/card freeze {driver.world.cards[1]['id']}")
    await driver.submit(ALICE, {"reason": "Lost on the train to Porto", "run_now": ["yes"]})
    await driver.submit(ALICE)
    frozen = await driver.newest()
    await execution.execute(driver.core, frozen.id)
    await driver.settle()
    await driver.press(BOB, await driver.card(frozen.id), "request:confirm")
    cancelled = await driver.ask_top_up(amount="30", reason="Taxi to the airport")
    await driver.command(ALICE, f"/requests cancel {cancelled.id}")

    assert await handles(driver) == []


async def test_no_handle_is_shown_by_a_pause_a_hand_over_an_export_or_an_alert(driver: SlackDriver) -> None:
    await driver.ask_top_up(amount="120", reason="Hotel in Porto for the trade fair")
    for text in ("pause main the key may be stolen", "resume main", "handover Mind the top-up"):
        await driver.command(BOB, f"/countersign {text}")
    await driver.press(BOB, await driver.shown_to(BOB), "answer:page:post", channel=OPS)
    for message in await driver.messages(CAROL, ALERTS):
        for action in ("alert:assign", "alert:ack", "alert:take_over", "alert:confirm"):
            if action in str(message):
                await driver.press(CAROL, message, action, ALERTS)
    await driver.settle()

    assert len(await driver.messages(CAROL, ALERTS)) > 3
    assert await handles(driver) == []


async def test_no_handle_is_shown_by_a_look_up_or_by_home(driver: SlackDriver) -> None:
    await driver.ask_top_up(amount="120", reason="Hotel in Porto for the trade fair")
    request = await driver.newest()
    for person in PEOPLE:
        for text in (
            *("requests", "requests all", f"requests show {request.id}", f"requests verify {request.id}"),
            *("countersign status", "countersign policy", "countersign who topup", "countersign people"),
            *("countersign alerts", "countersign export audit today", "requests by <@U0ALICE>"),
            f"card show {driver.world.cards[0]['last4']}",
        ):
            await driver.command(person, f"/{text}")
        await driver.home(person)

    assert await handles(driver) == []
