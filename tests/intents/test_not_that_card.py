"""A card that is named is not always the one that is meant: all but that one, her husband's, one named by it."""

from itertools import product

import pytest

from bot import operations
from bot.intents import Parsed, parse
from tests.support import authors

_FACTS, _KINDS = authors.facts(), operations.kinds()
ALL = ("everyone", "everything", "all", "all the cards", "the rest", "every card", "all cards", "everybody")
BUT = ("but", "except", "but not", "other than", "besides")
NAMED = ("3018", "Nora")
EXCEPTED = (
    *(
        f"{do} {all_} {but} {card}"
        for do, all_, but, card in product(("freeze", "unfreeze", "close"), ALL, BUT, NAMED)
    ),
    *(f"top up {all_} {but} {card} by 50" for all_, but, card in product(ALL, BUT, NAMED)),
    "freeze any card other than 3018",
    "freeze the rest, keep 3018 open",
    "freeze the others, 3018 stays",
    "unfreeze all the cards but leave 3018",
)
RELATED = (
    *("husband", "wife", "boss", "manager", "assistant", "colleague", "daughter", "kid", "mother", "team"),
    *("roommate", "neighbour", "brother"),
)
OF_OTHERS = (
    *(
        f"{do} Nora's {one}'s card"
        for do, one in product(("freeze", "close", "unfreeze", "please block"), RELATED)
    ),
    *(f"freeze Nora's {one}" for one in RELATED),
    *(f"freeze the card of Nora's {one}" for one in RELATED),
    *(f"top up Hugo's {one}'s card by 50" for one in RELATED),
    *(f"Hugo's {one}'s number is +47 912 34 567" for one in RELATED),
    "Hugo's mother card freeze please",
)
KINDS = (
    *("metro", "oyster", "gift", "Starbucks", "sim", "library", "birthday", "graphics", "second", "other"),
    *("bank account", "personal", "trello", "loyalty"),
)
OTHER_KINDS = (
    *(f"{do} Nora's {kind} card" for do, kind in product(("freeze", "close", "please unfreeze"), KINDS)),
    *(f"top up Nora's {kind} card by 50" for kind in KINDS),
)
NAMED_BY_IT = (
    "freeze the card that replaced 3018",
    "freeze whoever used 3018",
    "freeze the card like 3018",
    "freeze the card ordered with 3018",
    "freeze 3018's neighbour",
    "freeze Hugo's laptop",
    "freeze Nora's salary",
    "freeze 3018 and the others",
    "freeze 3018 and so on",
    "freeze 3018 along with the spare",
)
FOR_OTHERS = (
    *(
        f"order a card for the {one} of Carla Mendes, +351 912 345 678, carla@example.com"
        for one in ("husband", "wife", "assistant", "boss", "daughter")
    ),
    *(
        f"order a {kind} card for Carla Mendes, +351 912 345 678, carla@example.com"
        for kind in ("sim", "gift", "thank-you", "birthday", "library")
    ),
)
MEANT = (
    ("freeze Nora's card", "freeze_card"),
    ("freeze Nora's company card", "freeze_card"),
    ("please freeze Nora's card, her husband found a charge", "freeze_card"),
    ("close 3018 once and for all", "close_card"),
    ("top up Nora's card by 50 for her team lunch", "topup_card"),
    ("Nora's number is now +47 912 34 567", "change_phone"),
    ("order a card for Carla Mendes, +351 912 345 678, carla@example.com", "order_card"),
)


def _read(said: str) -> Parsed:
    return parse(said, _FACTS, kinds=_KINDS)


@pytest.mark.parametrize(
    "said",
    [*EXCEPTED, *OF_OTHERS, *OTHER_KINDS, *NAMED_BY_IT, *FOR_OTHERS],
)
def test_a_card_that_may_be_another_than_the_named_one_opens_no_form(said: str) -> None:
    assert not any(one.opened for one in _read(said).readings)


@pytest.mark.parametrize(("said", "intent"), MEANT)
def test_the_named_card_opens_its_form(said: str, intent: str) -> None:
    (one,) = _read(said).readings

    assert (one.intent, one.opened) == (intent, True)


ADJECTIVES = (
    "old",
    "new",
    "second",
    "other",
    "metro",
    "blue",
    "Zorblat",
    "travel",
    "first",
    "last",
    "expired",
    "2nd",
    "big",
)
WHICH_OF_HIS = (
    *(f"{do} Nora's {one} card" for do, one in product(("freeze", "close", "please unfreeze"), ADJECTIVES)),
    *(f"{do} the {one} card of Nora" for do, one in product(("freeze", "close"), ADJECTIVES)),
    *(f"top up Nora's {one} card by 50" for one in ADJECTIVES),
    *(f"order a {one} card for Nora" for one in ADJECTIVES if one != "new"),
    *(
        f"order {one} card for Carla Mendes, +351 912 345 678, carla@example.com"
        for one in (
            "a second",
            "a blue",
            "a Zorblat",
            "a replacement",
            "a third",
        )
    ),
)
HARMLESS = ("company", "prepaid", "work", "own", "corporate", "business", "lost", "stolen")


@pytest.mark.parametrize("said", WHICH_OF_HIS)
def test_a_word_before_card_that_may_tell_it_from_another_opens_no_form(said: str) -> None:
    assert not any(one.opened for one in _read(said).readings)


@pytest.mark.parametrize("one", HARMLESS)
def test_a_word_before_card_that_every_card_has_tells_none_from_another(one: str) -> None:
    (read,) = _read(f"freeze Nora's {one} card").readings

    assert (read.intent, read.opened) == ("freeze_card", True)


@pytest.mark.parametrize("said", ["freeze the old card 3018", "close the old card 3018 for good"])
def test_a_card_that_is_named_by_its_digits_is_that_card(said: str) -> None:
    (read,) = _read(said).readings

    assert read.opened


THINGS = (
    "Uber account",
    "paypal",
    "oyster",
    "Amex",
    "payroll",
    "expense report",
    "zorblat",
    "zorblat account",
)


@pytest.mark.parametrize(
    "said",
    [
        *(f"top up Hugo's {thing} by 50" for thing in THINGS),
        *(f"{do} Hugo's {thing}" for do, thing in product(("freeze", "close", "please block"), THINGS)),
    ],
)
def test_a_thing_of_a_holder_is_not_the_card(said: str) -> None:
    assert not any(one.opened for one in _read(said).readings)


@pytest.mark.parametrize(
    "said",
    [
        "load 300, replacement for tomas rivera, new card pls, old one got snapped",
        "old one got snapped, new card pls, load 300, replacement for tomas rivera",
        "Jonas needs a second card. Please ordder one in the name of Jonas Weber, number +49 1512 3456789.",
    ],
)
def test_what_a_new_card_is_to_have_is_given_to_no_other(said: str) -> None:
    assert not any(one.opened for one in _read(said).readings)
