"""What somebody thinks is set, beside a look or behind an announced question, opens nothing; nor what others may do."""

from __future__ import annotations

import os
from itertools import product

import pytest

from bot import operations
from bot.intents import Reading, parse
from tests.support import authors

WHO = ("tomas", "she", "the driver", "somebody")
THINKS = ("thinks", "says", "believes", "claims", "is convinced", "told me", "swears", "seems to think")
SET = (
    "he can spend only 100 per day",
    "the daily limit of 1297 is 100",
    "1297 is capped at 100 per day",
    "1297 gets 60",
    "there should be 60 more on 1297",
    "he may use 100 a day",
    "we take 1.2% on top",
    "the weekly limit on 1297 goes up to 400",
    "his phone is +351912604873",
    "i have to set 100 a day on 1297",
)
LOOKS = (
    "can you look what is set on 1297",
    "can you check",
    "please check whether that is right",
    "what is set on 1297?",
    "pls verify",
    "can somebody look it up",
    "kindly confirm what is set on 1297",
    "would you have a look at 1297 for me",
    "could you see if it is correct",
)
ANNOUNCED = (
    "short question - ",
    "quick question: ",
    "one question, ",
    "just a question. ",
    "may i ask something? ",
)
SAID_AFTER = ("", "?", ". can you look what is set on 1297")

#: Nobody of the directory.
OTHERS = ("Bob", "carol", "finance", "the driver", "Mr Smith", "he")
MAY = ("can", "may", "will", "should", "must", "has to", "is to", "wants to", "can please")
DONE = (
    "onto 3018 {} load 60",
    "from 3018 {} take 60",
    "60 {} load onto 3018",
    "{} load 60 onto 3018",
    "60 onto 3018 {} load",
    "3018 {} freeze",
    "3018 {} block please",
    "3018: {} close for good",
    "on 3018 {} set 100 a day",
    "please, onto 3018 {} load 60",
    "3018 by {} to be loaded with 60",
)


def opened(text: str) -> Reading | None:
    parsed = parse(text, authors.facts(), kinds=operations.kinds())
    return next((reading for reading in parsed.readings if reading.opened), None)


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("look", LOOKS)
def test_what_somebody_thinks_opens_nothing_where_a_look_is_asked_for(look: str) -> None:
    every = 1 if os.environ.get("SOAK") == "1" else 9
    said = [f"{who} {thinks} {set_}. {look}" for who, thinks, set_ in product(WHO, THINKS, SET)]
    texts = [text for at, text in enumerate(said) if at % every == 0]

    assert [text for text in texts if opened(text) or opened(f"hey, short question - {text}")] == []


@pytest.mark.parametrize("announced", ANNOUNCED)
def test_an_announced_question_opens_nothing(announced: str) -> None:
    said = product((*SET, "1297 limit 100 a day", "limit 1297 to 100 per day"), SAID_AFTER)

    assert [text for set_, end in said if opened(text := f"{announced}{set_}{end}")] == []


@pytest.mark.parametrize("card", ["0948: ", "0948 ", "may-s: ", "May's card: "])
def test_what_goes_back_to_the_float_is_no_top_up(card: str) -> None:
    ways = (
        "back to float",
        "to float",
        "float",
        "home to the float",
        "back",
        "return to float",
        "into the pot",
    )
    texts = [f"{card}65 {way}{end}" for way, end in product(ways, ("", " thx", " please"))]

    assert [text for text in texts if (one := opened(text)) and one.intent == "topup_card"] == []


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("done", DONE)
def test_what_somebody_else_may_do_opens_nothing(done: str) -> None:
    texts = [done.format(f"{other} {may}") for other, may in product(OTHERS, MAY)]

    assert [text for text in texts if opened(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "tomas says the hotel charged 300 already. please load 300 onto 1297",
        "tomas thinks he lost it. freeze 1297 pls",
        "quick question - could you load 60 onto 1297?",
        "please load 60 onto 1297 and confirm once done",
        "we need to load 60 onto 1297",
        "on 1297 somebody please set 100 a day",
        "can somebody load 60 onto 1297",
        "set the daily limit of 1297 to 100, finance said so",
    ],
)
def test_a_request_beside_what_somebody_says_still_opens_its_form(text: str) -> None:
    assert opened(text) is not None
