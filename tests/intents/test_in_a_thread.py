"""What a thread remembers: the card last named, the question that is open; and kinds read by their phrases."""

from collections.abc import Mapping
from typing import Any

import pytest

from bot.intents import Facts, KnownCard, Thread, parse
from bot.operations import kinds
from tests.support.utterances import facts

FACTS: Facts = facts()
NORA = KnownCard("9140", "Nora Lindqvist", "nora-eu-1")


def test_it_means_the_card_last_named_in_the_thread() -> None:
    reading = parse("freeze it", FACTS, Thread(last_card=NORA)).first

    assert reading.opened
    assert reading.card == NORA


def test_it_means_nothing_without_a_thread() -> None:
    reading = parse("freeze it", FACTS).first

    assert not reading.opened
    assert reading.ask is not None
    assert reading.ask.slot == "card"


def test_its_purchases_are_those_of_the_card_just_named() -> None:
    parsed = parse("please freeze 9140 and show me its last purchases", FACTS)

    actions = [(reading.intent, reading.card) for reading in parsed.readings]
    assert actions == [("freeze_card", NORA), ("card_transactions", NORA)]


@pytest.mark.parametrize(
    ("intent", "slots", "asked", "text", "filled"),
    [
        ("topup_card", {"card": "9140"}, "amount", "85 usd please", {"amount": "85"}),
        ("topup_card", {"amount": "85"}, "card", "Nora", {"card": "Nora"}),
        ("submit_funding", {"tx_hash": "0x" + "ab" * 32}, "network", "polygon", {"network": "POLYGON"}),
        ("change_phone", {"card": "9140"}, "phone", "+47 912 34 567", {"phone": "+4791234567"}),
        ("set_limits", {"card": "9140"}, "limits", "daily 200", {"limits": {"daily": "200"}}),
    ],
)
def test_an_answer_completes_the_request(
    intent: str, slots: Mapping[str, Any], asked: str, text: str, filled: Mapping[str, Any]
) -> None:
    reading = parse(text, FACTS, Thread(intent, slots, asked)).first

    assert reading.intent == intent
    assert reading.opened
    assert reading.slots == {**slots, **filled}


def test_a_doubtful_answer_is_asked_about_again() -> None:
    reading = parse("2,75", FACTS, Thread("topup_card", {"card": "9140"}, "amount")).first

    assert reading.intent == "ambiguous"
    assert reading.wanted == "topup_card"


def test_an_order_asks_for_one_thing_after_the_other() -> None:
    first = parse("order a card for Carla Mendes", FACTS).first
    assert first.ask is not None
    second = parse("+351 912 345 678", FACTS, Thread(first.intent, first.slots, first.ask.slot)).first
    assert second.ask is not None
    third = parse("carla@example.com", FACTS, Thread(second.intent, second.slots, second.ask.slot)).first

    assert (first.ask.slot, second.ask.slot) == ("phone", "email")
    assert third.opened
    assert third.slots == {"name": "Carla Mendes", "phone": "+351912345678", "email": "carla@example.com"}


@pytest.mark.parametrize("text", ["how's the float", "don't", "85 or 90 I guess, let me check with Hugo"])
def test_something_else_is_no_answer(text: str) -> None:
    reading = parse(text, FACTS, Thread("topup_card", {"card": "9140"}, "amount")).first

    assert not reading.opened


@pytest.mark.parametrize("text", ["yes", "go", "do it", "ok", "approve it", "yes do it now"])
def test_a_bare_yes_triggers_nothing(text: str) -> None:
    thread = Thread("topup_card", {"card": "9140", "amount": "85"}, last_card=NORA)

    assert not any(reading.opened for reading in parse(text, FACTS, thread).readings)


def test_a_kind_outside_the_table_is_read_by_its_phrases() -> None:
    reading = parse("please reveal 9140", FACTS, kinds=kinds()).first

    assert (reading.intent, reading.kind, reading.card) == ("reveal_card", "card_reveal", NORA)
    assert reading.is_action
    assert reading.opened


@pytest.mark.parametrize(
    "text", ["don't reveal 9140", "reveal 9140 if he asks", "reveal Anna's card", "reveal 9140 5"]
)
def test_the_gate_holds_for_kinds_read_by_their_phrases(text: str) -> None:
    assert not any(reading.opened for reading in parse(text, FACTS, kinds=kinds()).readings)


def test_a_mentioned_person_is_the_holder_only_where_mapped() -> None:
    mapped = Facts(FACTS.now, cards=FACTS.cards, people={"U111": "nora-eu-1"})

    assert parse("freeze <@U111>'s card", mapped).first.card == NORA
    assert parse("freeze <@U222>'s card", mapped).first.card is None


def test_periods_are_those_of_the_asking_persons_day() -> None:
    late = Facts(FACTS.now.replace(hour=23), tz="Asia/Tokyo", cards=FACTS.cards)

    slots = parse("purchases on 9140 yesterday", late).first.slots

    assert slots["since"] == slots["until"] == "2026-03-11"  # in Tokyo it is the 12th


def test_more_than_ninety_days_are_cut_and_said_so() -> None:
    reading = parse("purchases on 9140 since 2025-01-01", FACTS).first

    assert reading.slots["since"] == "2025-12-11"
    assert "90 days" in reading.notes[0]
