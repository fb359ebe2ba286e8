"""“Make it 80” changes the form that was offered last, for its own card, whatever card was looked up since."""

from typing import Any

import pytest

from bot.intents import Facts, KnownCard, Thread, parse
from tests.support.utterances import facts

FACTS: Facts = facts()
NORA = KnownCard("9140", "Nora Lindqvist", "nora-eu-1")
HUGO = KnownCard("3018", "Hugo Okonkwo", "HO-77")
OFFERS: dict[str, dict[str, Any]] = {
    "topup_card": {"amount": "60"},
    "unload_card": {"amount": "40"},
    "set_limits": {"limits": {"weekly": "900"}},
}
LOOK_UPS = (
    "card_show",
    "card_balance",
    "card_transactions",
    "decline_explain",
    "card_requests",
    "spend_show",
)
FOLLOW_UPS = (
    "make it 80",
    "80 instead",
    "no, make it 80",
    "actually 80",
    "change it to 80",
    "rather 80",
    "should be 80",
)


def _after(intent: str, looked_up: str, written: str) -> Thread:
    """A form for Nora was offered, then Hugo's card was looked up."""
    return Thread(
        intent,
        {"card": written, **OFFERS[intent]},
        "",
        HUGO,
        looked_up,
        {"card": "3018"},
        earlier_cards=(NORA,),
    )


@pytest.mark.parametrize("intent", OFFERS)
@pytest.mark.parametrize("looked_up", LOOK_UPS)
@pytest.mark.parametrize("written", ["9140", "Nora", "Nora Lindqvist", "nora-eu-1"])
def test_a_new_amount_is_for_the_card_of_the_form(intent: str, looked_up: str, written: str) -> None:
    for text in FOLLOW_UPS:
        (reading,) = parse(text, FACTS, _after(intent, looked_up, written)).readings

        assert (reading.intent, reading.card, reading.slots["card"]) == (intent, NORA, written)
        changed = reading.slots.get("amount") or reading.slots["limits"]
        assert changed == ({"weekly": "80"} if intent == "set_limits" else "80")


@pytest.mark.parametrize("intent", OFFERS)
@pytest.mark.parametrize("written", ["it", "her card", "the other one", "nobody's"])
def test_a_card_that_its_words_no_longer_tell_is_asked_for(intent: str, written: str) -> None:
    for text in FOLLOW_UPS:
        (reading,) = parse(text, FACTS, _after(intent, "card_balance", written)).readings

        assert not reading.opened
        assert (reading.wanted, reading.card) == (intent, None)
        assert reading.ask is not None
        assert reading.ask.slot == "card"


@pytest.mark.parametrize("written", ["it", "her card", "9140"])
def test_without_a_look_up_the_card_is_the_one_of_the_form(written: str) -> None:
    thread = Thread("topup_card", {"card": written, "amount": "60"}, last_card=NORA)

    (reading,) = parse("make it 80", FACTS, thread).readings

    assert (reading.opened, reading.card, reading.slots["amount"]) == (True, NORA, "80")
