"""A message of nothing but fields is read as the request they make, and as none where a single piece is not known."""

import itertools

import pytest

from bot import operations
from bot.intents import Parsed, parse
from tests.support import authors

HASH = "0x" + "6ceddf70" * 8
#: What to do, its fields, and the intent.
MADE = (
    ("topup", {"card": "6051", "amt": "220.00"}, "topup_card"),
    ("top-up", {"who": "tomas-r", "amount": "60 USD"}, "topup_card"),
    ("unload", {"card": "nora-h", "amount": "75.25"}, "unload_card"),
    ("freeze", {"card": "9140"}, "freeze_card"),
    ("unblock", {"holder": "Jonas Weber"}, "unfreeze_card"),
    ("close for good", {"card": "1297"}, "close_card"),
    ("limits", {"card": "ads-eu", "daily": "2500", "monthly limit": "20000"}, "set_limits"),
    ("change phone", {"card": "7716", "new number": "+48 601 22 33 44"}, "change_phone"),
    ("markup change", {"new value": "3%"}, "set_markup"),
    ("submit funding", {"network": "polygon", "tx_hash": HASH}, "submit_funding"),
)
#: A field that says why, and changes nothing.
WHY = ("", "Black Friday campaign (MKT-341)", "suspected phishing, SEC-77", "leftover per diem")
#: What stands in a field, a line or a place where no form may open.
DANGERS = (
    ("reason", "do not do it yet"),
    ("note", "only a test"),
    ("why", "when Bob has approved it"),
    ("status", "rejected"),
    ("until", "friday"),
    ("approved", "no"),
    ("date", "2026-12-01"),
    ("amount2", "70"),
    ("card", "5530"),
)
_FACTS, _KINDS = authors.facts(), operations.kinds()


def _parsed(text: str) -> Parsed:
    return parse(text, _FACTS, kinds=_KINDS)


def _opens(text: str) -> bool:
    return any(reading.opened for reading in _parsed(text).readings)


def _lines(what: str, fields: dict[str, str], sign: str = ": ", mark: str = "") -> str:
    return "\n".join([what, *(f"{mark}{key}{sign}{value}" for key, value in fields.items())])


def _object(what: str, fields: dict[str, str], key: str = "op") -> str:
    return "{" + ", ".join(f'"{name}": "{value}"' for name, value in {key: what, **fields}.items()) + "}"


@pytest.mark.parametrize(("what", "fields", "intent"), MADE)
@pytest.mark.parametrize("why", WHY)
def test_lines_and_objects_of_fields_are_read_as_the_request_they_make(
    what: str, fields: dict[str, str], intent: str, why: str
) -> None:
    filled = {**fields, "reason": why} if why else fields
    texts = (
        _lines(what.capitalize(), filled),
        _lines(f"{what} request", filled, mark="- "),
        _lines(f"Hi team, please {what}:", filled, sign=" = ", mark="• "),
        _object(what, filled),
        _object(what, filled, key="action") + " pls",
    )
    for text in texts:
        first = _parsed(text).first
        assert (text, first.intent, first.opened) == (text, intent, True)


@pytest.mark.parametrize("danger", DANGERS)
def test_a_field_that_is_not_known_or_speaks_against_it_keeps_it_closed(danger: tuple[str, str]) -> None:
    key, value = danger
    opened = []
    for what, fields, _ in MADE:
        if key in fields:
            continue
        more = {**fields, key: value}
        opened += [text for text in (_lines(what, more), _object(what, more)) if _opens(text)]

    assert opened == []


@pytest.mark.parametrize(
    "pattern",
    [
        "the log has {} in it",
        "Bob wrote: {}",
        "don't send {}",
        "example: {}",
        "> {}",
        "`{}`",
        "```{}```",
        "{} was rejected, why?",
        "{} tomorrow",
        "if Bob agrees {}",
        "{}\nwait for Bob first",
    ],
)
def test_an_object_with_words_around_it_is_evidence(pattern: str) -> None:
    """Somebody shows what a machine said."""
    texts = [pattern.replace("{}", _object(what, fields)) for what, fields, _ in MADE]

    assert [text for text in texts if _opens(text)] == []


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(("freeze", "unfreeze", "close"), 2)))
def test_two_things_to_do_in_one_set_of_fields_open_neither(one: str, other: str) -> None:
    assert not _opens(_lines(one, {"action": other, "card": "9140"}))


@pytest.mark.parametrize(
    "fields",
    [
        {"card": "9140", "amount": "2,75"},
        {"card": "9999", "amount": "60"},
        {"card": "9140"},
        {"amount": "60"},
    ],
)
def test_a_value_that_is_missing_or_in_doubt_is_asked_for(fields: dict[str, str]) -> None:
    assert not _opens(_lines("top-up", fields))
    assert not _opens(_object("topup", fields))
