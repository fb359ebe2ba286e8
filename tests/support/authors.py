"""What many authors wrote to the bot (tests/intents/authors), and how a reading of it is judged.

Split by author, never by sentence: 01 to 12, 16 to 35, 37, 40, 44 and the even ones from 46 to 70 are for training the
ranker, 36, 38, 41 and the odd ones from 45 to 63 calibrate it; all of them show the rules what is missing. Whoever
measures on others hands in their folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any, Final

from bot.intents import Directory, Facts, KnownCard, Parsed, Reading

FOLDER: Final = Path(__file__).parents[1] / "intents" / "authors"
TRAINING: Final = (
    *(f"{number:02}" for number in range(1, 13)),
    *(f"{number}" for number in range(16, 36)),
    "37",
    "40",
    "44",
    "46",
    "48",
    "50",
    "52",
    "54",
    "56",
    "58",
    "60",
    "62",
    "64",
    "66",
    "68",
    "70",
)
DEVELOPMENT: Final = (
    "36",
    "38",
    "41",
    "45",
    "47",
    "49",
    "51",
    "53",
    "55",
    "57",
    "59",
    "61",
    "63",
    "65",
    "67",
    "69",
)
#: What a form must hold exactly as it was said; why something is requested is its writer's to check.
EXACT: Final = ("card", "amount", "limits", "phone", "email", "name", "tx_hash", "network")
#: Beside those, what a look-up is narrowed by.
SLOTS: Final = (*EXACT, "since", "until", "request")


@dataclass(frozen=True)
class Said:
    """One labelled message. `kind` is the class that its author gave it, from question to trap."""

    author: str
    text: str
    kind: str
    intent: str
    slots: dict[str, Any] = field(default_factory=dict)


def said_by(authors: Sequence[str] = (), folder: Path = FOLDER) -> Iterator[Said]:
    """Everything that these authors wrote; all files of the folder where none is named."""
    for path in sorted(folder.glob("[0-9]*.jsonl")):
        if authors and path.stem not in authors:
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield Said(path.stem, row["text"], row["class"], row["intent"], row["slots"])


@cache
def facts() -> Facts:
    """The cards that all authors were given, on the morning they wrote."""
    given = json.loads((FOLDER / "directory.json").read_text(encoding="utf-8"))
    cards = Directory([KnownCard(**card) for card in given["cards"]])
    return Facts(now=datetime.fromisoformat(given["now"]), tz=given["tz"], cards=cards)


@dataclass(frozen=True)
class Verdict:
    """How well a message was read. `right`: at once; `near`: right, or among what is offered, and of what is left
    alone or refused: without an offer; `harm`: what opened that was not asked for, else empty; `flipped`: it went the
    other way."""

    right: bool
    near: bool
    slots: int = 0
    slots_right: int = 0
    harm: str = ""
    flipped: bool = False


_OPPOSITE: Final = {
    frozenset({"topup_card", "unload_card"}),
    frozenset({"freeze_card", "unfreeze_card"}),
    frozenset({"unfreeze_card", "close_card"}),
}


def judged(said: Said, parsed: Parsed) -> Verdict:
    """The verdict on one message."""
    first = parsed.first
    opened = next((reading for reading in parsed.readings if reading.opened), None)
    harm, flipped = _harm(said, opened)
    read = next((r for r in parsed.readings if _is(said.intent, r)), None)
    offered = next((s for s in parsed.suggestions if s.intent == said.intent), None)
    match said.kind:
        case "question":
            right = read is not None
            near = right or offered is not None or first.wanted == said.intent
        case "wish":
            right = read is not None and (read.opened or read.ask is not None or read.takes_back)
            near = right or offered is not None or any(r.wanted == said.intent for r in parsed.readings)
        case "off_topic":
            right = first.intent == "none"
            near = right and not parsed.suggestions
        case "refusal":
            right = _refused(first) or first.intent == "none"
            near = right and not parsed.suggestions
        case "must_ask":
            asks = first.ask is not None or len(parsed.readings) > 1 or bool(parsed.suggestions)
            right = near = opened is None and asks
        case _:
            right = near = opened is None
    slots = read.slots if read is not None else offered.slots if offered is not None else None
    wanted = [name for name in SLOTS if name in said.slots] if said.kind in ("question", "wish") else []
    good = (
        sum(same(name, _slot(slots, name), said.slots[name]) for name in wanted) if slots is not None else 0
    )
    return Verdict(right, near, len(wanted) if slots is not None else 0, good, harm, flipped)


def _slot(slots: Mapping[str, Any], name: str) -> Any:
    """A slot as it was read; "everything" is all of an amount."""
    return "all" if name == "amount" and slots.get("everything") else slots.get(name)


def _is(intent: str, reading: Reading) -> bool:
    aliases = {"reveal_card": "card_reveal"}
    return reading.intent in (intent, aliases.get(intent))


#: What a refusal says: what is not offered, that decisions are made with the buttons, that nothing is scheduled.
_REFUSALS: Final = (
    "not offered",
    "Decisions are made with the buttons",
    "Nothing is scheduled for another time",
)


def _refused(reading: Reading) -> bool:
    """Does the answer say that this is not done here? Nothing may be opened beside it."""
    said = [*reading.notes, reading.ask.question if reading.ask is not None else ""]
    return not reading.opened and any(refusal in text for text in said for refusal in _REFUSALS)


#: The sum of a transfer is no field of its form: the chain says what came.
_NO_FIELD: Final = frozenset({("submit_funding", "amount")})


def _harm(said: Said, opened: Reading | None) -> tuple[str, bool]:
    """What an opened form holds that was not said, and whether it goes the other way."""
    if opened is None:
        return "", False
    flipped = frozenset({said.intent, opened.intent}) in _OPPOSITE
    if said.kind != "wish":
        return f"opened {opened.intent} for {said.kind}", flipped
    if not _is(said.intent, opened):
        return f"opened {opened.intent}, said {said.intent}", flipped
    for name in EXACT:
        if (said.intent, name) in _NO_FIELD:
            continue
        read, wanted = opened.slots.get(name), said.slots.get(name)
        if wanted == "all" and opened.slots.get("everything"):
            continue
        if (read is not None or wanted is not None) and not same(name, read, wanted):
            return f"{name} {read!r}, said {wanted!r}", False
    return "", False


def same(name: str, read: Any, wanted: Any) -> bool:
    """Is a slot as it was said? A card by any of its names, an amount by its value."""
    if read is None or wanted is None:
        return read is wanted
    if name == "card":
        mine, theirs = _cards(str(read)), _cards(str(wanted))
        return str(read).casefold() == str(wanted).casefold() or (bool(mine) and mine == theirs)
    if name == "network":
        return _network(str(read)) == _network(str(wanted))
    if name == "limits" and isinstance(read, dict) and isinstance(wanted, dict):
        return read.keys() == wanted.keys() and all(same("", read[key], wanted[key]) for key in read)
    if str(read).casefold() == str(wanted).casefold():
        return True
    try:
        return Decimal(str(read)) == Decimal(str(wanted))
    except InvalidOperation:
        return False


def _network(written: str) -> str:
    """One name for each network, whatever it is called."""
    bare = written.lower()
    for name, words in (
        ("polygon", ("poly", "matic", "pol")),
        ("bnb", ("bnb", "bsc", "bep")),
        ("base", ("base",)),
    ):
        if any(word in bare for word in words):
            return name
    return bare


@cache
def _cards(written: str) -> frozenset[str]:
    from bot.intents.extraction import resolve_card

    cards = facts().cards
    assert isinstance(cards, Directory)
    bare = written.removesuffix("'s").removesuffix("’s").removesuffix("'")
    return frozenset(card.last4 for card in resolve_card(bare, cards))
