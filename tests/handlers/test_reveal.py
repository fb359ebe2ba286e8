"""`/card reveal`: from the command through a second person to a link that one person sees."""

from __future__ import annotations

import json
import re
from typing import Any

from bot.domain.card_details import Manner, Reveals
from bot.domain.requests import Request
from bot.partner.secret import Secret
from bot.services import execution
from bot.services.execution import card_details_access
from tests.handlers.slack_driver import ALICE, APPROVALS, BOB, CAROL, OPS, SlackDriver

LINK = re.compile(r"https://countersign\.example\.com/details#[A-Za-z0-9_-]{43}")


def links(seen: Any) -> set[str]:
    return set(LINK.findall(json.dumps(seen)))


async def eyes(driver: SlackDriver, user: str) -> Any:
    """What this person's Slack shows. The stand-in's list of all calls is for whoever tests, not theirs."""
    return {part: shown for part, shown in (await driver.see(user)).items() if part != "wire"}


async def approved(driver: SlackDriver) -> Request:
    """Alice asks in the channel, Bob approves, the executor has it; every message is out."""
    await driver.command(ALICE, f"/card reveal {driver.world.cards[0]['id']}")
    await driver.submit(ALICE, {"reason": "Booking a hotel by phone"})
    preview = json.dumps(await driver.modal(ALICE))
    assert "the requester alone, in a browser, once" in preview
    await driver.submit(ALICE)
    request = await driver.newest()
    await driver.press(BOB, await driver.card(request.id), "request:approve", channel=APPROVALS)
    await driver.submit(BOB)
    await execution.execute(driver.core, request.id)
    await driver.settle()
    return request


async def direct(driver: SlackDriver) -> tuple[str, Any]:
    """Alice's conversation with the app, and the newest message with a link in it."""
    for channel in (await driver.see(ALICE))["channels"]:
        found = [message for message in channel["messages"] if links(message)]
        if found:
            return str(channel["id"]), found[-1]
    raise AssertionError("Alice has no link")


async def test_the_link_is_seen_by_the_requester_alone_and_never_unfurled(driver: SlackDriver) -> None:
    request = await approved(driver)

    channel, message = await direct(driver)

    (url,) = links(message)
    assert channel.startswith("D")
    assert not links(message["text"]), "phones show the fallback text"
    for other in (BOB, CAROL):
        assert not links(await eyes(driver, other))
    card = await driver.card(request.id)
    assert "was sent to" in json.dumps(card)
    sent = [call["args"] for call in driver.slack.workspace.calls if links(call["args"])]
    assert [(args["unfurl_links"], args["unfurl_media"]) for args in sent] == [(False, False)]

    token = Secret(url.rpartition("#")[2])
    await card_details_access.open_link(driver.core, token, Manner.FRAME)
    await driver.settle()

    assert "opened the card details" in json.dumps(await driver.card(request.id))
    assert any("opened the card details" in line for line in await driver.thread(request.id))
    assert "/card-details/" not in json.dumps(await driver.state()), (
        "your card provider's address is in Slack"
    )


async def test_new_link_brings_another_message_and_only_to_who_asked(driver: SlackDriver) -> None:
    await approved(driver)
    channel, message = await direct(driver)
    first = links(message)

    await driver.press(ALICE, message, "reveal:new_link", channel=channel)

    _, newest = await direct(driver)
    assert links(newest)
    assert links(newest) != first
    assert not links(await eyes(driver, BOB))


async def test_where_no_browser_can_reach_the_bot_the_window_says_what_to_set(driver: SlackDriver) -> None:
    driver.world.rebuild(reveals=Reveals())

    await driver.command(ALICE, "/card reveal 4242", channel=OPS)

    window = await driver.modal(ALICE)
    assert "COUNTERSIGN_PUBLIC_URL" in json.dumps(window)
    assert "submit" not in window or window["submit"] is None
    assert await driver.requests() == []
