"""Pages that begin where the one before ended: nothing twice and nothing missing, whatever comes in between."""

import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.domain.cards import CardEntry
from bot.domain.requests import Request, State
from storage.cards import cards
from storage.requests import request_search
from storage.requests.request_search import Wanted
from storage.store import Store
from tests.storage import factories
from tests.storage.factories import NOW

PAGE = 7
# Pages; two are made for each that is read.
ENDS = 40
KINDS = ("card_topup", "card_freeze", "card_order")


def some_requests(dice: random.Random, count: int, name: str) -> list[Request]:
    """Many at the same minute, some of them rows of a batch."""
    return [
        factories.request(
            f"R-{name}{n:03}",
            key=f"co-{name}{n}",
            kind=dice.choice(KINDS),
            state=dice.choice(list(State)),
            requester=dice.choice(["UALICE", "UCAROL"]),
            created_at=NOW - timedelta(minutes=dice.randrange(20)),
            parent_id=dice.choice([None, None, None, "R-BATCH"]),
        )
        for n in range(count)
    ]


WANTED = [
    Wanted(),
    Wanted(states=(State.FAILED,)),
    Wanted(states=(State.FAILED, State.PENDING, State.SUCCEEDED)),
    Wanted(requester="UALICE"),
    Wanted(requester="UALICE", kinds=KINDS[:1], states=tuple(State)[:4]),
    Wanted(kinds=KINDS[:2]),
    Wanted(kinds=KINDS[:2], states=tuple(State)[3:]),
    Wanted(since=NOW - timedelta(minutes=12), until=NOW - timedelta(minutes=3)),
    Wanted(each_row=True, states=tuple(State)[:5]),
    Wanted(states=()),
]


def fits(wanted: Wanted, one: Request) -> bool:
    """What `Wanted` says, in Python."""
    return (
        (wanted.states is None or one.state in wanted.states)
        and (wanted.kinds is None or one.kind in wanted.kinds)
        and wanted.requester in (None, one.requester)
        and (wanted.since is None or one.created_at >= wanted.since)
        and (wanted.until is None or one.created_at < wanted.until)
        and (wanted.by_row or one.parent_id is None)
    )


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("wanted", WANTED, ids=str)
@pytest.mark.parametrize("oldest_first", [False, True])
async def test_a_walk_over_requests_meets_each_once_while_others_are_made(
    store: Store, wanted: Wanted, oldest_first: bool
) -> None:
    dice = random.Random(str(wanted))
    made = some_requests(dice, 80, "A")
    async with store.begin() as tx:
        await factories.insert(tx, *made)
    order = sorted(made, key=lambda r: (r.created_at, r.id), reverse=not oldest_first)
    expected = [one.id for one in order if fits(wanted, one)]
    ask: dict[str, Any] = {"limit": PAGE, "oldest_first": oldest_first}

    walked: list[list[str]] = []
    beside = None
    while True:
        async with store.begin() as tx:
            found = [r.id for r in await request_search.page(tx, wanted, beside=beside, **ask)]
            if not found:
                break
            walked.append(found)
            assert len(walked) < ENDS, "it comes to an end"
            assert len(found) <= PAGE
            beside = await request_search.place(tx, found[-1])
            await factories.insert(tx, *some_requests(dice, 2, f"B{len(walked)}"))
    forwards = [one for page in walked for one in page]
    back: list[str] = []
    async with store.read() as tx:
        beside = await request_search.place(tx, forwards[-1], back=True) if forwards else None
        while beside and (page := await request_search.page(tx, wanted, beside=beside, **ask)):
            back = [r.id for r in page] + back
            beside = await request_search.place(tx, page[0].id, back=True)

    assert len(forwards) == len(set(forwards)), "none twice"
    assert [one for one in forwards if one in set(expected)] == expected, "none missing, in order"
    assert [one for one in (*back, *forwards[-1:]) if one in set(expected)] == expected, (
        "and the same way back"
    )


@pytest.mark.by_turns(5)
@pytest.mark.parametrize("wanted", WANTED, ids=str)
async def test_requests_are_counted_up_to_a_bound_and_a_page_can_be_skipped_to(
    store: Store, wanted: Wanted
) -> None:
    made = some_requests(random.Random(1), 80, "A")
    order = sorted(made, key=lambda r: (r.created_at, r.id), reverse=True)
    expected = [one.id for one in order if fits(wanted, one)]
    async with store.begin() as tx:
        await factories.insert(tx, *made)
        counts = [await request_search.count(tx, wanted, most=most) for most in (1, 5, 1000)]
        third = await request_search.page(tx, wanted, limit=PAGE, skip=2 * PAGE)

    assert counts == [min(len(expected), most) for most in (1, 5, 1000)]
    assert [one.id for one in third] == expected[2 * PAGE : 3 * PAGE]


@pytest.mark.parametrize("status", [None, "FROZEN"])
async def test_a_walk_over_cards_meets_each_once_while_others_are_ordered(
    store: Store, status: str | None
) -> None:
    dice = random.Random(3)

    def some_cards(count: int, name: str) -> list[CardEntry]:
        """Many of one holder."""
        entry = CardEntry("", "main", "", "4242")
        return [
            replace(
                entry,
                id=f"c{name}{n:03}",
                holder=dice.choice("ABCDE") * 3,
                status=dice.choice(["ACTIVE", "FROZEN"]),
            )
            for n in range(count)
        ]

    made = some_cards(60, "A")
    async with store.begin() as tx:
        await cards.put_many(tx, "main", made)
    expected = [c.id for c in sorted(made, key=lambda c: (c.holder, c.id)) if status in (None, c.status)]

    forwards: list[str] = []
    beside = None
    while True:
        async with store.begin() as tx:
            found = [c.id for c in await cards.all(tx, status=status, limit=PAGE, beside=beside)]
            if not found:
                break
            forwards += found
            assert len(forwards) < PAGE * ENDS, "it comes to an end"
            beside = await cards.listed_at(tx, found[-1])
            await cards.put_many(tx, "main", some_cards(2, f"B{len(forwards)}"))
    async with store.read() as tx:
        before_last = await cards.listed_at(tx, forwards[-1], back=True)
        back = [c.id for c in await cards.all(tx, status=status, limit=1000, beside=before_last)]

    assert len(forwards) == len(set(forwards)), "none twice"
    assert [one for one in forwards if one in set(expected)] == expected, "none missing, in order"
    assert [one for one in (*back, forwards[-1]) if one in set(expected)] == expected, "and the same way back"
