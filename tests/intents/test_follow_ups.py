"""Texts that only change what was said before: what they change, and when they change nothing."""

from typing import Any

import pytest

from bot.intents import Facts, KnownCard, Thread, parse
from tests.support.utterances import facts

FACTS: Facts = facts()
NORA = KnownCard("9140", "Nora Lindqvist", "nora-eu-1")
HUGO = KnownCard("3018", "Hugo Okonkwo", "HO-77")
PURCHASES = Thread(
    last_card=NORA,
    read_intent="card_transactions",
    read_slots={"card": "9140", "since": "2026-03-09", "until": "2026-03-11"},
    earlier_cards=(HUGO,),
)
TOP_UP = Thread("topup_card", {"card": "9140", "amount": "60"}, last_card=NORA, earlier_cards=(HUGO,))


@pytest.mark.parametrize(
    ("text", "intent", "slots", "card"),
    [
        (
            "and Hugo's?",
            "card_transactions",
            {"card": "Hugo", "since": "2026-03-09", "until": "2026-03-11"},
            HUGO,
        ),
        (
            "what about 3018",
            "card_transactions",
            {"card": "3018", "since": "2026-03-09", "until": "2026-03-11"},
            HUGO,
        ),
        (
            "last month",
            "card_transactions",
            {"card": "9140", "since": "2026-02-01", "until": "2026-02-28"},
            NORA,
        ),
        (
            "and yesterday?",
            "card_transactions",
            {"card": "9140", "since": "2026-03-10", "until": "2026-03-10"},
            NORA,
        ),
        (
            "the other one",
            "card_transactions",
            {"card": "3018", "since": "2026-03-09", "until": "2026-03-11"},
            HUGO,
        ),
        ("and the balance?", "card_balance", {"card": "9140"}, NORA),
        (
            "only refunds",
            "card_transactions",
            {"card": "9140", "since": "2026-03-09", "until": "2026-03-11", "status": "refunded"},
            NORA,
        ),
        (
            "at Corner Coffee",
            "card_transactions",
            {"card": "9140", "since": "2026-03-09", "until": "2026-03-11", "merchant": "Corner Coffee"},
            NORA,
        ),
    ],
)
def test_a_look_up_is_asked_again_with_what_changed(
    text: str, intent: str, slots: dict[str, Any], card: KnownCard
) -> None:
    (reading,) = parse(text, FACTS, PURCHASES).readings

    assert (reading.intent, reading.slots, reading.card) == (intent, slots, card)
    assert not reading.opened


@pytest.mark.parametrize(
    "text", ["make it 80", "no, make it 80", "80 instead", "actually 80", "make it $80 please"]
)
def test_the_amount_of_the_request_offered_last_is_changed(text: str) -> None:
    (reading,) = parse(text, FACTS, TOP_UP).readings

    assert (reading.intent, reading.slots, reading.card) == (
        "topup_card",
        {"card": "9140", "amount": "80"},
        NORA,
    )


def test_the_same_for_another_card_keeps_the_amount() -> None:
    (reading,) = parse("same for Hugo", FACTS, TOP_UP).readings

    assert (reading.intent, reading.card, reading.slots["amount"]) == ("topup_card", HUGO, "60")


@pytest.mark.parametrize(
    "text",
    [
        "don't make it 80",
        "make it 80 or 90",
        "make it 80 x2",
        "should I make it 80?",
        "if he asks make it 80",
        "and Hugo?",
        "make it 2,75",
        "make it 80 and 90",
        "he said make it 80",
        "> make it 80",
        "make it",
        "the same for everyone",
        "same for Hugo?",
    ],
)
def test_what_is_denied_doubtful_or_only_asked_changes_no_request(text: str) -> None:
    assert not any(reading.opened for reading in parse(text, FACTS, TOP_UP).readings)


@pytest.mark.parametrize(
    "text", ["make it 80", "same for Hugo", "the other one", "last month", "only refunds"]
)
def test_a_follow_up_of_nothing_is_nothing(text: str) -> None:
    assert not any(reading.opened for reading in parse(text, FACTS, Thread()).readings)
    assert not any(reading.opened for reading in parse(text, FACTS).readings)


def test_while_something_is_asked_a_text_answers_that() -> None:
    thread = Thread("topup_card", {"card": "9140"}, "amount", NORA, "card_balance", {"card": "3018"})

    (reading,) = parse("80", FACTS, thread).readings

    assert (reading.intent, reading.slots["amount"]) == ("topup_card", "80")
