"""Every example of docs/conversation.md is read as the page says."""

import re
from pathlib import Path

import pytest

from bot.intents import ACTIONS, READS, parse
from tests.support.utterances import facts

PAGE = (Path(__file__).parents[2] / "docs" / "conversation.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| (.+) \|$", PAGE, re.MULTILINE)
EXAMPLES = [(intent, said) for intent, cell in ROWS for said in re.findall(r"`([^`]+)`", cell)]


def test_every_intent_has_an_example() -> None:
    shown = {intent for intent, _ in EXAMPLES}

    assert shown >= READS | (ACTIONS.keys() - {"submit_funding"})  # its hash is too long for a table


@pytest.mark.parametrize(("intent", "said"), EXAMPLES)
def test_an_example_is_read_as_documented(intent: str, said: str) -> None:
    reading = parse(said, facts()).first

    assert reading.intent == intent
    assert reading.opened == (intent in ACTIONS)
