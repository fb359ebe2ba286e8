"""Requests known by their values: any order and inflection will do, and nothing that speaks against one may stand by.

Each kind in words that no frame holds, times each danger, times each place where it may stand.
"""

import itertools

import pytest

from bot import operations
from bot.intents import Parsed, parse
from tests.support import authors

HASH = "0x" + "6ceddf70" * 8
#: What is asked for, and its intent.
ASKED = {
    "get 75 out from 1297 to float": "unload_card",
    "5530 should get 520.00": "topup_card",
    "3018 make it frozen": "freeze_card",
    "3205 remove freezing": "unfreeze_card",
    "3018 close it for ever": "close_card",
    "let's have 3205 at 350 a week": "set_limits",
    "her number on the card 9140 should be +4915550172233": "change_phone",
    "7716 payment codes send by email": "set_3ds",
    "our markup bring to 3.2%": "set_markup",
    f"our deposit log for us {HASH} on polygon": "submit_funding",
    "3018 needs another 80": "topup_card",
    "45 to come off 2675": "unload_card",
    "I ask you to recover 270 from 7716": "unload_card",
    "put a freeze on 8863 until we find it": "freeze_card",
    "I'd like 5530 gone for good": "close_card",
    "no more than 120 a day on 6051 please": "set_limits",
    "bump the markup up to 3%": "set_markup",
    "6051 wants updating to +4915550172233 please": "change_phone",
    # The verb says little: which way money goes, a value and a card tell it.
    "slide 3018 another 120": "topup_card",
    "hook 3018 up with 60": "topup_card",
    "8863 up by 90 please": "topup_card",
    "boost the balance of 3018 by 75": "topup_card",
    "3205 is in need of 85": "topup_card",
    "spot April 350": "topup_card",
    "lob 55 onto May": "topup_card",
    "60 for May please": "topup_card",
    "put fifty on 3018": "topup_card",
    "40 can come off 2675": "unload_card",
    "scoop 80 outta 7716": "unload_card",
    "whip 45 back off may": "unload_card",
    "the block on 3205 can go now": "unfreeze_card",
    "wake 3205 up": "unfreeze_card",
    "3205 can come off ice": "unfreeze_card",
    "ditch 7716 permanently": "close_card",
    "close 7716 once for all please": "close_card",
    "ice 3018": "freeze_card",
    "new limits for 3018: 80 a day, 300 a week": "set_limits",
    "please introduce 250 monthly at 3018": "set_limits",
    "hike our markup to 2.5%": "set_markup",
    f"our transfer on polygon, get it in the system: {HASH}": "submit_funding",
}
#: Said before it, in its sentence or in one of its own.
BEFORE = (
    "do not, whatever anybody says",
    "if the boss agrees",
    "when she is back",
    "Carol says",
    "Bob told me",
    "she asked us for it",
    "maybe",
    "what if",
    "should we do it",
    "it was a joke",
    "depending on the bank",
    "never mind",
    "the approval is still pending",
    "next week",
    "my manager wants it",
    "I am only testing",
    "we must not do this",
    "no need to do it",
)
#: Said behind it.
AFTER = (
    "never mind",
    "not yet",
    "if the boss agrees",
    "as soon as Bob agrees",
    "when she is back",
    "just kidding",
    "said Carol",
    "or not",
    "next week",
    "tomorrow",
    "but wait for Bob first",
    "pending approval",
    "no wait, don't",
    "scratch that",
    "only a test",
    "was what he wrote",
    "is that ok?",
    "and freeze 5589",
    "and load 40 onto 5589",
    "on second thoughts leave it",
)
_FACTS, _KINDS = authors.facts(), operations.kinds()


def _parsed(text: str) -> Parsed:
    return parse(text, _FACTS, kinds=_KINDS)


def _opens(text: str) -> bool:
    return any(reading.opened for reading in _parsed(text).readings)


@pytest.mark.parametrize(("said", "intent"), ASKED.items())
def test_the_values_and_a_word_of_its_kind_tell_a_request(said: str, intent: str) -> None:
    reading = _parsed(said).first

    assert reading.intent == intent
    assert reading.opened


@pytest.mark.by_turns(4)
@pytest.mark.parametrize(
    "pattern", ["{danger}, {said}", "{danger}. {said}", "{danger} {said}", "{danger}: {said}"]
)
@pytest.mark.parametrize("said", ASKED)
def test_what_speaks_against_it_before_it_keeps_it_closed(said: str, pattern: str) -> None:
    assert [text for text in (pattern.format(danger=one, said=said) for one in BEFORE) if _opens(text)] == []


@pytest.mark.by_turns(4)
@pytest.mark.parametrize(
    "pattern", ["{said}, {danger}", "{said}. {danger}", "{said} {danger}", "{said} - {danger}"]
)
@pytest.mark.parametrize("said", ASKED)
def test_what_speaks_against_it_behind_it_keeps_it_closed(said: str, pattern: str) -> None:
    assert [text for text in (pattern.format(danger=one, said=said) for one in AFTER) if _opens(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "Somebody should load 60 onto 3018",
        "someone really ought to freeze 3018 one of these days",
        "The needful has been done for 2675, load of 64.50 is reflecting.",
        "I want to contest the 39.99 subscription on May's card, she never subscribed",
        "raise a fraud claim with the bank on 1297's 89.90",
        "I need the 3 digits off the back of 6051 for a booking, quick",
        "get 75 out from our supplier to 1297",
        "take from 3018 something like 90 back to float",
        "2k ish on 5530 asap",
        "open 3018 agaiin from the freeze, it was under the seat",
        "Please leave the number of phone of 9140 as it is, the old one is working again.",
        "please deactivate again the unlocked card of Hugo Okonkwo",
        "could you chase 0x" + "6ceddf70" * 8 + " on polygon",
        "put 20 extra on top of the usual on 9140",
        "she should freeze 3018",
        "customers can load 60 onto 3018",
        "we loaded 60 onto 3018",
    ],
)
def test_what_only_holds_the_values_of_a_request_opens_nothing(text: str) -> None:
    assert not _opens(text)


@pytest.mark.parametrize(
    ("one", "other"),
    list(
        itertools.permutations(
            [
                "take everything off 3205",
                "raise its daily limit to 300",
                "change its phone to +4915550172233",
                "close it for good",
            ],
            2,
        )
    ),
)
@pytest.mark.parametrize("joint", [" and then ", ", also ", " and "])
def test_two_requests_in_one_message_open_neither(one: str, other: str, joint: str) -> None:
    assert not _opens(f"Sofia's finishing up, 3205: please {one}{joint}{other}.")


def test_a_number_in_the_background_is_no_amount_where_the_request_has_none() -> None:
    reading = _parsed(
        "Marta's wallet got lifted on the 504 streetcar, freeze Marta's card right now please"
    ).first

    assert (reading.intent, reading.opened) == ("freeze_card", True)


SLIPPED = (
    "load",
    "unload",
    "freeze",
    "unfreeze",
    "block",
    "unblock",
    "suspend",
    "reactivate",
    "terminate",
    "withdraw",
)


def _slips(verb: str) -> set[str]:
    """Two neighbours changed, one letter left out, one twice."""
    places = range(len(verb))
    changed = {verb[:at] + verb[at + 1 : at + 2] + verb[at] + verb[at + 2 :] for at in places[:-1]}
    return {
        *changed,
        *(verb[:at] + verb[at + 1 :] for at in places),
        *(verb[:at] + verb[at] + verb[at:] for at in places),
    }


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("verb", SLIPPED)
def test_a_verb_with_a_slip_is_never_taken_for_an_order(verb: str) -> None:
    """One letter separates block from unblock."""
    others = {*SLIPPED, "lad", "lod", "loan", "lock", "road", "unlock"}
    places = (
        "pls {} 60 to 3205",
        "please {} 3018",
        "{} 50 from Marta please",
        "could you {} jonas-w, he lost it",
    )
    texts = [place.format(slip) for slip in sorted(_slips(verb) - others) for place in places]

    assert [text for text in texts if _opens(text)] == []
