"""Where a quotation mark ends what no mark has begun, nobody can tell which words are the writer's: no form opens."""

from __future__ import annotations

import pytest

from bot import operations
from bot.intents import parse
from tests.support import authors

REQUESTS = [
    "freeze 3018",
    "please load 3000 onto ads-eu",
    "top up 3018 by 50",
    "set Nora's weekly limit to 900",
    "close 3018 for good",
    "unfreeze 3018",
]
AROUND = [
    '{}", said Bob',
    '{}" said Bob',
    '{}."',
    'thx", the email from marketing reads: "{} asap',
    'thanks", she wrote, "{}',
    'he wrote", {} please, "and more',
    'the mail begins so", {}',
    'asap",\n{}',
    "thx”, the email reads: “{} asap",
]
KNOWN = [
    'top up 3018 by 50 for the "offsite"',
    'freeze 3018, the holder of "Ads" left',
    'top up 3018 by 50 ("offsite")',
]


def is_opened(text: str) -> bool:
    return any(one.opened for one in parse(text, authors.facts(), kinds=operations.kinds()).readings)


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("request_text", REQUESTS)
def test_no_form_opens_behind_a_mark_that_ends_what_none_has_begun(request_text: str, around: str) -> None:
    assert not is_opened(around.format(request_text))


@pytest.mark.parametrize("text", KNOWN)
def test_a_whole_pair_of_marks_keeps_no_form_closed(text: str) -> None:
    assert is_opened(text)
