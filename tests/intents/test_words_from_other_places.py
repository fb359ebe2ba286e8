"""Requests in the words of Lagos, Zurich and Toronto, and whatever stands around them.

What is asked for times the words that ask for it. None opens where it is reported or negated, or another asks for it.
"""

from __future__ import annotations

from itertools import product

import pytest

from bot import operations
from bot.intents import Parsed, parse
from tests.support import authors

#: A request of every kind, whose plain form is known.
PLAIN = {
    "freeze 3018": "freeze_card",
    "unfreeze 3018": "unfreeze_card",
    "load 90 onto 3018": "topup_card",
    "take 90 off 3018": "unload_card",
    "set the daily limit of 3018 to 90": "set_limits",
}
#: Words that are polite in Lagos, before or behind.
POLITE = ("abeg {}", "{} abeg", "{} biko", "so abeg {}", "She paid the invoice already at noon, so abeg {}")
THINGS = ("3018", "the card of Hugo", "Hugo's card")
FRAMES = {
    "release_please": (("Release please", "Reactivate kindly", "Unblock pls"), "{} {}", "unfreeze_card"),
    "frozen": (
        ("release the frozen", "re-enable the blocked", "Reactivate please the locked"),
        "{} {} please",
        "unfreeze_card",
    ),
    "no_way_back": (
        ("terminate {}, no way back", "close {} irrevocably", "dissolve {} for good"),
        "",
        "close_card",
    ),
    "increase": (("increase", "raise", "bump up"), "{} {} by 600.00 USD please", "topup_card"),
    "pull_home": (
        ("Pull off 90 from {} and put it back in the float", "Retransfer 90 from {} to the float please"),
        "",
        "unload_card",
    ),
}
MARKUPS = (
    "Set the {} at 0.75%",
    "I ask therefore to lower the {} to 0.75 percent",
    "put the {} at 0.75%, please",
    "The CFO signed the price list. I ask therefore to set the {} to 0.75%",
)
MARGINS = ("margin on top-ups", "markup", "margin on deposits", "top-up margin")
#: What stands beside a request and says nothing of it.
BESIDE = (
    "{}, the campaign is starting tomorrow",
    "{}. legal signed it ahead of schedule",
    "{}; investigation closed without finding",
    "{}. that is the first thing they shipped ahead of schedule",
)
#: What keeps each closed.
CLOSES = (
    "Bob says: {}",
    "do not do it: {}",
    "{}, if Carol agrees",
    "{}. No, leave it",
    "Carol would like that you {}",
    "he asked me to {}",
    "{} tomorrow",
)


def _read(text: str) -> Parsed:
    return parse(text, authors.facts(), kinds=operations.kinds())


def _opened(text: str) -> list[str]:
    return [reading.intent for reading in _read(text).readings if reading.opened]


def _asked() -> list[tuple[str, str]]:
    asked = [(frame.format(said), intent) for frame, (said, intent) in product(POLITE, PLAIN.items())]
    for words, frame, intent in FRAMES.values():
        asked += [
            (frame.format(word, thing) if frame else word.format(thing), intent)
            for word, thing in product(words, THINGS)
        ]
    asked += [(frame.format(margin), "set_markup") for frame, margin in product(MARKUPS, MARGINS)]
    return asked


def test_each_frame_opens_its_form() -> None:
    missed = [(text, intent) for text, intent in _asked() if _opened(text) != [intent]]
    assert not missed, missed


def test_what_stands_beside_a_request_leaves_it_open() -> None:
    missed = [
        text
        for beside, (said, intent) in product(BESIDE, PLAIN.items())
        if _opened(text := beside.format(said)) != [intent]
    ]
    assert not missed, missed


@pytest.mark.parametrize("closes", CLOSES)
def test_no_frame_opens_where_it_is_reported_negated_or_put_off(closes: str) -> None:
    texts = [closes.format(text.rstrip(".")) for text, _ in _asked()[:: 2 if "{" in closes else 1]]
    opened = [(text, _opened(text)) for text in texts if _opened(text)]
    assert not opened, opened


@pytest.mark.parametrize("said", ["all of {} back in float please", "all {} back to the float pls"])
@pytest.mark.parametrize("whose", ["Hugo's money", "hugo-o's balance"])
def test_all_of_somebodys_money_goes_home(said: str, whose: str) -> None:
    (reading,) = _read(said.format(whose)).readings
    assert (reading.intent, reading.opened, reading.slots["everything"]) == ("unload_card", False, "yes")
