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


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("take_back", TAKE_BACKS)
def test_what_takes_a_request_back_keeps_its_form_closed_whatever_the_story(take_back: str) -> None:
    stories = [story.format(take_back.format(request)) for story, request in product(STORIES[:3], REQUESTS)]

    assert [text for text in [*map(take_back.format, REQUESTS), *stories] if opened(text)] == []


@pytest.mark.by_turns(4)
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


@pytest.mark.parametrize(
    ("said", "intent", "slots"),
    [
        (
            "please arrange that USD 2.000,00 are transferred to ads-eu",
            "topup_card",
            {"card": "ads-eu", "amount": "2000"},
        ),
        ("I need that 60 are loaded onto 3018", "topup_card", {"card": "3018", "amount": "60"}),
        ("onto 3018 please load 60, he is at the till", "topup_card", {"card": "3018", "amount": "60"}),
        (
            "Please arrange that 1.100,00 USD are taken off the card of April Osei and booked back to the company account."
            " Reason: loaded twice by mistake.",
            "unload_card",
            {"card": "April Osei", "amount": "1100"},
        ),
        (
            "from sofia-l I would like to draw back USD 64,90 to our prepaid account",
            "unload_card",
            {"card": "sofia-l", "amount": "64.9"},
        ),
        (
            "gig got cancelled so pull 500 back off jonas-w to the float",
            "unload_card",
            {"card": "jonas-w", "amount": "500"},
        ),
        (
            "festival's done, send $640 from priya's card back to float",
            "unload_card",
            {"card": "priya", "amount": "640"},
        ),
        ("please make sure that Nora's card is blocked, she lost it", "freeze_card", {"card": "Nora"}),
        (
            "Please arrange that 9140 is frozen. The card shall not be closed, only frozen.",
            "freeze_card",
            {"card": "9140"},
        ),
        ("see to it that 3018 works again please", "unfreeze_card", {"card": "3018"}),
        (
            "please lift the freeze of 3018, since the suspicion of fraud has not been confirmed.",
            "unfreeze_card",
            {"card": "3018"},
        ),
        ("cancel May's card pls. for good, not just a freeze", "close_card", {"card": "May"}),
        (
            "route jonas-w's codes to the webhook ta, he's always on site w no reception",
            "set_3ds",
            {"card": "jonas-w"},
        ),
        (
            "Please arrange that ads-eu has a weekly limit of USD 1.800,00",
            "set_limits",
            {"card": "ads-eu", "limits": {"weekly": "1800"}},
        ),
        ("company percentage on top goes to 2%", "set_markup", {"amount": "2"}),
    ],
)
def test_a_request_is_read_behind_arrange_that_and_with_its_card_first(
    said: str, intent: str, slots: object
) -> None:
    reading = parse(said, authors.facts(), kinds=operations.kinds()).first

    assert (reading.opened, reading.intent, reading.slots) == (True, intent, slots)


@pytest.mark.parametrize(
    ("said", "intent", "slots"),
    [
        (
            "She was meant to get 500 and I gave her 800, sorry. Kindly withdraw 300 dollars from Nora back to float",
            "unload_card",
            {"card": "Nora", "amount": "300"},
        ),
        (
            "can you get $250 back from sofia to the company account? (i have loaded her twice, sorry)",
            "unload_card",
            {"card": "sofia", "amount": "250"},
        ),
        (
            "please take back 40 dollars which are left on 3018",
            "unload_card",
            {"card": "3018", "amount": "40"},
        ),
        ("please do a transfer of 90 to hugo-o", "topup_card", {"card": "hugo-o", "amount": "90"}),
        (
            "Could ads-eu have another $2,000, please? The campaign starts at the fair.",
            "topup_card",
            {"card": "ads-eu", "amount": "2000"},
        ),
        (
            "He is not returning to the production. Close Will Park's card, not freeze, close.",
            "close_card",
            {"card": "Will Park"},
        ),
        ("pls park 3018 for now", "freeze_card", {"card": "3018"}),
        (
            "hey, you can take the freeze away from april-o, fraud check is done",
            "unfreeze_card",
            {"card": "april-o"},
        ),
        ("please let nora use her card again", "unfreeze_card", {"card": "nora"}),
        ("pls put nora-h on 1,500 weekly", "set_limits", {"card": "nora-h", "limits": {"weekly": "1500"}}),
        (
            "can you put the monthly limit from 5530 up to $5000? q4 ads",
            "set_limits",
            {"card": "5530", "limits": {"monthly": "5000"}},
        ),
        (
            "pls switch hugo-o to +2348098824410, the old line was blocked",
            "change_phone",
            {"card": "hugo-o", "phone": "+2348098824410"},
        ),
        (
            "can you switch may-s to the webhook for the 3ds codes? in japan she gets no sms",
            "set_3ds",
            {"card": "may-s"},
        ),
        ("3018 - purchase codes to our webhook thx", "set_3ds", {"card": "3018"}),
        ("markup 0 % pls, we don't want to earn on our own people", "set_markup", {"amount": "0"}),
        ("please add 1.5% on top of deposits", "set_markup", {"amount": "1.5"}),
        (
            "I want to book the tickets online with Ms Haddad's card. Please let me see the full number.",
            "reveal_card",
            {"card": "Haddad"},
        ),
    ],
)
def test_a_request_is_read_in_more_words_and_beside_why_it_is_asked_for(
    said: str, intent: str, slots: object
) -> None:
    reading = parse(said, authors.facts(), kinds=operations.kinds()).first

    assert (reading.opened, reading.intent, reading.slots) == (True, intent, slots)


@pytest.mark.parametrize("said", ["put all outgoing on hold", "please halt every payment out of the float"])
def test_all_that_goes_out_is_put_on_hold_by_the_pause(said: str) -> None:
    assert parse(said, authors.facts(), kinds=operations.kinds()).first.intent == "pause_sending"


@pytest.mark.parametrize(
    "said",
    [
        "Nora's card is frozen",
        "let nora use her card again once she has signed",
        "I told him to park 3018 for now",
        "he wants to lower what nora can spend to 300 per day",
        "3018 - purchase codes to our webhook?",
        "Bob wants 3018 switched to the webhook",
        "move 3018 to the webhook, or not",
        "close 3018, not freeze, close if he agrees",
        "Freeze 3018, not freeze, close.",
        "put 3018 on 300 weekly next month",
        "put 3018 on 250 dollars per transaction and 4402 on 300 weekly",
        "add 1.5% on top of deposits if carol agrees",
        "markup 1.5% pls check",
        "you can take the freeze away from 3018 when he calls",
        "take 60 off 3018 twice",
        "do a transfer of 90 to hugo-o from nora-h",
        "I was told that card 9140 is frozen",
        "he sees to it that 3018 is frozen",
        "Bob has to arrange that 60 are loaded onto 3018",
        "did you arrange that 60 are loaded onto 3018",
        "please arrange that 9140 is frozen, if Bob agrees",
        "please arrange that 9140 is frozen at the end of the month",
        "don't arrange that 9140 is frozen",
        "who can make sure that 9140 is frozen?",
        "the request got cancelled so load 50 onto 3018",
        "please lift the freeze of 3018 once the suspicion has not been confirmed by Bob",
        "from 3018 they take 40",
        "cancel my meeting. for good, freeze 3018 never",
        "load 340,00 onto 3018",
        "load 2,75 onto 3018",
        "load 340,000 EUR onto 3018",
    ],
)
def test_what_only_tells_of_it_opens_nothing(said: str) -> None:
    assert not any(one.opened for one in parse(said, authors.facts(), kinds=operations.kinds()).readings)
