"""Several cards in one message: no form opens for one of them, and the command that takes a list is named."""

from itertools import product

import pytest

from bot import operations
from bot.intents import parse
from tests.support import authors

KINDS = operations.kinds()
#: How two or three cards with an amount each are written.
_TOP_UPS = (
    "top up 3205 by 50, 7716 by 60 and Marta by 70",
    "top up 3205 50, 7716 60, 5530 70",
    "top up Marta by 50 and Jonas by 60",
    "load 50 on 3018 and 60 on 5530",
    "please put 50 on 3018, 60 on 5530",
    "top up 3018 and 5530 by 50",
    "top up 3018 50 5530 60",
)
_FREEZES = ("freeze 3018 and 5530", "block 3018, 5530 and 7716 please", "freeze Marta and Jonas")
_OTHERS = (
    "close 3018, 5530 and 7716 for good",
    "take 50 off 3018 and 20 off 5530",
    "set daily limit 100 for 3018 and 200 for 5530",
    "unfreeze 3018 and 5530",
)


@pytest.mark.parametrize(
    ("text", "command"),
    [*product(_TOP_UPS, ["/card topup bulk"]), *product(_FREEZES, ["/card freeze bulk"])],
)
def test_the_command_for_a_list_is_named(text: str, command: str) -> None:
    (asked,) = parse(text, authors.facts(), kinds=KINDS).readings

    assert not asked.opened
    assert asked.ask is not None
    assert f"`{command}`" in asked.ask.question


@pytest.mark.parametrize("text", _OTHERS)
def test_of_what_takes_no_list_one_is_asked_for(text: str) -> None:
    (asked,) = parse(text, authors.facts(), kinds=KINDS).readings

    assert not asked.opened
    assert asked.ask is not None
    assert "bulk" not in asked.ask.question
    assert len(asked.ask.options) > 1
