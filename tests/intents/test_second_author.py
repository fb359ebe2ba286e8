"""What a second author wrote without seeing the rules: the same promise, on words the rules were not made for.

`kind` is `query` and `action` (understood as said), `asked` (a request that needs a question) and `never` (looks
like a request, is none). The last two may be read in any way that opens no form.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from bot.intents import Facts, KnownCard, Reading, parse

FOLDER = Path(__file__).parent / "utterances"
SAID: list[dict[str, Any]] = [
    json.loads(line) for line in (FOLDER / "second_author.jsonl").read_text().splitlines()
]


def facts() -> Facts:
    known = json.loads((FOLDER / "second_directory.json").read_text())
    cards = [KnownCard(**card) for card in known["cards"]]
    return Facts(now=datetime.fromisoformat(known["now"]), tz=known["tz"], cards=cards)


def is_right(said: dict[str, Any], read: Reading) -> bool:
    if said["kind"] in ("asked", "never"):
        return not read.opened
    slots = said["slots"]
    same = read.intent == said["intent"] and all(read.slots.get(k) == v for k, v in slots.items())
    return same and read.opened == (said["kind"] == "action")


def test_no_form_opens_with_another_request_or_value_than_was_said() -> None:
    opened = [(said, parse(said["text"], facts()).first) for said in SAID]

    assert [said["text"] for said, read in opened if read.opened and not is_right(said, read)] == []


@pytest.mark.parametrize(("kind", "share"), [("query", 0.85), ("action", 0.85), ("asked", 1), ("never", 1)])
def test_most_of_it_is_understood_as_it_was_meant(kind: str, share: float) -> None:
    meant = [said for said in SAID if said["kind"] == kind]
    wrong = [said["text"] for said in meant if not is_right(said, parse(said["text"], facts()).first)]

    assert len(wrong) <= (1 - share) * len(meant), wrong


def test_a_name_with_a_slip_in_it_is_offered_whatever_stands_beside_it() -> None:
    read = parse("top up Norah with 50", facts()).first

    assert not read.opened
    assert read.ask is not None
    assert [option.value for option in read.ask.options] == ["9140"]
