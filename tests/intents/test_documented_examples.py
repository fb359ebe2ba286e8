"""Every example sentence is read as the intent it stands for, and pages and manifest show no others."""

import re
from pathlib import Path

import pytest
import yaml

from bot.intents import ACTIONS, EXAMPLES, parse
from handlers.commands import intent_commands
from tests.support.utterances import facts

ROOT = Path(__file__).parents[2]
ROWS = re.findall(
    r"^\| `(\w+)` \| (.+) \|$", (ROOT / "docs" / "conversation.md").read_text("utf-8"), re.MULTILINE
)
SAID = [(intent, said) for intent, example in EXAMPLES.items() for said in example.said]
DOCUMENTED = [(intent, said) for intent, example in EXAMPLES.items() for said in example.documented]


def test_every_intent_has_an_example() -> None:
    shown = {intent for intent, _ in DOCUMENTED}

    # The hash of a submission is too long for a table. A button follows on "undo" and "pause everything", no form.
    others = {"help", "undo", "pause_sending"}
    assert shown == intent_commands.COMMANDS.keys() | others | (ACTIONS - {"submit_funding"})


def test_the_page_shows_the_examples_and_no_others() -> None:
    shown = [(intent, tuple(re.findall(r"`([^`]+)`", cell))) for intent, cell in ROWS]

    assert sorted(shown) == sorted((intent, example.documented) for intent, example in EXAMPLES.items())


def test_slack_offers_prompts_that_are_examples() -> None:
    manifest = yaml.safe_load((ROOT / "manifest.yml").read_text("utf-8"))
    offered = manifest["features"]["agent_view"]["suggested_prompts"]

    assert {(one["title"], one["message"]) for one in offered} <= {e.prompt for e in EXAMPLES.values()}


@pytest.mark.parametrize(("intent", "said"), SAID)
def test_an_example_is_read_as_the_intent_it_stands_for(intent: str, said: str) -> None:
    (reading,) = parse(said, facts()).readings

    assert intent in (reading.intent, reading.wanted)


@pytest.mark.parametrize(("intent", "said"), DOCUMENTED)
def test_an_example_is_read_as_documented(intent: str, said: str) -> None:
    reading = parse(said, facts()).first

    assert reading.intent == intent
    assert reading.opened == (intent in ACTIONS)
