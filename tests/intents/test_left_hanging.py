"""A negation that stands before a break belongs to the request behind it, wherever the line ends."""

from itertools import product

import pytest

from bot import operations
from bot.intents import parse
from tests.support import authors

NEGATIONS = (
    *("please do not", "do not", "don't", "please don't", "never", "dont", "you must not", "we should not"),
    *("under no circumstances", "no need to", "I do not want to", "please do not, under any circumstances,"),
    *("not yet", "do NOT please", "you shall not", "nobody should", "please avoid to", "it is forbidden to"),
)
REQUESTS = (
    *(
        "weekly limit 900 for 3018",
        "load 60 onto 3205",
        "top up Jonas by 40",
        "freeze 3018",
        "take 50 off Marta",
    ),
    *("unfreeze 3205", "close 5589 for good", "3205 limit monthly 500", "set the markup to 2%"),
    *("change the phone of 3205 to +14155550123", "top-up 40 for 3205", "3018: 60 please"),
)
BREAKS = ("\n", "\n\n", ": ", "... ", ", ", " - ", "; ", " ")
BEHIND = ("", ", he lost it")


@pytest.mark.by_turns(6)
@pytest.mark.parametrize("negation", NEGATIONS)
def test_nothing_opens_behind_a_negation_that_is_left_hanging(negation: str) -> None:
    facts, kinds = authors.facts(), operations.kinds()
    texts = [negation + cut + said + more for said, cut, more in product(REQUESTS, BREAKS, BEHIND)]

    opened = [t for t in texts if any(one.opened for one in parse(t, facts, kinds=kinds).readings)]

    assert opened == []
