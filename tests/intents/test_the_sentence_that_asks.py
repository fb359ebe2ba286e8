"""The sentence that asks is read by itself; what stands beside it is asked only what it could do to the request."""

from __future__ import annotations

import json
import os
from itertools import product
from pathlib import Path

import pytest

from bot import operations
from bot.intents import Reading, parse
from tests.support import authors

TRAPS = Path(__file__).parent / "traps" / "told_and_taken_back.jsonl"
REQUESTS = (
    "please freeze 3018",
    "You are therefore requested to lift the freeze on 3018",
    "Kindly recall USD 75 from 3018 to the float",
    "Would you be so good as to load 60 onto 3018?",
    "kindly shut down 3018 permanently",
    "please turn on 3DS for 3018",
    "can you cap 3018 at 900 per week",
)
STORIES = (
    "Morning all, hope you had a nice weekend. {}",
    "{}. The supplier in Porto has upgraded its website and forgotten us entirely",
    "As the depot in Leipzig got flooded in October, {}",
    "{}. I will share the ticket copy afterwards",
    "We checked with the bank and 14 of the slips are here. {}",
    "The hotel charged $310 in the end. {}. He drives to Lyon on Thursday",
)
#: Each may mean that the request is not meant, not now, not its writer's, or that somebody is to be left out.
TAKE_BACKS = (
    "{}. Ah, I see that Will asked for it already, kindly forget it",
    "{}. Oh, Jonas says leave it as it is",
    "{}. Sorry, that was for the other company's bot",
    "{}. So no need for it",
    "{}. I was just reading that out loud",
    "{}. Update: it is sorted",
    "{}. Only if Carol is happy with it",
    "{}. Not today please",
    "{}. Finance still has to sign",
    "{}. Skip the second person this time",
    "{}, no approval needed",
    "{} without bothering the approvers",
    "{}. Don't wait for the second signature",
    "skip second person this time, {}",
    "Carol wants me to write this. {}",
    "Her mail says the following. {}",
    "The caller dictated it. {}",
    "{}. Is that the right card?",
    "{}. And 4402 as well",
    "{}. Also show me what it spent and close it",
    "{}. Every Monday from now on",
    "{}. I am not sure about this",
    "{}. It can wait till Thursday",
    "{}. No",
)
LOOKED_UP = (
    "balance",
    "details",
    "status",
    "current balance",
    "last purchases",
    "limits",
    "holder",
    "history",
)
ASKED_FOR = (
    "Could I have the {} on {}, please?",
    "Could you bring up the {} of {} for me, please?",
    "may I see the {} of {}",
    "can someone get me the {} for {}",
    "please pull up the {} on {}",
    "would you mind showing me the {} of {}?",
    "kindly share {} of {}",
)
BEHIND_IT = ("", " I want to be sure he's on the right monthly limit.", " Marketing are being coy about it.")


def opened(text: str) -> Reading | None:
    parsed = parse(text, authors.facts(), kinds=operations.kinds())
    return next((reading for reading in parsed.readings if reading.opened), None)


def _pairs(patterns: tuple[str, ...]) -> list[str]:
    """One in three by turns, and in `make soak` all."""
    every = 1 if os.environ.get("SOAK") == "1" else 3
    pairs = product(enumerate(patterns), enumerate(REQUESTS))
    return [p.format(r) for (row, p), (column, r) in pairs if (row + column) % every == 0]


@pytest.mark.parametrize("request_", REQUESTS)
def test_each_of_these_requests_opens_its_form_by_itself(request_: str) -> None:
    assert opened(request_) is not None


@pytest.mark.parametrize("text", _pairs(STORIES))
def test_a_story_in_other_sentences_changes_nothing_of_the_request(text: str) -> None:
    reading = opened(text)

    assert reading is not None
    assert reading.card is not None
    assert reading.card.last4 == "3018"


@pytest.mark.parametrize("take_back", TAKE_BACKS)
def test_what_takes_a_request_back_keeps_its_form_closed_whatever_the_story(take_back: str) -> None:
    stories = [story.format(take_back.format(request)) for story, request in product(STORIES[:3], REQUESTS)]

    assert [text for text in [*map(take_back.format, REQUESTS), *stories] if opened(text)] == []


@pytest.mark.parametrize("noun", LOOKED_UP)
def test_who_wants_to_know_something_gets_no_form(noun: str) -> None:
    texts = [
        f"{asks.format(noun, card)}{behind}"
        for asks, card, behind in product(ASKED_FOR, ("ads-eu", "jonas-w"), BEHIND_IT)
    ]

    assert [text for text in texts if opened(text)] == []


def test_what_a_writer_of_traps_wrote_opens_nothing() -> None:
    """By somebody who saw none of the rules; six of them opened a form when they were read first."""
    traps = [json.loads(line)["text"] for line in TRAPS.read_text(encoding="utf-8").splitlines()]

    assert len(traps) > 200
    assert [text for text in traps if opened(text)] == []


@pytest.mark.parametrize(
    ("text", "intent", "slots"),
    [
        (
            "Dear Team,\nPlease revise limits of 6051 as below:\n1. Daily - 400\n2. Weekly - 1,500\n3. Monthly - 5,000",
            "set_limits",
            {"card": "6051", "limits": {"daily": "400", "weekly": "1500", "monthly": "5000"}},
        ),
        (
            "Please unload as under:\n1) Card no. ending 7716\n2) USD 1,100.00\n3) Purpose - Poznan fair got postponed\n\nRegards,\nDeepak",
            "unload_card",
            {"card": "7716", "amount": "1100"},
        ),
        (
            "Hi, can we get a card for Daniel Brandt? +4917688231450, d.brandt@northpeak.io. He is visiting customers.",
            "order_card",
            {"name": "Daniel Brandt", "phone": "+4917688231450", "email": "d.brandt@northpeak.io"},
        ),
        (
            "order card\nname Oksana Melnyk\ntel +380671239045\nmail oksana@kattrans.example\nload 150 on start",
            "order_card",
            {
                "name": "Oksana Melnyk",
                "phone": "+380671239045",
                "email": "oksana@kattrans.example",
                "amount": "150",
            },
        ),
    ],
)
def test_a_form_in_lines_is_read_without_the_lines_beside_it(
    text: str, intent: str, slots: dict[str, object]
) -> None:
    reading = opened(text)

    assert reading is not None
    assert (reading.intent, dict(reading.slots)) == (intent, slots)
