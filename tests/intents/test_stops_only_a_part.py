"""Whoever wants only some shops or uses of a card stopped gets no form that freezes or closes all of it."""

from itertools import product

import pytest

from bot import operations
from bot.intents import parse
from tests.support import authors

VERBS = ("block", "please block", "can you block", "ban", "stop", "freeze", "disable", "switch off", "lock")
PARTS = (
    *(
        "Temu as a merchant",
        "Temu",
        "purchases at Temu",
        "gambling sites",
        "ATM withdrawals",
        "foreign payments",
    ),
    *("online payments", "the Netflix subscription", "contactless", "all fuel stations", "payments abroad"),
    *("the merchant Uber", "Amazon and eBay", "cash", "in-app purchases"),
)
PLACES = (
    "{} on April's card",
    "only {} on April's card, the rest may stay",
    "{} for 3205",
    "{} on Jonas's card, he spends too much",
    "{} on the card ending 7716 please",
)


def _opened(text: str) -> list[str]:
    parsed = parse(text, authors.facts(), kinds=operations.kinds())
    return [reading.intent for reading in parsed.readings if reading.opened]


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("verb", VERBS)
def test_no_card_is_frozen_for_a_part_of_its_use(verb: str) -> None:
    texts = [f"{verb} {place.format(part)}" for part, place in product(PARTS, PLACES)]

    assert [text for text in texts if _opened(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "stop payments on Ines' card for now",
        "block all spending on 3205",
        "please freeze the card of Jonas",
        "can you block Marta's card for now, she lost it at a shop on Baker Street",
        "freeze 5589, there are purchases at Temu on the card that he does not know",
    ],
)
def test_what_stops_all_of_it_still_freezes_it(text: str) -> None:
    assert _opened(text) == ["freeze_card"]
