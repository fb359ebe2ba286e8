"""What somebody else does, did, will do or should do opens no form: it is not asked of us."""

from itertools import product

import pytest

from bot import operations
from bot.intents import parse
from tests.support import authors

NAMES = (
    *(
        "Emre",
        "Priscilla",
        "Stu",
        "Mr Novak",
        "our accountant",
        "Deniz bey",
        "finance",
        "Anna and Piotr",
        "HR",
    ),
    *("whoever is on shift", "the new guy", "Funke", "another colleague"),
)
TO_DO = ("will", "should", "can", "has to", "is going to", "wants to", "must", "would", "may", "needs to")
REQUESTS = (
    ("load", "loads", "loaded", "loading", "60 onto 3205"),
    ("top up", "tops up", "topped up", "topping up", "Jonas by 40"),
    ("freeze", "freezes", "froze", "freezing", "3018"),
    ("take", "takes", "took", "taking", "50 off Marta"),
    ("unfreeze", "unfreezes", "unfroze", "unfreezing", "3205"),
    ("close", "closes", "closed", "closing", "5589 for good"),
    ("set", "sets", "set", "setting", "the weekly limit of 3018 to 900"),
    ("change", "changes", "changed", "changing", "the phone of 3205 to +14155550123"),
    ("raise", "raises", "raised", "raising", "the markup to 2%"),
    ("move", "moves", "moved", "moving", "45 from 3205 to the float"),
)


def _texts(name: str) -> list[str]:
    begun = [
        *((f"{will} {do}", rest) for will, (do, _, _, _, rest) in product(TO_DO, REQUESTS)),
        *((said, rest) for _, does, did, _, rest in REQUESTS for said in (does, did, f"has {did}")),
        *((f"is {doing}", rest) for _, _, _, doing, rest in REQUESTS),
    ]
    return [f"{name} {said} {rest}{behind}" for said, rest in begun for behind in ("", " please", ", not us")]


def _opened(text: str) -> list[str]:
    parsed = parse(text, authors.facts(), kinds=operations.kinds())
    return [reading.intent for reading in parsed.readings if reading.opened]


@pytest.mark.by_turns(6)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_opens_for_what_somebody_else_does(name: str) -> None:
    assert [text for text in _texts(name) if _opened(text)] == []


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("hi team, please set the weekly limit of 3018 to 900", "set_limits"),
        ("the markup should be raised to 2% please", "set_markup"),
        ("long story short put the markup at 1% thx", "set_markup"),
        ("Jonas has changed his number, please update his phone to +14155550123", "change_phone"),
        (
            "He has changed of operator and his new number is +14155550123. Register it for 3018?",
            "change_phone",
        ),
    ],
)
def test_what_is_asked_of_us_opens_all_the_same(text: str, intent: str) -> None:
    assert _opened(text) == [intent]
