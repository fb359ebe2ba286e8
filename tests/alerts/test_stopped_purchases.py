"""A purchase that a freeze of ours stopped: it is reported as what it is, and nobody is offered to undo the freeze.

What froze the card is a person's reason, such as a lost phone; whoever buys with it may be who found the phone.
"""

from __future__ import annotations

import pytest

from bot.domain.requests import State
from bot.services import execution
from tests.alerts.conftest import ALERTS, Desk
from tests.handlers.slack_driver import ALICE, BOB, OPS, card_option

REASON = "Lost phone"


async def frozen(desk: Desk, card: int = 0) -> str:
    """Alice freezes it now; the request's id."""
    world = desk.driver.world
    request = await world.ask(
        "card_freeze", {"card": world.cards[card]["id"]}, by=ALICE, reason=REASON, now=True
    )
    await execution.execute(world.core, request.id)
    assert (await world.request(request.id)).state is State.SUCCEEDED
    await desk.driver.world.advance(60)
    await desk.posted()
    return request.id


async def received(desk: Desk) -> None:
    await desk.log()
    await desk.handled()


async def test_a_purchase_that_a_freeze_stopped_says_who_froze_the_card_when_and_why(desk: Desk) -> None:
    request_id = await frozen(desk)
    await desk.buy("Corner Coffee", "12")
    await received(desk)

    answer = await desk.only()
    assert "Critical" not in answer
    for words in (
        "Stopped",
        "12.00 USD at Corner Coffee",
        "Frozen by Alice Moreau",
        REASON,
        request_id,
        "right",
    ):
        assert words in answer, words
    assert "unfreeze it" not in answer
    buttons = str((await desk.message())["blocks"])
    assert "alert:remedy" not in buttons

    await desk.press(ALICE, "alert:show_card")
    shown = await desk.driver.shown_to(ALICE, ALERTS)
    assert REASON in str(shown["blocks"])
    assert (await desk.driver.see(ALICE))["views"] == [], "a form was opened"


async def test_all_purchases_that_one_freeze_stopped_are_one_message(desk: Desk) -> None:
    await frozen(desk)
    for amount in ("12", "30", "99"):
        await desk.buy("Corner Coffee", amount)
    await received(desk)

    assert "Stopped 3 times" in await desk.only()


async def test_the_remedy_of_an_earlier_decline_never_unfreezes_a_card_that_was_frozen_for_a_reason(
    desk: Desk,
) -> None:
    await desk.buy("DECLINE insufficient_card_balance")
    await received(desk)
    await frozen(desk)

    await desk.press(ALICE, "alert:remedy")

    assert (await desk.driver.see(ALICE))["views"] == [], "a filled form was opened"
    assert REASON in str((await desk.driver.shown_to(ALICE, ALERTS))["blocks"])


async def test_a_remedy_is_a_form_with_the_name_of_the_card_and_a_reason_to_be_written(desk: Desk) -> None:
    await desk.buy("DECLINE insufficient_card_balance")
    await received(desk)

    await desk.press(ALICE, "alert:remedy")

    card = card_option(desk.driver.world.cards[0])
    assert await desk.driver.filled(ALICE) == {"card": card, "amount_usd": None, "reason": None}


@pytest.mark.parametrize("command", ["card show {card}", "card tx {card}", "card declines"])
async def test_every_look_up_that_explains_declines_says_that_the_stop_was_right(
    desk: Desk, command: str
) -> None:
    await frozen(desk)
    await desk.buy("Corner Coffee", "12")
    await received(desk)

    await desk.driver.command(BOB, "/" + command.format(card=desk.driver.world.cards[0]["id"]))

    shown = str((await desk.driver.shown_to(BOB, OPS))["blocks"])
    for words in ("alice moreau", REASON.lower(), "the stop was right"):
        assert words in shown.lower(), words
    assert "unfreeze it" not in shown


async def test_a_card_that_nobody_we_know_of_froze_keeps_a_neutral_remedy(desk: Desk) -> None:
    card = desk.driver.world.cards[0]["id"]
    await desk.poll("cards")
    await desk.api("POST", f"/cards/{card}/freeze", {"frozen": True})
    await desk.buy("Corner Coffee", "12")
    await received(desk)

    (answer,) = [words for words in await desk.seen() if "Corner Coffee" in words]
    assert "Stopped" not in answer
    assert "who froze it" in answer


async def test_a_purchase_declined_after_the_freeze_was_taken_back_is_an_ordinary_decline(desk: Desk) -> None:
    world = desk.driver.world
    await frozen(desk)
    undo = await world.ask("card_unfreeze", {"card": world.cards[0]["id"]}, by=ALICE, reason="Found")
    await world.approve(undo, by=BOB)
    await execution.execute(world.core, undo.id)
    await world.advance(60)
    await desk.buy("Corner Coffee", "12", decline_code="card_blocked")
    await received(desk)

    assert not any("Stopped" in words for words in await desk.seen())
