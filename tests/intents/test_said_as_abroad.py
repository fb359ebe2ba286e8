"""Requests in the words of people who think in Italian, Spanish or French, and in arrows; what is asked beside them."""

from __future__ import annotations

from itertools import product

import pytest

from bot import operations
from bot.intents import Parsed, parse
from tests.support import authors

#: What is asked for, and what its form holds.
ASKED = (
    ("Kindly provide to block 3018", "freeze_card", {"card": "3018"}),
    ("Please provide to recharge 3018 with 350", "topup_card", {"card": "3018", "amount": "350"}),
    ("Kindly provide to unfreeze the card 3018", "unfreeze_card", {"card": "3018"}),
    ("I would need that 3018 is annulled definitively", "close_card", {"card": "3018"}),
    ("kindly extinguish 3018 forever", "close_card", {"card": "3018"}),
    ("I ask that 3018 is put again in function", "unfreeze_card", {"card": "3018"}),
    ("please put 3018 again in service", "unfreeze_card", {"card": "3018"}),
    ("I would need that her card 3018 comes restored", "unfreeze_card", {"card": "3018"}),
    ("The block upon 3018 can be removed please", "unfreeze_card", {"card": "3018"}),
    ("3018 can be released from freeze", "unfreeze_card", {"card": "3018"}),
    ("3018 can go live again", "unfreeze_card", {"card": "3018"}),
    ("release 3018 from the freezer please", "unfreeze_card", {"card": "3018"}),
    (
        "Elevate the daily ceiling of 3018 to 800",
        "set_limits",
        {"card": "3018", "limits": {"daily": "800"}},
    ),
    ("3018: not more than 250 weekly, kindly", "set_limits", {"card": "3018", "limits": {"weekly": "250"}}),
    ("Retire 45.00 from 3018", "unload_card", {"card": "3018", "amount": "45"}),
    ("new no. for 3018 is +351912660418", "change_phone", {"card": "3018", "phone": "+351912660418"}),
    (
        "I would be obliged if 250 dollars could be transferred from the float to 3018",
        "topup_card",
        {"card": "3018", "amount": "250"},
    ),
    ("3018 needs another 600.00 loaded", "topup_card", {"card": "3018", "amount": "600"}),
    ("daily limit 3018 -> 100", "set_limits", {"card": "3018", "limits": {"daily": "100"}}),
    ("weekly 3018 → $1,250.50 pls", "set_limits", {"card": "3018", "limits": {"weekly": "1250.5"}}),
    ("phone 3018 -> +263774105523", "change_phone", {"card": "3018", "phone": "+263774105523"}),
    ("show me the number entire of 3018 please", "reveal_card", {"card": "3018"}),
)
EVERYTHING = (
    "All the money of 3018 back to the float, thank you",
    "3018 all back to float",
    "Everything on 3018 goes back in the float please",
    "Kindly provide to empty completely the card 3018 into the float",
)
#: What keeps any of them closed.
TAKEN_BACK = (
    "{}? I only ask",
    "Bob says: {}",
    "{}. No, leave it",
    "{}, if Carol agrees",
    "{}. Not today",
    "do not do it: {}",
    "{} tomorrow",
    "She asked me whether {}",
    "{}. Just a joke",
    "{}, but the policy does not permit it",
)


def read(text: str) -> Parsed:
    return parse(text, authors.facts(), kinds=operations.kinds())


def opens(text: str) -> bool:
    return any(one.opened for one in read(text).readings)


@pytest.mark.parametrize(("said", "intent", "slots"), ASKED)
@pytest.mark.parametrize("behind", ["", ". The campaigns are stopped"])
def test_what_is_asked_for_opens_its_form(
    said: str, intent: str, slots: dict[str, object], behind: str
) -> None:
    if "->" in said or "→" in said:
        behind = ""  # a line with an arrow holds nothing else
    first = read(said + behind).first

    assert (first.intent, first.opened, dict(first.slots)) == (intent, True, slots)


@pytest.mark.parametrize("said", EVERYTHING)
def test_all_of_it_is_asked_back_by_its_sum(said: str) -> None:
    first = read(said).first

    assert (first.intent, first.slots.get("everything")) == ("unload_card", "yes")


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("taken_back", TAKEN_BACK)
def test_what_takes_it_back_keeps_it_closed(taken_back: str) -> None:
    texts = [taken_back.format(said) for said, *_ in ASKED]

    assert [text for text in texts if opens(text)] == []


def test_a_round_number_before_an_arrow_may_be_the_old_limit() -> None:
    """A card may end in 2000, and a limit have been 2000."""
    assert not opens("daily limit 2000 -> 1500")
    assert not opens("nora daily limit 3205 -> 100")


@pytest.mark.parametrize(
    ("said", "intent"),
    [
        ("rejected fundings of october, if any", "funding_list"),
        ("rejected deposits this month, if any", "funding_list"),
        ("which bookings went through against priya-r in october", "ledger_show"),
        ("what was booked on 9140 last week, they want it line by line", "ledger_show"),
        ("the accounting registrations on the card of Jonas Weber for October please", "ledger_show"),
        ("is it limit or balance that stopped Ines at the market on saturday", "decline_explain"),
        ("Where does money have to be sent to feed the float? All networks please", "funding_addresses"),
        ("where does USDT go if it's BNB Chain", "funding_addresses"),
        ("Movements of ads-eu of yesterday, please", "card_transactions"),
        ("Residual of marta-k, kindly", "card_balance"),
        ("particulars of hugo-o please", "card_show"),
    ],
)
def test_a_question_in_such_words_is_answered(said: str, intent: str) -> None:
    assert read(said).first.intent == intent


NOT_DONE = (
    "convert 500 of the float into euros at today's rate",
    "please exchange 200 from the float for pounds",
    "Kindly remit 5,000 from the float to our HDFC current account",
    "wire 900 from the float to the caterer's bank account",
    "wire 300 from float to our ecocash merchant acct",
    "Email the October statement to our accountant as a PDF",
    "E-mail the November statement in PDF to our auditor with me in cc",
    "prepare me the VAT declaration of the third quarter",
    "ok R-8TN3 is approved by me, go",
    "R-8TN3 is rejected from my side",
)


@pytest.mark.parametrize("said", NOT_DONE)
def test_what_is_not_done_here_is_refused(said: str) -> None:
    parsed = read(said)

    assert parsed.first.notes != ()
    assert not any(one.opened for one in parsed.readings)


@pytest.mark.parametrize(
    ("said", "intent"),
    [
        ("who approved R-8TN3", "request_show"),
        ("is R-8TN3 approved by Bob", "request_show"),
        ("show the statement of the float for October", "ledger_show"),
        ("please send 50 from the float to 3018", "topup_card"),
        ("transfer 50 from the float to Nora's card", "topup_card"),
    ],
)
def test_what_is_done_here_is_not_refused(said: str, intent: str) -> None:
    assert read(said).first.intent == intent


def test_none_of_these_readers_mistakes_the_order_of_two_cards() -> None:
    texts = [f"{said}. {other}" for (said, *_), (other, *_) in product(ASKED[:6], ASKED[6:9])]

    assert [text for text in texts if opens(text.replace("3018", "9140", 1))] == []
