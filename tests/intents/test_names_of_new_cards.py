"""The name on a new card is the person's: capitalised words and particles between them, no verb.

People, times what is said of them, or by whom, times how the card is asked for. In doubt the name is asked for.
"""

from __future__ import annotations

from itertools import product

import pytest

from bot import operations
from bot.intents import Parsed, parse
from tests.support import authors

PEOPLE = ("Blessing Okafor", "Urs Kälin", "Femke de Boer", "Ana María Ruiz", "Ngozi Adeyemi-Cole")
TELLS = tuple(
    f"{{name}} {verb}"
    for verb in (
        "resumed today as cashier and she",
        "joined us as driver and",
        "begins here and",
        "transferred from Kano,",
        "arrives Monday and he",
        "got promoted and now",
        "took over the desk so she",
    )
)
DECIDES = tuple(
    f"{who} {said} {{name}}, thus he"
    for who, said in product(
        ("HR", "IT", "CFO", "Legal", "Finance", "Ops", "Procurement", "Payroll"),
        ("has confirmed me the entry of", "hired", "informs us about"),
    )
)
ASKS = ("{who} needs {own} card: {contact}", "{who} requires a card; reachable under {contact}")


def _texts() -> list[tuple[str, str]]:
    texts = []
    for number, (name, around, asks) in enumerate(product(PEOPLE, TELLS + DECIDES, ASKS)):
        first, last = name.split()[0].lower(), name.split()[-1].lower()
        mail = (f"{first}.{last}", f"{first[0]}.{last}", "office")[number % 3]
        mail = mail.replace("ä", "ae").replace("í", "i")
        contact = f"{mail}@northlane.io, +14165550133"
        texts.append(
            (
                asks.format(who=around.format(name=name), own=("a", "her own")[number % 2], contact=contact),
                name,
            )
        )
    return texts


def _read(text: str) -> Parsed:
    return parse(text, authors.facts(), kinds=operations.kinds())


def _names_opened(text: str) -> list[str]:
    return [
        reading.slots["name"]
        for reading in _read(text).readings
        if reading.opened and "name" in reading.slots
    ]


def test_only_the_persons_name_opens_on_a_new_card() -> None:
    wrong = [(text, opened) for text, name in _texts() for opened in _names_opened(text) if opened != name]
    assert not wrong, wrong[:10]


def test_a_name_that_its_address_confirms_is_read_behind_a_story() -> None:
    texts = [(text, name) for text, name in _texts() if f"{name.split()[0].lower()}." in text]
    missed = [text for text, name in texts if _names_opened(text) != [name]]
    assert len(missed) <= len(texts) / 3, missed[:10]


@pytest.mark.parametrize(
    "text",
    [
        "HR needs a card: office@northlane.io, +14165550133",
        "IT requires a card: office@northlane.io, +14165550133",
        "New card for CFO, office@northlane.io, +14165550133",
        "Ana maria lopez needs a card: office@northlane.io, +14165550133",
    ],
)
def test_who_nobody_is_called_and_a_name_of_two_readings_are_asked_for(text: str) -> None:
    assert not _names_opened(text)


@pytest.mark.parametrize("name", ["Femke de Boer", "Jean-Luc Moreau", "Siobhán O'Neill"])
def test_names_of_people_and_groups_open(name: str) -> None:
    assert _names_opened(f"order a card for {name}, office@northlane.io, +14165550133") == [name]


def test_a_text_all_in_small_letters_may_name_somebody() -> None:
    assert _names_opened("card for bram hendriks, office@northlane.io, +14165550133") == ["bram hendriks"]
