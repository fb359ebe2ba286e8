"""Draft only in Slack: every form, first line and Home say so, and a command and a second person end it."""

from __future__ import annotations

from bot.domain.requests import State
from bot.services import execution, requests
from bot.services.operators import draft_only
from tests.handlers.slack_driver import ALICE, BOB, CAROL, SlackDriver

ALERTS = "C0ALERTS"
REASON = "Flight to the Lisbon trade fair"


async def test_the_form_the_request_and_home_say_draft_only_until_two_people_switch_it_off(
    driver: SlackDriver,
) -> None:
    await draft_only.at_start(driver.core, is_on=True)
    card = driver.world.cards[0]["id"]

    await driver.command(ALICE, f"/card freeze {card}")
    assert "Nothing is sent to your card provider, Freeze now included." in str(await driver.modal(ALICE))
    await driver.submit(ALICE, {"reason": "Lost on the train to Porto", "run_now": ["yes"]})
    assert "It is *not* sent, and the card stays as it is." in str(await driver.modal(ALICE))
    await driver.close(ALICE)

    request = await driver.ask_top_up(amount="120", reason=REASON)
    posted = await driver.card(request.id)
    assert posted["text"].startswith("DRAFT ONLY · SANDBOX · Alice")
    await driver.press(BOB, posted, "request:approve")
    assert "Nothing is sent: it is a draft" in str(await driver.modal(BOB))
    await driver.submit(BOB)
    await execution.execute(driver.core, request.id)
    await driver.settle()
    waiting = str(await driver.card(request.id))
    assert "Draft only: nothing is sent to main." in waiting
    assert "DRAFT ONLY" in str(await driver.home(ALICE))

    await driver.world.advance(15 * 60 + 5)
    await requests.expire_due(driver.core)
    await driver.settle()
    assert (await driver.world.request(request.id)).state is State.EXPIRED
    assert "Draft only: nothing was sent to your card provider." in str(await driver.card(request.id))

    await driver.command(CAROL, "/countersign status")
    assert (await driver.shown_to(CAROL))["text"].startswith("DRAFT ONLY · Status")
    await driver.command(CAROL, "/countersign drafts off")
    assert "has to confirm it before anything is sent" in (await driver.shown_to(CAROL))["text"]
    question = next(m for m in await driver.messages(BOB, ALERTS) if "switch off draft only" in m["text"])
    assert question["text"].startswith("DRAFT ONLY · SANDBOX")
    await driver.press(BOB, question, "alert:confirm", ALERTS)
    await driver.settle()
    assert "DRAFT ONLY" not in str(await driver.home(ALICE))
    assert await driver.world.sent("POST /topup") == []
