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


#: What stops a card for a while, said with words after which it never comes back.
STOPPING = (
    "deactivate {} {}",
    "{} deactivated {} please",
    "please disable {} {}",
    "turn off {} {}",
    "can you block {} {}, he left the company",
    "Hugo has left. {} may please be deactivated {}",
    "freeze {} {}",
    "{} to be frozen {}",
)
FINAL = ("for good", "for ever", "forever", "for always", "permanently", "definitively")
#: Words of their own, one letter away from them.
OTHER_WORDS = (
    "for food",
    "for wood",
    "for god",
    "for mood",
    "for hood",
    "for over",
    "for every",
    "for never",
)


def slips(phrase: str) -> list[str]:
    """Every phrase one letter away: missing, twice, wrong, or swapped with the next."""
    found = set()
    for at in range(len(phrase)):
        found |= {phrase[:at] + phrase[at + 1 :], phrase[: at + 1] + phrase[at:]}
        found |= {phrase[:at] + letter + phrase[at + 1 :] for letter in "aex" if phrase[at] != " "}
        if at + 1 < len(phrase):
            found.add(phrase[:at] + phrase[at + 1] + phrase[at] + phrase[at + 2 :])
    return sorted(one.strip() for one in found if not one.startswith(OTHER_WORDS))


@pytest.mark.by_turns(4)
@pytest.mark.walk(most=4)
@pytest.mark.parametrize("pattern", STOPPING)
def test_what_is_said_to_be_final_opens_no_freeze_even_with_a_slip(pattern: str) -> None:
    phrases = [*FINAL, *(slip for final in FINAL for slip in slips(final))]
    texts = [pattern.format("3018", phrase) for phrase in phrases]

    assert [
        text for text in texts if (reading := read(text)).opened and reading.intent == "freeze_card"
    ] == []


def test_what_is_said_to_be_for_a_while_closes_nothing_even_with_a_slip() -> None:
    texts = [f"close 3018 {slip}" for phrase in ("temporarily", "meanwhile") for slip in slips(phrase)]

    assert [text for text in texts if closes(text)] == []


@pytest.mark.parametrize(
    "text", ["freeze 3018, he paid for food with it", "block 3018 please, it is for food only"]
)
def test_a_word_that_only_looks_like_a_final_one_is_none(text: str) -> None:
    assert read(text).opened
