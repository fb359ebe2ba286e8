"""Pages of purchases, requests and audit entries: put together they are everything, each once, in order."""

import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from bot.domain.events import DeclineFacts, PurchaseLeg
from bot.domain.requests import Request, State
from storage import audit
from storage.events import purchases
from storage.requests import request_search
from storage.requests.request_search import Wanted
from storage.store import Store
from tests.storage import factories

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
DAY = timedelta(days=1)


def legs(seed: int) -> list[PurchaseLeg]:
    """Purchases of one to three legs, many at the same minute, in any order."""
    dice = random.Random(seed)
    made = []
    for n in range(40):
        begins = AT + timedelta(minutes=dice.randrange(5))
        kinds = dice.choice([["declined"], ["authorized"], ["authorized", "cleared"], ["cleared", "refund"]])
        for place, kind in enumerate(kinds):
            made.append(
                PurchaseLeg(
                    event_id=f"e{dice.randrange(10**9):09}",
                    transaction_id=f"tx-{n}",
                    kind=kind,
                    occurred_at=begins + timedelta(minutes=place * dice.randrange(3)),
                    card_id=f"card-{n % 3}",
                    amount_usd=Decimal(n),
                    decline=DeclineFacts(code="unknown") if kind == "declined" else None,
                )
            )
    dice.shuffle(made)
    return made


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("limit", [1, 7, 100])
async def test_purchases_come_once_in_the_order_they_began(store: Store, limit: int) -> None:
    made = legs(limit)
    first: dict[str, PurchaseLeg] = {}
    for leg in sorted(made, key=lambda leg: (leg.occurred_at, leg.event_id)):
        first.setdefault(leg.transaction_id, leg)
    since, until = AT + timedelta(minutes=1), AT + timedelta(minutes=4)
    async with store.begin() as tx:
        for leg in made:
            await purchases.add(tx, "main", leg)
        await purchases.add(tx, "other", made[0].model_copy(update={"event_id": "x"}))

    found: list[str] = []
    place = None
    async with store.read() as tx:
        while True:
            some, place = await purchases.page(tx, "main", since=since, until=until, after=place, limit=limit)
            found += [purchase.transaction_id for purchase in some]
            if place is None:
                break

    assert found == [tx_id for tx_id, leg in first.items() if since <= leg.occurred_at < until]


async def test_declines_of_a_period_are_counted_whole_and_given_the_newest_first(store: Store) -> None:
    made = legs(3)
    declined = sorted(leg.occurred_at for leg in made if leg.kind == "declined")
    async with store.begin() as tx:
        for leg in made:
            await purchases.add(tx, "main", leg)

    async with store.read() as tx:
        found, total = await purchases.declines(tx, "main", since=AT, until=AT + DAY, limit=2)
        none, no_total = await purchases.declines(tx, "main", since=AT + DAY, until=AT + DAY * 2, limit=2)
        last = await purchases.last_event_at(tx, "main")

    assert total == len(declined) > 2
    assert [leg.occurred_at for leg in found] == declined[:-3:-1]
    assert (none, no_total) == ([], 0)
    assert last == max(leg.occurred_at for leg in made)


async def test_a_cards_purchases_and_those_of_ids_are_found_and_no_others(store: Store) -> None:
    made = legs(4)
    async with store.begin() as tx:
        for leg in made:
            await purchases.add(tx, "main", leg)

    async with store.read() as tx:
        mine = await purchases.of_card_since(tx, "main", "card-1", AT + timedelta(minutes=2))
        named = await purchases.by_transaction(tx, "main", ["tx-3", "tx-none"])

    assert mine
    assert all(p.card_id == "card-1" and p.first_at >= AT + timedelta(minutes=2) for p in mine)
    assert set(named) == {"tx-3"}


async def test_requests_are_found_by_everything_at_once_and_walked_without_a_gap(store: Store) -> None:
    made = [
        factories.request(
            f"R-{n:04}",
            created_at=AT + timedelta(seconds=n // 4),
            requester="UALICE" if n % 3 else "UBOB",
            kind="card_topup" if n % 2 else "card_freeze",
            state=State.PENDING if n % 5 else State.REJECTED,
        )
        for n in range(30)
    ]
    random.Random(1).shuffle(made)
    async with store.begin() as tx:
        await factories.insert(tx, *made)
    ordered = sorted(made, key=lambda r: (r.created_at, r.id))
    wanted = Wanted(
        states=[State.PENDING],
        kinds=["card_topup"],
        requester="UALICE",
        since=AT + timedelta(seconds=1),
        until=AT + timedelta(seconds=6),
    )
    fits = [
        r.id
        for r in ordered
        if r.state is State.PENDING and r.kind == "card_topup" and r.requester == "UALICE"
        and wanted.since is not None and wanted.until is not None
        and wanted.since <= r.created_at < wanted.until
    ]  # fmt: skip

    walked: list[str] = []
    last: Request | None = None
    async with store.read() as tx:
        while some := await request_search.after(tx, Wanted(), last, limit=7):
            walked += [r.id for r in some]
            last = some[-1]
        found = await request_search.page(tx, wanted, limit=100)
        counted = await request_search.count(tx, wanted, most=1000)
        keys = await request_search.by_key(tx, [made[0].key, "co-none"])

    assert walked == [r.id for r in ordered]
    assert [r.id for r in found] == fits[::-1]
    assert counted == len(fits) > 2
    assert keys == {made[0].key: made[0].id}


async def test_more_keys_than_one_statement_takes_are_looked_up_in_pieces(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [factories.request(f"R-{n}", key=key) for n, key in enumerate(("co-0000", "co-0499", "co-1200"))]
    async with store.begin() as tx:
        await factories.insert(tx, *made)
        statements = 0
        run = tx.run

        async def counted(*args: Any) -> Any:
            nonlocal statements
            statements += 1
            return await run(*args)

        monkeypatch.setattr(tx, "run", counted)
        found = await request_search.by_key(tx, [f"co-{n:04}" for n in range(1201)])
        nothing = await request_search.by_key(tx, [])

    assert found == {r.key: r.id for r in made}
    assert nothing == {}
    assert statements == 3


async def test_a_batch_stands_for_its_rows_or_its_rows_for_it(store: Store) -> None:
    async with store.begin() as tx:
        await factories.insert(
            tx,
            factories.request("R-ALL", rows=2, subject=""),
            factories.request("R-ONE", parent_id="R-ALL", subject="card-1"),
            factories.request("R-TWO", parent_id="R-ALL", subject="card-2"),
            factories.request("R-SOLO", subject="card-1"),
        )

    async with store.read() as tx:
        listed, rows, on_card = [
            {r.id for r in await request_search.page(tx, wanted, limit=10)}
            for wanted in (Wanted(), Wanted(each_row=True), Wanted(subject="card-1"))
        ]

    assert listed == {"R-ALL", "R-SOLO"}
    assert rows == {"R-ONE", "R-TWO", "R-SOLO"}
    assert on_card == {"R-ONE", "R-SOLO"}


async def test_audit_entries_about_one_thing_are_its_own_and_those_of_no_namesake(store: Store) -> None:
    subjects = ["request:R-7K3M:1", "request:R-7K3MA:1", "request:R-7K3M", "request:R-7K3M:2", "other"]
    async with store.begin() as tx:
        for subject in subjects:
            await audit.append(tx, actor="UALICE", action="x", subject=subject)

    async with store.read() as tx:
        mine = [entry.subject async for entry in audit.about(tx, "request:R-7K3M")]
        now = tx.now
        pages, after = [], 0
        while some := await audit.page(tx, since=now - DAY, until=now + DAY, after=after, limit=2):
            pages += [entry.subject for entry in some]
            after = some[-1].seq
        none = await audit.page(tx, since=now + DAY, until=now + DAY * 2, after=0, limit=2)

    assert mine == ["request:R-7K3M:1", "request:R-7K3M", "request:R-7K3M:2"]
    assert pages == subjects
    assert none == []
