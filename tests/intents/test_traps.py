"""Sentences that only look like a request open no form. `traps/sentences.jsonl` has thirty and more of ten kinds.

Written against the gate after its rules, by somebody who knew them; 64 of the 312 opened a form at first.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bot import operations
from bot.intents import parse
from tests.support import authors

_FILE = Path(__file__).parent / "traps" / "sentences.jsonl"
TRAPS = [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]
KINDS = sorted({trap["kind"] for trap in TRAPS})


def test_there_are_thirty_traps_of_each_of_ten_kinds() -> None:
    assert len(KINDS) == 10
    assert all(sum(trap["kind"] == kind for trap in TRAPS) >= 30 for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_sentence_that_only_looks_like_a_request_opens_no_form(kind: str) -> None:
    opened = [
        (trap["text"], reading.intent)
        for trap in TRAPS
        if trap["kind"] == kind
        for reading in parse(trap["text"], authors.facts(), kinds=operations.kinds()).readings
        if reading.opened
    ]

    assert opened == []


def test_the_same_words_without_the_trap_do_open_a_form() -> None:
    plain = [
        "freeze 3018",
        "load 50 onto 9140",
        "unfreeze 3018",
        "close 2675 for good",
        "unload 40 from 3018",
    ]

    assert all(parse(text, authors.facts()).first.opened for text in plain)


#: Colleagues of those who wrote the sentences; holders of cards are not among them.
_COLLEAGUE = re.compile(r"\b(?:alice|ben|bob|carol|dave|lucia|samir)\b", re.IGNORECASE)


@pytest.mark.by_turns(2)
@pytest.mark.parametrize("name", ["piotr", "wanda", "ingrid", "o'neill"])
def test_a_trap_is_one_whoever_is_named_in_it(name: str) -> None:
    """No rule may know the people of the sentences by which it was made."""
    written = [*(trap["text"] for trap in TRAPS), *(s.text for s in authors.said_by() if s.kind == "trap")]
    named = [text for text in written if _COLLEAGUE.search(text)]
    renamed = [
        _COLLEAGUE.sub(lambda found: name.title() if found[0].istitle() else name, text) for text in named
    ]

    opened = [
        (text, reading.intent)
        for text in renamed
        for reading in parse(text, authors.facts(), kinds=operations.kinds()).readings
        if reading.opened
    ]

    assert len(named) > 100
    assert opened == []


@pytest.mark.parametrize("who", ["Bob", "@wanda-kowal", "@O'Neill", "Carol Reyes", "Anna-Lena", "D'Arcy"])
@pytest.mark.parametrize(
    "said", ["{}, freeze 3018", "{} can you load 50 onto 9140", "{}, please unfreeze 3018"]
)
def test_what_is_said_to_a_colleague_opens_no_form(who: str, said: str) -> None:
    assert not parse(said.format(who), authors.facts()).first.opened


@pytest.mark.parametrize(
    "before", ["Hi, ", "Please ", "Team, please ", "Countersign, ", "Good morning, ", "Urgent, "]
)
def test_a_greeting_is_no_colleague(before: str) -> None:
    assert parse(f"{before}freeze 3018", authors.facts()).first.opened
