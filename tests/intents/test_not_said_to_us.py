"""A request that is said to somebody else, is somebody else's, is done already or waits for another opens no form."""

from itertools import product

import pytest

from bot import operations
from bot.intents import Parsed, parse
from tests.support import authors

_FACTS, _KINDS = authors.facts(), operations.kinds()
ASKED = ("freeze 3018", "please freeze 3018", "top up 3018 by 50", "please close 3018")
HELLO = (
    "Hi Bob, {}",
    "Hi Bob,\n{}.",
    "Dear Bob, {}",
    "hey dave, {}",
    "Good morning Alice, {}",
    "bob please {}",
    "to: dave - {}",
)
OTHERS = (
    "---------- Forwarded message ---------\n{}",
    "From: bob@x.com\nTo: eve@x.com\n\n{}",
    "From: bob@x.com\nTo: eve@x.com\nSubject: card\n\n{}",
    "my boss: {}",
    "our cfo says: {}",
    "the old rule was: {}",
    "his mail: {}",
    "「{}」",
    "『{}』",
    "‹{}›",
    "《{}》",
)
SIGNS = (
    "{} ❌",
    "🚫 {}",
    "⛔ {}",
    "{} 👎",
    ":x: {}",
    "✅ {}",
    "{} ✅",
    "[x] {}",
    "- [x] {}",
    "{} 🙅",
    "☑️ {}",
)
BEHIND = (
    "{}. Nora must confirm",
    "{}. Dave has to approve",
    "{}. Would that work?",
    "{}. Would you do that?",
    "{}. Is this how it works?",
    "{}. Done already by Bob",
    "{}. Bob does it",
    "{}. Bob will do it",
    "{}. April fools",
    "{}. And the same for Nora",
)
HASH = "0x" + "1" * 64
SAID = (
    *(frame.format(asked) for frame, asked in product((*HELLO, *OTHERS, *SIGNS, *BEHIND), ASKED)),
    "Hi Hugo, please top up my card by 50",
    "Nora please freeze my card",
    *(f"submit {HASH} {net}" for net in ("polygon testnet", "on amoy polygon", "base sepolia")),
)
OURS = (
    *(
        f"{hello}, please freeze 3018"
        for hello in ("Hi", "Hi team", "Dear team", "hey mate", "Good morning", "Hi all")
    ),
    *("Hello Countersign, please freeze 3018", "Hi bot, please freeze 3018", "hey can you freeze 3018"),
    *("please freeze 3018 🙏", "❄️ 3018", "please freeze 3018. Thanks, Alice", "freeze 3018, he lost it"),
)


def _read(said: str) -> Parsed:
    return parse(said, _FACTS, kinds=_KINDS)


@pytest.mark.parametrize("said", SAID)
def test_what_may_be_said_to_or_by_somebody_else_opens_no_form(said: str) -> None:
    assert not any(one.opened for one in _read(said).readings)


@pytest.mark.parametrize("said", OURS)
def test_what_is_said_to_us_opens_its_form(said: str) -> None:
    (one,) = _read(said).readings

    assert (one.intent, one.opened) == ("freeze_card", True)
