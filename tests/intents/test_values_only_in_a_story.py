"""The sums, spans of time and numbers that a story tells are in no form that another sentence asks for."""

from __future__ import annotations

from decimal import Decimal
from itertools import product

import pytest

from bot import operations
from bot.intents import Reading, parse
from tests.support import authors

EVERY = {"daily": "day", "weekly": "week", "monthly": "month"}
#: With `{every}` as daily and `{span}` as day.
REQUESTS = (
    "can you cap 3018 at 900 per {span}",
    "please set the {every} limit of 3018 to 900",
    "kindly lower 3018 to 900 a {span}",
    "please put a {every} limit of $900 on 3018",
    "could you raise 3018's {every} cap to 900 USD",
    "limit 3018 to 900 {every} please",
    "please make the {every} limit on 3018 900",
    "adjust 3018's {every} limit to 900",
)
STORIES = (
    "The hotel charged $310 in the end",
    "He paid 310 for the tyres on Saturday",
    "Her flight to Lyon was $310",
    "We spent 310.50 on tolls last week",
    "The caterer's bill came to 310 USD",
    "Somebody blew 310 at the chandler in October",
    "Last week the garage took $310 and $45 for oil",
)
PLACES = ("{story}. {asks}", "{asks}. {story}", "{story}. {asks}. He drives to Lyon on Thursday")
#: What may be the limit that is meant, or says that none is.
DOUBTS = (
    "310 would be better",
    "Make it 310",
    "Or 310",
    "310",
    "Sorry, 310",
    "I mean 310",
    "Bob thinks 310",
    "Dave wants 310 a week",
    "Her limit should be 310",
    "She needs 310",
    "She asked for 310",
    "Carol set it to 310",
    "Rather 310 than 900",
    "The boss said 310",
)
#: Something of a limit is missing in it, and the story has it.
WITHOUT = (
    "can you cap 3018 per week",
    "please set the daily limit of 3018",
    "kindly lower 3018's monthly limit",
    "please put a limit on 3018",
    "limit 3018 please",
)
WITHOUT_SPAN = ("can you cap 3018 at 900", "please set the limit of 3018 to 900", "limit 3018 to $900 please")
SPANS_IN_STORIES = ("He spends 310 per day on fuel", "The parking costs $310 a week", "Rent is 310 monthly")


def opened(text: str) -> Reading | None:
    parsed = parse(text, authors.facts(), kinds=operations.kinds())
    return next((reading for reading in parsed.readings if reading.opened), None)


def limits_of(text: str) -> dict[str, Decimal] | None:
    """The limits of the form that opens for 3018, none where none opens."""
    reading = opened(text)
    if reading is None or reading.intent != "set_limits":
        return None
    assert reading.card is not None
    assert reading.card.last4 == "3018"
    return {every: Decimal(amount) for every, amount in reading.slots["limits"].items()}


def said(request: str, every: str) -> str:
    return request.format(every=every, span=EVERY[every])


@pytest.mark.by_turns(4)
@pytest.mark.parametrize(("request_", "every"), list(product(REQUESTS, EVERY)))
def test_a_sum_of_the_story_is_no_limit(request_: str, every: str) -> None:
    asks = said(request_, every)
    texts = [place.format(story=story, asks=asks) for place, story in product(PLACES, STORIES)]

    assert limits_of(asks) == {every: Decimal(900)}
    assert {text: limits_of(text) for text in texts} == {text: {every: Decimal(900)} for text in texts}


@pytest.mark.by_turns(4)
@pytest.mark.parametrize(("request_", "every"), list(product(REQUESTS, EVERY)))
def test_a_sum_that_may_be_the_limit_keeps_the_form_closed(request_: str, every: str) -> None:
    asks = said(request_, every)
    texts = [text for doubt in DOUBTS for text in (f"{asks}. {doubt}", f"{doubt}. {asks}")]

    assert [text for text in texts if opened(text)] == []


@pytest.mark.parametrize("asks", WITHOUT)
def test_no_form_opens_with_the_sum_of_a_story(asks: str) -> None:
    texts = [
        place.format(story=story, asks=asks)
        for place, story in product(PLACES, (*STORIES, *SPANS_IN_STORIES))
    ]

    assert [text for text in texts if opened(text)] == []


@pytest.mark.parametrize("asks", WITHOUT_SPAN)
def test_no_form_opens_with_the_span_of_a_story(asks: str) -> None:
    texts = [place.format(story=story, asks=asks) for place, story in product(PLACES, SPANS_IN_STORIES)]

    assert [text for text in texts if opened(text)] == []


OF_ANOTHER_SLOT = (
    ("Please top up 3018", STORIES),
    ("load 3018 please", STORIES),
    ("Please order a card for Ada Quist, +31612345678, ada@quist.nl", STORIES[:3]),
    (
        "Please change the phone number of 3018",
        ("Somebody called him from +442071234567", "Fraudsters texted her from +442071234567 in October"),
    ),
)


@pytest.mark.parametrize(("asks", "tales"), OF_ANOTHER_SLOT)
def test_no_other_form_opens_with_what_only_a_story_says(asks: str, tales: tuple[str, ...]) -> None:
    texts = [place.format(story=story, asks=asks) for place, story in product(PLACES, tales)]

    assert [text for text in texts if opened(text)] == []


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("He paid 310 for the tyres himself. Please load 310 onto 3018", "amount", "310"),
        (
            "She called from her new number +442071234567. Please change the phone of 3018 to +442071234567",
            "phone",
            "+442071234567",
        ),
        (
            "He paid 310 for fuel yesterday. Please set the daily limit of 3018 to 310",
            "limits",
            {"daily": "310"},
        ),
        ("Please change the weekly limit of 3018. The new one is 310", "limits", {"weekly": "310"}),
    ],
)
def test_what_a_story_says_and_is_asked_for_as_well_opens(text: str, slot: str, value: object) -> None:
    reading = opened(text)

    assert reading is not None
    assert reading.slots[slot] == value
