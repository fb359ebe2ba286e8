"""A form that holds everywhere and from now on is not opened for a place, a shop, a use or a stretch of time only.

The words are drawn together from frames and parts; some of the parts are no words at all, as no list of shops is whole.
"""

from itertools import product

import pytest

from bot import operations
from bot.intents import Parsed, parse
from tests.support import authors

_FACTS, _KINDS = authors.facts(), operations.kinds()
REQUESTS = (
    *(
        "block 3018",
        "please freeze Nora's card",
        "can you suspend 3018",
        "unfreeze 3018",
        "close 3018 for good",
    ),
    *("weekly limit of 900 for 3018", "cap Nora's card at 500 a day", "set Nora's daily limit to 500"),
    *("daily limit 500 for 3018", "unblock Nora's card please", "put 3018 on hold"),
)
SHOPS = (
    "Uber",
    "Amazon",
    "Zorblat",
    "the Zorblat shop",
    "petrol stations",
    "Apple Pay",
    "merchants like Uber",
)
PARTS = (
    *(f"{at} {shop}" for at, shop in product(("at", "with", "for", "on", "only at", "just for"), SHOPS)),
    *(f"in {where}" for where in ("Spain", "Glarovia", "shops", "casinos", "restaurants", "the evenings")),
    *(
        f"{when} {what}"
        for when, what in product(("during", "until", "while at", "outside"), ("the fair", "Fridays", "work"))
    ),
    *("abroad", "overseas", "online", "nightly", "locally", "internationally", "worldwide", "elsewhere"),
    *(
        "just today",
        "only abroad",
        "only today",
        "this week only",
        "for atm",
        "for atms",
        "for flights",
        "for cash",
    ),
    *(
        "via PayPal",
        "through Klarna",
        "on weekends",
        "on sundays",
        "at night",
        "at lunchtime",
        "near the airport",
    ),
    *("when abroad", "whenever abroad", "except in Spain", "without cash", "from Amazon", "against Zorblat"),
    *(
        "for the zorblat",
        "for payments abroad",
        "for online payments",
        "for foreign currencies",
        "for Netflix",
    ),
    *("for transactions in Spain", "in all of Glarovia", "in pubs and bars"),
)
BESIDE = ("{}, {}", "{} ({})", "{} - {}", "{}, but {}", "{}: {}")
ALONE = (
    "at Uber",
    "abroad",
    "only abroad",
    "in Spain",
    "nightly",
    "on weekends",
    "for atms only",
    "atm only",
    "overseas only",
)
USES = (
    *("ATM withdrawals", "online payments", "contactless", "gambling sites", "Uber", "Zorblat purchases"),
    *("foreign transactions", "atm", "card payments", "pos"),
)
WHY = (
    *(
        "please",
        "pls",
        "asap",
        "right away",
        "immediately",
        "now",
        "at once",
        "today please",
        "thanks",
        "urgently",
    ),
    *(
        "for now",
        "for the time being",
        "for the moment",
        "for fraud",
        "for security reasons",
        "for suspected fraud",
    ),
    *(
        "due to suspected fraud in Spain",
        "as a precaution",
        "with immediate effect",
        "just in case",
        "temporarily",
    ),
    *(
        "because he lost it at the airport in Spain",
        "since it was stolen on a train",
        "as she left it in a taxi",
    ),
    *(
        "she lost it at Uber",
        "he was robbed in Spain",
        "while he looks for it",
        "stolen",
        "lost wallet",
    ),
)


def _read(said: str) -> Parsed:
    return parse(said, _FACTS, kinds=_KINDS)


def _opened(texts: list[str]) -> list[str]:
    return [said for said in texts if any(one.opened for one in _read(said).readings)]


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("asked", REQUESTS)
def test_what_is_asked_for_a_part_only_opens_no_form(asked: str) -> None:
    beside = [frame.format(asked, part) for frame, part in product(BESIDE, ALONE)]

    assert _opened([*(f"{asked} {part}" for part in PARTS), *beside]) == []


@pytest.mark.parametrize("asked", ["block 3018", "please freeze 3018", "unblock 3018", "lock Nora's card"])
def test_what_a_card_is_used_for_is_not_the_card(asked: str) -> None:
    assert _opened([f"{asked} {use}" for use in USES]) == []


@pytest.mark.parametrize(
    "said",
    ["set the weekly limit at Amazon to 900 for 3018", "freeze it abroad, 3018", "at Uber, block 3018"],
)
def test_a_part_is_seen_wherever_it_stands(said: str) -> None:
    assert _opened([said]) == []


@pytest.mark.parametrize(
    "asked", ["block 3018", "please freeze Nora's card", "put 3018 on hold", "can you suspend 3018"]
)
def test_why_how_soon_and_a_politeness_narrow_nothing(asked: str) -> None:
    texts = [f"{asked} {why}" for why in WHY]

    assert [said for said in texts if said not in _opened(texts)] == []


@pytest.mark.parametrize(
    "said",
    [
        *(
            "set Nora's daily limit to 500 a day please",
            "cap 3018 at 500 a week from now on",
            "close 3018 for good please",
        ),
        *(
            "limit Nora to 50 a day, she overspends at Uber",
            "lift the freeze on 3018, it was in her coat in Spain",
        ),
        *("weekly limit of 3018 to 900 asap because hotels in Spain cost more", "unfreeze 3018 now please"),
        *("close 3018 permanently, he left for Spain", "could you suspend 3018 until she's back at work?"),
    ],
)
def test_what_holds_everywhere_opens_its_form(said: str) -> None:
    assert _opened([said]) == [said]


FOR_A_TIME = (
    *(
        "for an hour",
        "for a day",
        "for a week",
        "for today",
        "for this week only",
        "just for today",
        "this week only",
    ),
    *("only today", "for one day"),
)
ENDS_BY_ITSELF = (
    *(f"{asked} {how_long}" for asked, how_long in product(("freeze 3018", "unfreeze 3018"), FOR_A_TIME[:5])),
    *(f"daily limit 500 on 3018 {how_long}" for how_long in (*FOR_A_TIME, "today", "this week")),
    *(f"raise daily limit on 3018 to 500 {how_long}" for how_long in FOR_A_TIME),
    *(
        f"unfreeze 3018 {what}"
        for what in ("for one payment", "for a single purchase", "for the hotel only", "until he paid")
    ),
    *(
        "can you temporarily raise hugo to 500 a day",
        "top up 3018 by 50 this week only",
        "temporarily unfreeze 3018",
    ),
)


@pytest.mark.parametrize("said", ENDS_BY_ITSELF)
def test_what_is_to_end_by_itself_opens_no_form(said: str) -> None:
    assert _opened([said]) == []
