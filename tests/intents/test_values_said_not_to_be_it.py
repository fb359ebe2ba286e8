"""Sentences that hold every value of a form and say that it is another one, or take it back: no form opens."""

import pytest

from bot import operations
from bot.intents import parse
from tests.support import authors


@pytest.mark.parametrize(
    "text",
    [
        "Nora's number is not +639171234567 anymore, I'll get the new one",
        "+639171234567 is no longer Nora's number",
        "Nora's old number +639171234567 is disconnected, update her card",
        "set hugos daily to 300 but only starting 1 dec. never mind",
        "set hugos daily to 300. nvm",
        "kindly lfit the freeze on ads-eu",
        "hold from Will Park card, matter is settled",
        "April's card must receive two hundred fift,y the visa fee is to pay today,",
    ],
)
def test_no_form_opens_for_a_value_that_is_not_the_one(text: str) -> None:
    assert not any(
        reading.opened for reading in parse(text, authors.facts(), kinds=operations.kinds()).readings
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Please issue a card for Dr. Ramon Villareal, ramon@northpier.io, +639175550199", "Ramon Villareal"),
        ("new start Eilidh Boyd needs a card. +447700900777, eilidh@northpier.io", "Eilidh Boyd"),
    ],
)
def test_a_title_or_a_job_is_no_part_of_a_name(text: str, name: str) -> None:
    assert parse(text, authors.facts(), kinds=operations.kinds()).first.slots["name"] == name
