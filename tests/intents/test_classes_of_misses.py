"""Whole classes of what people wrote and the rules missed, each with sentences of none of the authors."""

import pytest

from bot import operations
from bot.intents import Parsed, Reading, parse
from tests.support import authors

HASH = "0x" + "4f1a2b3c" * 8


def read(text: str) -> Parsed:
    return parse(text, authors.facts(), kinds=operations.kinds())


def opened(text: str) -> tuple[str, dict[str, object]] | None:
    readings = [reading for reading in read(text).readings if reading.opened]
    return (readings[0].intent, dict(readings[0].slots)) if len(readings) == 1 else None


@pytest.mark.parametrize(
    "text",
    [
        "convert our usdc into usdt",
        "please swap some matic for usdc",
        f"cancel {HASH} and send it again with more gas",
        f"speed up {HASH}",
        "take Bob off the approvers",
        "add Carol to the approver group",
        "remove Dave as approver",
        "reduce the number of approvals to one",
        "change the approval policy",
        "skip the second approval please",
        "refund the hotel",
        "refund my customer",
        "could you refund that purchase",
    ],
)
def test_what_is_ordered_and_not_done_here_is_refused_at_once(text: str) -> None:
    parsed = read(text)

    assert not any(reading.opened for reading in parsed.readings)
    assert any("not offered" in note for reading in parsed.readings for note in reading.notes)


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("refunds on 3018", "card_transactions"),
        ("who are the approvers of R-7K3M", "request_show"),
        ("how do we refund a top-up", "help"),
    ],
)
def test_a_question_with_such_a_word_is_none_of_these_orders(text: str, intent: str) -> None:
    assert read(text).first.intent == intent


@pytest.mark.parametrize(
    "text",
    [
        "their bank fees are a joke",
        "my gym raised its fees again",
        "price of matic today?",
        "what's the gas price",
        "my ledger nano is dead",
    ],
)
def test_other_peoples_fees_prices_and_ledgers_are_not_ours(text: str) -> None:
    parsed = read(text)

    assert [reading.intent for reading in parsed.readings] == ["none"]


@pytest.mark.parametrize(
    "text", [f"{HASH} base. please submit", f"base, {HASH}, submit it", f"submit: 12k, base. {HASH}"]
)
def test_base_beside_its_hash_is_the_network(text: str) -> None:
    assert read(text).first.slots["network"] == "BASE"


@pytest.mark.parametrize(
    "text", ["our base salary went up", "load 20 on 3018, base amount", "touch base on 3018"]
)
def test_base_anywhere_else_is_a_word(text: str) -> None:
    assert "network" not in read(text).first.slots


@pytest.mark.parametrize(
    ("text", "intent", "slots"),
    [
        ("top off 3018 with 85", "topup_card", {"card": "3018", "amount": "85"}),
        ("3018 +60 petrol", "topup_card", {"card": "3018", "amount": "60"}),
        ("load 3018 60 for parts", "topup_card", {"card": "3018", "amount": "60"}),
        ("put 75 on 9140, parking", "topup_card", {"card": "9140", "amount": "75"}),
        ("knock 30 off 9140", "unload_card", {"card": "9140", "amount": "30"}),
        ("skim 30 off 9140", "unload_card", {"card": "9140", "amount": "30"}),
        ("strip 30 from 9140", "unload_card", {"card": "9140", "amount": "30"}),
        ("9140 has too much, yank 30", "unload_card", {"card": "9140", "amount": "30"}),
        ("load Will 150", "topup_card", {"card": "Will", "amount": "150"}),
        ("send April 150, she is at the hotel", "topup_card", {"card": "April", "amount": "150"}),
        ("lower may's weekly to 300", "set_limits", {"card": "may", "limits": {"weekly": "300"}}),
        ("raise April's daily to 90", "set_limits", {"card": "April", "limits": {"daily": "90"}}),
        ("9140 shouldn't do more than 3k a week, set it", "set_limits", {"card": "9140", "limits": {"weekly": "3000"}}),
        ("new mobile for Hugo: +447911123456", "change_phone", {"card": "Hugo", "phone": "+447911123456"}),
        ("Hugo is back. open his card up", "unfreeze_card", {"card": "Hugo"}),
        ("open 3018 back up", "unfreeze_card", {"card": "3018"}),
        ("Hugo quit on Friday. close his card", "close_card", {"card": "Hugo"}),
        ("Nora left yesterday, close her card please", "close_card", {"card": "Nora"}),
    ],
)  # fmt: skip
def test_a_request_in_these_words_opens_its_form(text: str, intent: str, slots: dict[str, object]) -> None:
    assert opened(text) == (intent, slots)


@pytest.mark.parametrize(
    "text",
    [
        "top off the tank, 3018 has 85",
        "3018 +60 tomorrow",
        "3018 +60 points",
        "we knock 30 off 9140 every month",
        "load May 20",
        "send April 5",
        "April's weekly report, 300 pages",
        "9140 should do more than 3k a week",
        "open 3018 up to 500",
        "open up a card for Hugo",
        "close his card on Friday, Hugo",
        "Hugo quits on Friday. close his card",
        "Friday. close Hugo's card",
        "put 150 on the of Marta",
        "the freeze on 9140 pls, she is at the till",
        "9140 by 40 dollars",
        "I need that you put 150 dollars onto of Hugo",
        "new mobile for Hugo",
    ],
)
def test_what_only_looks_like_it_opens_nothing(text: str) -> None:
    assert opened(text) is None


@pytest.mark.parametrize(
    ("text", "intent", "slots"),
    [
        ("latest swipes 3018", "card_transactions", {"card": "3018"}),
        ("3018 last 12 swipes", "card_transactions", {"card": "3018"}),
        ("recent taps on 3018", "card_transactions", {"card": "3018"}),
        ("what killed the payment on 9140", "decline_explain", {"card": "9140"}),
        ("the terminal says no to 9140, why", "decline_explain", {"card": "9140"}),
        ("Will's at the hotel and his card is refused, why", "decline_explain", {"card": "Will"}),
        ("which of the cards are on ice", "card_list", {"status": "frozen"}),
        ("is any deposit still being checked", "funding_list", {"status": "in review"}),
        ("threeds on or off for 9140", "card_show", {"card": "9140"}),
        ("what limit are we giving april, and since when?", "card_show", {"card": "april"}),
        ("who was it that raised the limits on 9140", "card_requests", {"card": "9140"}),
    ],
)
def test_a_question_in_these_words_is_answered(text: str, intent: str, slots: dict[str, object]) -> None:
    first: Reading = read(text).first

    assert first.intent == intent
    assert slots.items() <= dict(first.slots).items()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("order a card for fuel. holder Elsa Prado, +34600111222", "Elsa Prado"),
        ("new card for parking and tolls, name Omar Said", "Omar Said"),
        ("replacement for Omar Said, the old one broke. new card please", "Omar Said"),
    ],
)
def test_the_holder_that_is_called_so_is_the_name_on_the_card(text: str, name: str) -> None:
    assert read(text).first.slots["name"] == name


@pytest.mark.parametrize(
    "text",
    [
        f"submit {HASH} on base tonight",
        f"submit {HASH} on base after midnight utc",
        f"book {HASH} polygon tomorrow",
    ],
)
def test_a_submission_at_another_time_is_said_not_to_be_scheduled(text: str) -> None:
    first = read(text).first

    assert not first.opened
    assert first.ask is not None
    assert "Nothing is scheduled" in first.ask.question


@pytest.mark.parametrize("text", ["take back whatever is on 9140", "pull whatever's left off 9140"])
def test_all_that_is_on_a_card_is_read_and_asked_about(text: str) -> None:
    first = read(text).first

    assert (first.intent, first.slots) == ("unload_card", {"card": "9140", "everything": "yes"})
    assert first.ask is not None
    assert not first.opened


@pytest.mark.parametrize("verb", ["un-freeze", "un-block", "un-lock", "un freeze", "un- freeze"])
@pytest.mark.parametrize("before", ["", "hey ca nu ", "nu ", "xx ", "pls cna you ", "uu ", "hi - ", "so. "])
def test_a_hyphen_in_a_verb_never_turns_it_round(before: str, verb: str) -> None:
    found = opened(f"{before}{verb} 3018")

    assert found is None or found[0] == "unfreeze_card"
