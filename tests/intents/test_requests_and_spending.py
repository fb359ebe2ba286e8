"""Questions about requests and spending, undo and pause: what they are read as, and what they are not."""

from typing import Any

import pytest

from bot.intents import Facts, parse
from tests.support.utterances import facts

FACTS: Facts = facts()


@pytest.mark.parametrize(
    ("text", "intent", "slots"),
    [
        ("who approved R-7K3M?", "request_show", {"request": "R-7K3M"}),
        ("who may approve r-7k3m", "request_show", {"request": "R-7K3M"}),
        ("what's the state of R-WVCM please", "request_show", {"request": "R-WVCM"}),
        ("has my last request been approved", "request_show", {"request": "last"}),
        ("what was the last request for 3018", "card_requests", {"card": "3018"}),
        ("who requested the freeze on Nora's card", "card_requests", {"card": "Nora", "kind": "freeze"}),
        ("when was 3018 last topped up", "card_requests", {"card": "3018", "kind": "topup"}),
        ("what did we spend this month?", "spend_show", {"since": "2026-03-01", "until": "2026-03-11"}),
        (
            "how much did Hugo spend last week",
            "spend_show",
            {"card": "Hugo", "since": "2026-03-02", "until": "2026-03-08"},
        ),
        (
            "how much have we spent at Shell this week",
            "spend_show",
            {"merchant": "Shell", "since": "2026-03-09", "until": "2026-03-11"},
        ),
        ("total spend by merchant", "spend_show", {}),
        ("what is pending for Dave", "pending_approvals", {"person": "Dave"}),
        ("what is waiting for me", "pending_approvals", {"person": "me"}),
        ("what does Carol still have to approve", "pending_approvals", {"person": "Carol"}),
        ("anything waiting on  <@U0BOB>?", "pending_approvals", {"person": "@U0BOB"}),
        ("what is pending right now?", "pending_approvals", {}),
        (
            "purchases at Shell on 3018 this week",
            "card_transactions",
            {"card": "3018", "merchant": "Shell", "since": "2026-03-09", "until": "2026-03-11"},
        ),
        ("payments above 200 on 9140", "card_transactions", {"card": "9140", "above": "200"}),
        (
            "payments over $50 at Corner Coffee",
            "card_transactions",
            {"merchant": "Corner Coffee", "above": "50"},
        ),
        ("purchases at 7-Eleven on 9140", "card_transactions", {"card": "9140", "merchant": "7-Eleven"}),
        ("refunds on 3018", "card_transactions", {"card": "3018", "status": "refunded"}),
        ("undo that", "undo", {}),
        ("oops, undo my last request please", "undo", {}),
        ("undo the freeze on Hugo", "undo", {"card": "Hugo", "kind": "freeze"}),
        ("please cancel my request R-7K3M", "undo", {"request": "R-7K3M"}),
        ("can you take that back", "undo", {}),
        ("pause everything", "pause_sending", {}),
        ("can you stop everything please", "pause_sending", {}),
        ("STOP ALL SENDING NOW", "pause_sending", {}),
    ],
)
def test_it_is_read_with_its_slots_and_opens_nothing(text: str, intent: str, slots: dict[str, Any]) -> None:
    (reading,) = parse(text, FACTS).readings

    assert (reading.intent, reading.slots) == (intent, slots)
    assert not reading.opened
    assert not reading.is_action


@pytest.mark.parametrize(
    "text",
    [
        "don't undo that",
        "never undo my last request",
        "should I undo that?",
        "he said undo the freeze on Hugo",
        "if it fails, undo that",
        '"undo that"',
        "load 60 onto 3018. undo",
        "don't pause everything",
        "please do not stop everything",
        "should we pause everything?",
        "Carol said pause everything",
        "pause all cards",
        "stop everything you are doing with the printer",
    ],
)
def test_what_is_denied_considered_or_reported_neither_undoes_nor_pauses(text: str) -> None:
    intents = {reading.intent for reading in parse(text, FACTS).readings}

    assert not intents & {"undo", "pause_sending"}


@pytest.mark.parametrize(
    "text",
    [
        "are there purchases at the moment on 3018",
        "what did 3018 buy at least once",
        "purchases on 3018 at all",
        "what was bought on 3018 at night",
    ],
)
def test_at_does_not_always_name_a_merchant(text: str) -> None:
    (reading,) = parse(text, FACTS).readings

    assert "merchant" not in reading.slots


@pytest.mark.parametrize(
    "text", ["what can we spend", "is there enough left to spend 200", "spending limit of 3018"]
)
def test_what_may_be_spent_is_no_question_about_what_was_spent(text: str) -> None:
    assert "spend_show" not in {reading.intent for reading in parse(text, FACTS).readings}


@pytest.mark.parametrize(
    "text", ["what is waiting for approval", "is the bank open on Monday", "what do I need to approve"]
)
def test_not_every_word_after_for_is_a_person(text: str) -> None:
    assert all("person" not in reading.slots for reading in parse(text, FACTS).readings)


def test_digits_that_belong_to_no_number_are_asked_about_and_break_nothing() -> None:
    (reading,) = parse("load 0.0 000.0 onto 3018", FACTS).readings

    assert not reading.opened
