"""What is said of a request is none: what doing it would be. Nor is a paper with a number, or a card for a while."""

from __future__ import annotations

import pytest

from bot import operations
from bot.intents import parse
from tests.support import authors

DOING = (
    "unfreezing {}",
    "freezing {}",
    "blocking {} now",
    "closing {}",
    "loading 50 onto {}",
    "taking 80 off {}",
    "raising the daily limit to 900 on {}",
    "changing the phone to +447700900123 for {}",
)
WOULD_BE = (
    "before he says sorry would be premature",
    "now is risky",
    "right now makes no sense",
    "so early seems unfair",
    "again will cost us a fortune",
    "just because Finance is nervous is a bad look",
    "won't help anybody",
)
LEADS = ("", "I think ", "honestly, ")
ASKS = tuple(
    f"{verb} {whom}a {{}} for Tomás{more}"
    for verb in ("make", "do", "send", "get", "give", "file", "print")
    for whom in ("me ", "us ", "")
    for more in ("", " please", ", he's been on my case since March")
)
PAPERS = ("1099", "1040", "941", "990")


def opened(text: str) -> list[str]:
    readings = parse(text, authors.facts(), kinds=operations.kinds()).readings
    return [one.intent for one in readings if one.opened]


@pytest.mark.by_turns(3)
@pytest.mark.parametrize("doing", DOING)
def test_what_doing_it_would_be_opens_nothing(doing: str) -> None:
    said = [f"{lead}{doing.format('Hugo')}'s card {verdict}" for lead in LEADS for verdict in WOULD_BE]

    assert [text for one in said for text in (one, one.capitalize()) if opened(text)] == []


@pytest.mark.by_turns(3)
@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_with_a_number_for_its_name_is_no_amount(paper: str) -> None:
    assert [text for text in (ask.format(paper) for ask in ASKS) if opened(text)] == []


@pytest.mark.by_turns(3)
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("{}Our Dubai coordinator Shruti Kamath requires a card. {}", "Shruti Kamath"),
        ("{}Need a card issued to Shruti Kamath with 100 on it. {}", "Shruti Kamath"),
        ("{}We need a card for our site manager Shruti Kamath: {}", "Shruti Kamath"),
    ],
)
@pytest.mark.parametrize("greeting", ["", "Hey! ", "Hello, ", "Morning! ", "Hi team! "])
def test_a_greeting_and_what_somebody_is_are_no_part_of_their_name(
    text: str, name: str, greeting: str
) -> None:
    said = text.format(greeting, "+971504417732 / shruti.k@quist.example")
    (reading,) = parse(said, authors.facts(), kinds=operations.kinds()).readings

    assert reading.slots.get("name", name) == name


@pytest.mark.by_turns(3)
@pytest.mark.parametrize("time", ["3 weeks", "a month", "a few days", "two months", "10 days"])
def test_a_card_for_some_time_opens_no_order(time: str) -> None:
    assert (
        opened(f"order card for {time} → Ada Quist | +31612345678 | ada@quist.example | first load 90") == []
    )
