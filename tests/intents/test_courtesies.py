"""Courtesies around a request change nothing about it, neither that it is one nor that it is none."""

from itertools import product

import pytest

from bot import operations
from bot.intents import Reading, parse
from tests.support import authors

REQUESTS = (
    "freeze 3018",
    "load 50 onto 9140",
    "take 40 off 3018",
    "close 2675 for good",
    "unfreeze Hugo's card",
)
BEFORE = (
    "I'd be ever so grateful if you could {}",
    "we would appreciate it very much if someone could {}",
    "It would be lovely if you could {}.",
    "I was wondering whether you could possibly {}",
    "do you think you could {}?",
    "is there any chance you could {}?",
    "might I trouble you to {}?",
    "would you be a dear and {}?",
    "I demand to {}",
    "do please {}",
    "I wouldn't ask if it weren't urgent: {}",
    "if you could {}, that would be splendid",
)
BEHIND = (
    "{}, whenever it suits.",
    "{}. Let me know once it's done, thanks",
    "{}, if it's not too much trouble",
    "{}. Many apologies for the bother!",
    "{} please, that would be a great help",
    "{} at your earliest convenience",
    "Hope you had a nice weekend. {}",
)
DOING = (
    "transferring 40 to 3018",
    "popping 40 on 3018",
    "putting 40 on 3018",
    "loading 50 onto 9140",
    "taking 40 off 3018",
    "grabbing 40 back from 3018",
    "stopping 3018",
    "locking 3018",
    f"submitting 0x{'ab12' * 16} on Base",
    "capping 3018 at 900 per week",
    "cancelling 2675 for good",
)
#: What takes a request back takes it back with courtesies, too.
NO_REQUESTS = (
    "I'd be grateful if you didn't {}",
    "I'd be grateful if Bob could {}",
    "I was wondering whether we should {}",
    "do you think we should {}?",
    "I'd be so grateful if you could not {}",
    "is there any chance Bob will {}?",
    "Let me know if we should {}",
    "if it's not too late, Bob said: {}",
    "{} would be lovely, but not yet",
    "if you could {} I would be worried",
    "if you could {}, would it help",
    "I promised Bob I'd {}",
    "I'd appreciate it if you could {} tomorrow",
)


def read(text: str) -> Reading:
    return parse(text, authors.facts(), kinds=operations.kinds()).first


@pytest.mark.parametrize("pattern", [*BEFORE, *BEHIND])
def test_a_request_said_politely_opens_its_form(pattern: str) -> None:
    closed = [text for request in REQUESTS if not read(text := pattern.format(request)).opened]

    assert closed == []


@pytest.mark.parametrize(("asked", "doing"), list(product(("would you mind", "mind"), DOING)))
def test_a_request_may_be_what_one_would_not_mind_doing(asked: str, doing: str) -> None:
    """However the verb's last letter is written before its ending."""
    assert read(f"{asked} {doing}?").opened


@pytest.mark.parametrize("pattern", NO_REQUESTS)
def test_a_courtesy_makes_no_request_of_what_is_none(pattern: str) -> None:
    assert [text for request in REQUESTS if read(text := pattern.format(request)).opened] == []


@pytest.mark.parametrize(("opening", "text"), list(product(("", "Hi team, "), REQUESTS)))
def test_a_polite_question_about_it_is_still_a_question(opening: str, text: str) -> None:
    assert not read(f"{opening}would it be polite to {text}?").opened
