"""Sentences that only look like a request open no form. `traps/sentences.jsonl` has thirty and more of ten kinds.

Written against the gate after its rules, by somebody who knew them; 64 of the 312 opened a form at first.
"""

from __future__ import annotations

import json
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
