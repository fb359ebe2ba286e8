"""A card is closed for good where that is meant: what may be taken back, or is only lost, is frozen or asked about."""

from itertools import product

import pytest

from bot import operations
from bot.intents import Reading, parse
from tests.support import authors

#: Verbs that say close, and those that some people say of a card they only want stopped.
CLOSING = ("close", "terminate", "delete", "shut down", "retire")
VAGUE = ("kill", "shut", "shut off")
FOR_NOW = (
    "{} 6051 for now",
    "{} 6051 for now, got lost on dock four",
    "{} Hugo's card for the moment",
    "{} 6051 temporarily please",
    "please {} Nora's card until we know more",
    "Ines lost it at the gate, {} her card meanwhile",
    "{} 6051 while I look for it",
    "{} 6051 till he finds it",
    "for now {} 6051",
)
LOST = (
    "3205 stolen. {} it",
    "3205 got stolen, {} it",
    "{} 3205, he lost it",
    "{} 3205, lost at the airport",
    "Hugo's wallet is gone, {} his card",
    "{} Nora's card, somebody copied it",
    "{} 3205, there are two charges we do not know",
)


def read(text: str) -> Reading:
    return parse(text, authors.facts(), kinds=operations.kinds()).first


def closes(text: str) -> bool:
    reading = read(text)
    return reading.opened and reading.intent == "close_card"


@pytest.mark.parametrize("pattern", FOR_NOW)
def test_what_is_meant_for_a_while_closes_nothing_whatever_the_verb(pattern: str) -> None:
    assert [verb for verb in (*CLOSING, *VAGUE) if closes(pattern.format(verb))] == []


@pytest.mark.parametrize("pattern", LOST)
def test_a_lost_card_is_not_closed_by_a_verb_that_may_mean_a_freeze(pattern: str) -> None:
    assert [verb for verb in VAGUE if closes(pattern.format(verb))] == []


@pytest.mark.parametrize(
    "text", ["shut 3205 off", "shut it off, the one ending 3205", "3205 stolen. shut it off"]
)
def test_shutting_off_is_freezing(text: str) -> None:
    assert not closes(text)
    assert read(text).intent == "freeze_card"


@pytest.mark.parametrize(
    ("verb", "text"),
    list(
        product(
            (*CLOSING, "kill"),
            ("{} 3018", "{} 3018 for good, he left the company", "{} 3018 permanently, it got lost"),
        )
    ),
)
def test_a_plain_or_final_word_still_closes(verb: str, text: str) -> None:
    assert closes(text.format(verb))
