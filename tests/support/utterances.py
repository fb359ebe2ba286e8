"""The utterances of tests/intents/utterances: what was said, what should be understood, and how well it is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from bot.intents import Directory, Facts, KnownCard, Parsed, parse

FOLDER = Path(__file__).parents[1] / "intents" / "utterances"
OUR_ID = "UBOT"


def facts() -> Facts:
    """The directory all utterances are read against: holders named like words, last fours like years."""
    given = json.loads((FOLDER / "directory.json").read_text(encoding="utf-8"))
    cards = Directory([KnownCard(**card) for card in given["cards"]])
    return Facts(now=datetime.fromisoformat(given["now"]), tz=given["tz"], cards=cards, our_id=OUR_ID)


@dataclass(frozen=True)
class Utterance:
    """`intents` are all that would be right; `wanted` the request behind a question; `ask` the slot asked for."""

    text: str
    kind: str  # query | action | several | refused | other
    intents: list[str]
    opened: bool
    slots: dict[str, Any] = field(default_factory=dict)
    wanted: str = ""
    ask: str = ""


def utterances(part: str) -> Iterator[Utterance]:
    """Part `dev` or `held_out`."""
    lines = (FOLDER / f"{part}.jsonl").read_text(encoding="utf-8").splitlines()
    return (Utterance(**json.loads(line)) for line in lines)


@dataclass
class Score:
    """Right of all, by kind and for slots; `harm` are texts after which a wrong form opened, or one too many."""

    right: Counter[str] = field(default_factory=Counter)
    of: Counter[str] = field(default_factory=Counter)
    harm: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def share(self, kind: str) -> float:
        return self.right[kind] / self.of[kind]

    def add(self, said: Utterance, parsed: Parsed) -> None:
        good = _understood(said, parsed)
        self.of[said.kind] += 1
        self.right[said.kind] += good
        if not good:
            self.wrong.append(said.text)
        for name, value in said.slots.items():
            self.of["slot"] += 1
            self.right["slot"] += _same(parsed.first.slots.get(name), value)
        if _harms(said, parsed):
            self.harm.append(said.text)


def measured(part: str) -> Score:
    score, known = Score(), facts()
    for said in utterances(part):
        score.add(said, parse(said.text, known))
    return score


def _understood(said: Utterance, parsed: Parsed) -> bool:
    """The intent, what it waits for and whether a form opens; slots are counted apart."""
    first = parsed.first
    if said.kind == "several":
        return sum(reading.is_action for reading in parsed.readings) > 1 and not first.opened
    asked = not said.ask or (first.ask is not None and first.ask.slot == said.ask)
    wanted = not said.wanted or first.wanted == said.wanted
    return first.intent in said.intents and first.opened == said.opened and asked and wanted


def _harms(said: Utterance, parsed: Parsed) -> bool:
    """A form nobody asked for, another action than asked for, or a value in it that was not said."""
    opened = [reading for reading in parsed.readings if reading.opened]
    if not opened:
        return False
    values = all(_same(opened[0].slots.get(name), value) for name, value in said.slots.items())
    return not said.opened or opened[0].intent not in said.intents or not values


def _same(got: Any, wanted: Any) -> bool:
    if got == wanted or (isinstance(got, str) and got.casefold() == str(wanted).casefold()):
        return True  # a name as it was written may shout
    try:
        return Decimal(str(got)) == Decimal(str(wanted))
    except InvalidOperation:
        return False
