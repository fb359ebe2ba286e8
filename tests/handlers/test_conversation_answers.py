"""Plain English about requests and spending; undo and pause, which end in a button; small talk."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot.domain.requests import State
from storage.operators import pauses
from tests.handlers.slack_driver import ALICE, BOB, CAROL, OPS, SlackDriver, card_option
from tests.handlers.talk import Talk
from tests.handlers.test_lookups_cards import act_on_card, buy, receive, rows

pytestmark = pytest.mark.by_turns(4)

Json = dict[str, Any]


@pytest.fixture
async def talk(driver: SlackDriver) -> AsyncIterator[Talk]:
    """Alice's direct message. The cards are MARTA KOWALSKA 3205, JONAS ÄHLSTRÖM 7578, PRIYA NAIR 5589 …"""
    yield Talk(driver)
    assert not (await driver.state())["missed_acks"]


@pytest.fixture
def card(driver: SlackDriver) -> Json:
    found: Json = driver.world.cards[0]
    return found


async def sent_top_up(talk: Talk, amount: str = "40") -> Any:
    request = await talk.driver.world.top_up(amount)
    await talk.driver.world.run_due()
    assert (await talk.driver.world.request(request.id)).state is State.SUCCEEDED
    await talk.driver.world.advance(60)
    return request


# Requests


async def test_who_approved_a_request_is_answered_with_everything_decided_about_it(talk: Talk) -> None:
    request = await sent_top_up(talk)

    shown = await talk.say(f"who approved {request.id}?")

    assert f"{request.id}: " in shown
    assert "✓ approved by Bob" in shown


async def test_who_may_approve_a_request_is_answered_while_it_waits(talk: Talk) -> None:
    request = await talk.driver.ask_top_up()

    shown = await talk.say(f"who may approve {request.id.lower()}")

    assert "pending" in shown
    assert "*Can approve it:* Bob" in shown
    assert "Alice" not in shown.partition("Can approve it")[2]


async def test_my_last_request_needs_no_id(talk: Talk) -> None:
    request = await talk.driver.ask_top_up()

    assert request.id in await talk.say("has my last request been approved?")


async def test_the_last_request_of_a_card_is_shown_with_its_decisions(talk: Talk, card: Json) -> None:
    request = await sent_top_up(talk)
    await act_on_card(talk.driver, "card_freeze", "Lost in a taxi")

    newest = await talk.say(f"what was the last request for {card['last4']}?")
    top_up = await talk.say(f"who approved the last top-up on {card['last4']}?")

    assert "2 requests" in newest
    assert "Lost in a taxi" in newest
    assert "1 request" in top_up
    assert f"{request.id}: " in top_up
    assert "✓ approved by Bob" in top_up


@pytest.mark.parametrize("name", ["Bob", "<@U0BOB>", "bob"])
async def test_what_is_pending_for_a_colleague_is_what_waits_for_them(talk: Talk, name: str) -> None:
    request = await talk.driver.ask_top_up()

    shown = await talk.say(f"what is pending for {name}?")

    assert "1 waiting for Bob" in shown
    assert request.id in shown
    assert "waiting for you" not in shown


async def test_what_waits_for_me_is_my_own_queue(driver: SlackDriver, talk: Talk) -> None:
    request = await driver.ask_top_up()
    bob = Talk(driver, BOB, "D0BOB")

    assert "1 waiting for you" in (shown := await bob.say("what is waiting for me?"))
    assert request.id in shown
    assert "0 waiting for you" in await talk.say("what is waiting for me?")


async def test_what_is_pending_for_a_cardholder_is_what_is_open_about_the_card(talk: Talk) -> None:
    request = await talk.driver.ask_top_up()

    assert request.id in await talk.say("what is pending for Marta?")


async def test_a_name_that_nobody_has_is_said_to_be_nobodys(talk: Talk) -> None:
    assert "called “Zelda”" in await talk.say("what is pending for Zelda?")


# Spending


async def bought(driver: SlackDriver) -> None:
    await buy(driver, "30.00", "Shell 4711")
    await buy(driver, "250.00", "Shell 4711")
    await buy(driver, "12.50", "Corner Coffee")
    await driver.world.advance(60)
    await receive(driver)


async def test_what_was_spent_in_a_period_is_answered_in_all_and_by_card_and_merchant(talk: Talk) -> None:
    await bought(talk.driver)

    shown = await talk.say("what did we spend this month?")

    assert "By merchant" in shown
    assert "Shell 4711" in shown
    assert "from the events that Countersign received" in shown


async def test_what_was_spent_at_a_merchant_or_with_a_card_counts_these_purchases_alone(
    talk: Talk, card: Json
) -> None:
    await bought(talk.driver)

    at_shell = await talk.say("how much did we spend at shell today?")
    coffee = await talk.say(f"how much did {card['last4']} spend at Corner Coffee today")
    nowhere = await talk.say("how much have we spent at Harrods today?")

    assert "Corner Coffee" not in at_shell
    assert "at “shell”" in at_shell
    assert f"on MARTA KOWALSKA ••{card['last4']}, at “Corner Coffee”" in coffee
    assert "No purchases. Merchants in this period:" in nowhere
    assert "Shell 4711" in nowhere


@pytest.mark.parametrize(
    ("words", "merchants"),
    [
        ("purchases at Shell on {} today", ["Shell 4711", "Shell 4711"]),
        ("payments above 200 on {} today", ["Shell 4711"]),
        ("payments below 20 on {} today", ["Corner Coffee"]),
    ],
)
async def test_purchases_of_a_card_are_narrowed_down_by_merchant_and_amount(
    talk: Talk, card: Json, words: str, merchants: list[str]
) -> None:
    await bought(talk.driver)
    before = {row[1] for row in rows(await show(talk, f"card tx {card['last4']} today"))}
    assert {"Corner Coffee", "Shell 4711"} <= before

    found = await show(talk, words.format(card["last4"]))

    assert [row[1] for row in rows(found) if row[1] in before] == merchants


async def test_refunds_alone_are_shown_where_they_are_asked_for(talk: Talk, card: Json) -> None:
    await bought(talk.driver)

    found = await show(talk, f"refunds on {card['last4']} today")

    assert all("refunded" in row[2] for row in tables(found))


async def test_a_page_of_narrowed_down_purchases_keeps_its_filter(driver: SlackDriver, card: Json) -> None:
    for n in range(27):
        await buy(driver, f"{n + 1}.00", "Shell")
    await buy(driver, "5.00", "Bakery")
    await driver.world.advance(60)

    await driver.command(ALICE, f'/card tx {card["last4"]} at "Shell" above 1.50 today')
    shown = await driver.shown_to(ALICE)
    await driver.press(ALICE, shown, "answer:page:on", channel=OPS)
    second = await driver.shown_to(ALICE)

    assert len(rows(second)) == 1
    assert "Bakery" not in str(second)


async def show(talk: Talk, text: str) -> Json:
    await talk.say(text)
    return talk.last(await talk.messages())


def tables(message: Json) -> list[list[str]]:
    return rows(message) if any(block["type"] == "table" for block in message["blocks"]) else []


# Undo


async def test_undo_of_a_pending_request_offers_its_cancel_button_and_cancels_nothing_by_itself(
    talk: Talk,
) -> None:
    request = await talk.driver.ask_top_up()

    shown = await talk.say("undo that")

    assert request.id in shown
    assert await talk.buttons() == ["Cancel"]
    assert (await talk.driver.newest()).state is State.PENDING
    await talk.press("Cancel")
    assert (await talk.driver.newest()).state is State.PENDING
    await talk.driver.submit(ALICE, {})
    assert (await talk.driver.newest()).state is State.CANCELLED


async def test_undo_of_a_top_up_opens_the_form_that_takes_the_same_amount_off(talk: Talk, card: Json) -> None:
    request = await sent_top_up(talk, "40")

    assert "Take" in await talk.say("undo my last request please") or await talk.buttons()
    assert await talk.nothing_is_open()
    await talk.press("Review and submit")

    form = await talk.form()
    assert (form["card"], form["amount_usd"]) == (card_option(card), "40.00")
    assert form["reason"] == f"Undo {request.id}"
    assert (await talk.driver.modal(ALICE))["title"]["text"] == talk.driver.core.kinds["card_unload"].title
    assert [r.id for r in await talk.driver.requests()] == [request.id]


async def test_undo_of_a_freeze_opens_the_form_that_unfreezes(talk: Talk, card: Json) -> None:
    await act_on_card(talk.driver, "card_freeze", "Lost in a taxi")

    await talk.say("undo the freeze on Marta")
    await talk.press("Review and submit")

    assert (await talk.driver.modal(ALICE))["title"]["text"] == "Unfreeze a card"
    assert card["last4"] in str(await talk.form())


async def test_undo_of_a_freeze_that_a_colleague_requested_is_a_form_that_says_so(
    driver: SlackDriver, talk: Talk
) -> None:
    await act_on_card(driver, "card_freeze", "Lost in a taxi")
    carol = Talk(driver, CAROL, "D0CAROL")

    shown = await carol.say("undo the freeze on Marta")

    assert "You did not request this yourself" in shown
    assert await carol.buttons() == ["Review and submit"]


async def test_undo_of_limits_brings_back_those_before(talk: Talk, card: Json) -> None:
    for daily in ("300.00", "150.00"):
        request = await talk.driver.world.ask("card_limits", {"card": card["id"], "daily_limit": daily})
        await talk.driver.world.approve(request)
        await talk.driver.world.run_due()
        assert (await talk.driver.world.request(request.id)).state is State.SUCCEEDED
        await talk.driver.world.advance(60)

    await talk.say("undo")
    await talk.press("Review and submit")

    assert (await talk.form())["daily_limit"] == "300.00"
    assert "From your message." not in str(await talk.driver.hints(talk.user))


async def test_undo_says_plainly_where_there_is_no_opposite(talk: Talk, card: Json) -> None:
    request = await talk.driver.world.ask("card_close", {"card": card["id"], "last4": card["last4"]})
    await talk.driver.world.approve(request)
    await talk.driver.world.run_due()
    assert (await talk.driver.world.request(request.id)).state is State.SUCCEEDED

    shown = await talk.say("undo that")

    assert "A closed card can't be opened again." in shown
    assert await talk.buttons() == []


async def test_undo_of_a_freeze_on_a_card_that_is_active_says_so(talk: Talk) -> None:
    shown = await talk.say("undo the freeze on Marta")

    assert "is active, as last read: there is nothing to undo" in shown
    assert await talk.buttons() == []


async def test_undo_of_what_somebody_else_requested_says_who_may(driver: SlackDriver, talk: Talk) -> None:
    request = await driver.ask_top_up(CAROL)

    shown = await talk.say(f"cancel request {request.id}")

    assert "was requested by Carol" in shown
    assert await talk.buttons() == []


async def test_undo_after_a_rejection_says_that_nothing_came_of_it(driver: SlackDriver, talk: Talk) -> None:
    request = await driver.ask_top_up()
    await talk.say("undo that")
    await talk.press("Cancel")
    await driver.submit(ALICE, {})

    shown = await talk.say("undo that")

    assert f"{request.id} " in shown
    assert "nothing came of it" in shown
    assert await talk.buttons() == []


# Pause


async def test_pause_everything_shows_a_button_whose_form_pauses(driver: SlackDriver) -> None:
    bob = Talk(driver, BOB, "D0BOB")

    assert "Nothing is paused yet" in await bob.say("pause everything!")
    assert await pauses_now(driver) == []
    await bob.press("Pause main")
    assert (await driver.modal(BOB))["title"]["text"] == "Pause sending"
    assert await pauses_now(driver) == []
    await driver.submit(BOB, {})

    assert await pauses_now(driver) == ["main"]
    assert "Paused already: main" in await bob.say("stop all sending")


async def test_who_may_not_pause_reads_who_may_before_any_button(talk: Talk) -> None:
    shown = await talk.say("pause everything")

    assert "may pause and resume" in shown
    assert await talk.buttons() == []


async def pauses_now(driver: SlackDriver) -> list[str]:
    async with driver.world.store.read() as tx:
        return [one.program for one in await pauses.all(tx)]


# The rest


async def test_reveal_by_text_offers_its_form_and_shows_no_details(talk: Talk, card: Json) -> None:
    shown = await talk.say(f"reveal {card['last4']}")

    assert "Show the details" in shown
    assert await talk.buttons() == ["Review and submit"]


@pytest.mark.parametrize(
    ("said", "answered"),
    [
        ("hi", "Hello!"),
        ("good morning team", "Hello!"),
        ("thanks!", "You're welcome."),
        ("ok great, thank you so much", "You're welcome."),
        ("¿cuánto saldo tiene la tarjeta de Sofía?", "English only"),
        ("wie viel Guthaben ist auf der Karte", "English only"),
        ("заблокируйте карту", "English only"),
    ],
)
async def test_small_talk_gets_one_line(talk: Talk, said: str, answered: str) -> None:
    assert answered in await talk.say(said)
    assert len(talk.last(await talk.messages())["blocks"]) == 1


async def test_thanks_in_the_middle_of_a_question_do_not_count_as_a_miss(talk: Talk) -> None:
    await talk.say("top up a card")
    assert "welcome" in await talk.say("thanks")

    assert "How much" in await talk.say("3205")
