"""No form opens for one of several cards, for what is not permitted, nor for a request that is to be taken back; and
who says that the number is not wanted is shown the rest."""

from __future__ import annotations

from itertools import product

import pytest

from bot import operations
from bot.intents import Parsed, parse
from tests.support import authors


def read(text: str) -> Parsed:
    return parse(text, authors.facts(), kinds=operations.kinds())


def opens(text: str) -> bool:
    return any(one.opened for one in read(text).readings)


ASKED = (
    "close {} for good please",
    "please close {}",
    "can you freeze {}, we lost it",
    "unfreeze {} please",
    "load 80 onto {} please",
    "please take 40 off {}",
    "set the daily limit of {} to 100",
    "put 60 on {}",
    "top up {} by 90 please",
)
ONE_OF_THEM = (
    "one of the marketing cards",
    "one of the Marketing – Ads cards",
    "either of Nora's cards",
    "any of the marketing cards",
    "one of our drivers' cards",
    "one of the drivers",
    "one or other of the marketing cards",
    "some of the ads cards",
    "one marketing card",
    "two of the marketing cards",
    "whichever of the marketing cards",
)
BEHIND = ("", ", we have too many", ". I do not care which")


@pytest.mark.by_turns(2)
@pytest.mark.parametrize("asked", ASKED)
def test_one_of_several_cards_opens_nothing(asked: str) -> None:
    texts = [asked.format(which) + behind for which, behind in product(ONE_OF_THEM, BEHIND)]

    assert [text for text in texts if opens(text)] == []


REQUESTED = (
    "please load 100 onto 3018",
    "to me it would please to give 100 more to Ines",
    "I would like to put 100 on Ines' card",
    "raise the daily limit of 3018 to 300",
    "please unfreeze 3018",
    "order a card for Ada Quist, +31612345678, ada@quist.nl",
    "set the markup to 2%",
    "please close 3018 for good",
)
NOT_PERMITTED = (
    "but the policy does not permit it",
    "but the policy doesn't allow it",
    "but our rules do not allow that",
    "only the budget does not allow it",
    "but compliance would never permit it",
    "but the rules forbid it",
    "though it is against the policy",
    "but it is not permitted",
    "but unfortunately I am not authorised",
    "but the controller did not consent",
    "but the board won't allow that",
    "which is against the rules",
)


@pytest.mark.by_turns(2)
@pytest.mark.parametrize("because", NOT_PERMITTED)
def test_what_is_said_not_to_be_permitted_opens_nothing(because: str) -> None:
    texts = [f"{asked}{joint}{because}" for asked, joint in product(REQUESTED, (", ", " ", ". "))]

    assert [text for text in texts if opens(text)] == []


TAKES_BACK = (
    "Retire",
    "annul",
    "withdraw",
    "retract",
    "revoke",
    "scrap",
    "bin",
    "drop",
    "close",
    "terminate",
    "kill",
)
A_REQUEST = (
    "the request I have just made for Nora",
    "my request for Nora",
    "my last request for 3018",
    "the top-up I filed for 3018",
    "the order that I put in for Nora",
    "the request we sent for 3018 an hour ago",
)


@pytest.mark.by_turns(2)
@pytest.mark.parametrize("verb", TAKES_BACK)
def test_to_take_a_request_back_does_nothing_to_its_card(verb: str) -> None:
    texts = [
        f"{verb} {what}{behind}" for what, behind in product(A_REQUEST, (", please", ". I was wrong", ""))
    ]

    assert [text for text in texts if opens(text)] == []


SHOWN = (
    "Kindly show me the details of tomas-r",
    "details for tomas-r pls",
    "particulars of tomas-r please",
    "can you share the info on tomas-r",
    "please pull up tomas-r",
    "I'd like to see the data of tomas-r",
    "show me tomas-r",
)
WITHOUT_NUMBER = (
    ", naturally without the number",
    " (w/o pan)",
    ", not the number, just the usual",
    ", number not required",
    " but not the full number",
    " without the card number",
    ", no number needed",
    " except the number",
    ". I do not need the number",
    ", minus the 16 digits",
)


@pytest.mark.parametrize("behind", WITHOUT_NUMBER)
def test_who_does_not_want_the_number_is_shown_the_rest(behind: str) -> None:
    texts = [f"{shown}{behind}" for shown in SHOWN]

    assert [text for text in texts if opens(text)] == []
    assert [text for text in texts if read(text).first.intent != "card_show"] == []


@pytest.mark.parametrize(
    "text",
    [
        "please show the full number of tomas-r, not only the last four digits",
        "reveal the whole number of tomas-r please",
        "I need to see the full number of tomas-r",
    ],
)
def test_who_wants_the_number_gets_its_form(text: str) -> None:
    assert read(text).first.intent == "reveal_card"


@pytest.mark.parametrize(
    "text",
    [
        "One of the drivers lost his wallet, it was Jonas. Please freeze 3018",
        "The hotel does not allow cash, please load 60 onto 3018",
        "close 3018 for good please, the contract is not permitted to go on",
    ],
)
def test_a_story_with_such_words_is_no_danger(text: str) -> None:
    """Asked about at worst, for the card that is named."""
    first = read(text).first

    assert first.card is not None
    assert first.card.last4 == "3018"
