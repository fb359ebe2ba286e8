"""Purchases in the database: drawn from all their legs, also when two processes add at once."""

import asyncio
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from bot.domain.events import DeclineFacts, PurchaseLeg, State, purchase_of
from storage.events import purchases
from storage.store import Store
from tests.storage.conftest import Opener

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def a_leg(kind: str, minute: int = 0, **more: object) -> PurchaseLeg:
    shown = {
        "event_id": f"{kind}-{minute}",
        "transaction_id": "tx-1",
        "kind": kind,
        "occurred_at": AT + timedelta(minutes=minute),
        "amount_usd": Decimal("10.1234567890123"),
        "original_amount": Decimal("-9.10"),
        "original_currency": "EUR",
        "card_id": "card-1",
        "merchant": "ACME",
    }
    return PurchaseLeg.model_validate({**shown, **more})


async def _add(store: Store, *legs: PurchaseLeg, program: str = "main") -> None:
    for leg in legs:
        async with store.begin() as tx:
            await purchases.add(tx, program, leg)


async def test_what_is_read_back_is_what_the_legs_say_to_the_last_digit(store: Store) -> None:
    legs = [a_leg("cleared", 1), a_leg("authorized"), a_leg("refund", 2)]
    await _add(store, *legs, legs[0])

    async with store.read() as tx:
        assert await purchases.get(tx, "main", "tx-1") == purchase_of(legs)
        assert sorted(await purchases.legs(tx, "main", "tx-1"), key=lambda leg: leg.event_id) == sorted(
            legs, key=lambda leg: leg.event_id
        )
        assert await purchases.get(tx, "main", "tx-2") is None


async def test_two_accounts_may_name_their_purchases_alike(store: Store) -> None:
    await _add(store, a_leg("authorized"))
    await _add(store, a_leg("declined", decline=DeclineFacts(code="unknown"), event_id="x"), program="other")

    async with store.read() as tx:
        mine = await purchases.get(tx, "main", "tx-1")
        theirs = await purchases.get(tx, "other", "tx-1")
    assert mine is not None
    assert theirs is not None
    assert (mine.state, theirs.state) == (State.AUTHORIZED, State.DECLINED)


async def test_a_cards_purchases_are_read_the_latest_first(store: Store) -> None:
    for number in range(3):
        await _add(
            store, a_leg("authorized", event_id=f"e{number}", transaction_id=f"tx-{number}", card_id="card-7")
        )

    async with store.read() as tx:
        found = await purchases.of_card(tx, "main", "card-7", limit=2)
        assert len(found) == 2
        assert await purchases.of_card(tx, "main", "card-8") == []


async def test_legs_added_at_once_by_two_processes_are_all_in_the_picture(
    url: str, open_store: Opener
) -> None:
    one, other = await open_store(url), await open_store(url, exclusive=False)
    for round_ in range(10):
        name = f"tx-{round_}"
        legs = [
            a_leg(kind, minute, event_id=f"{name}-{minute}", transaction_id=name)
            for minute, kind in enumerate(("authorized", "cleared", "refund", "reversal"))
        ]

        await asyncio.gather(_add(one, *legs[:2]), _add(other, *legs[2:]))

        async with one.read() as tx:
            assert await purchases.get(tx, "main", name) == purchase_of(legs)


async def test_what_fails_in_a_savepoint_leaves_nothing_and_asks_for_nothing(store: Store) -> None:
    rung: list[str] = []
    async with store.begin() as tx:
        tx.after_commit(lambda: rung.append("before"))
        try:
            async with tx.savepoint():
                await purchases.add(tx, "main", a_leg("authorized"))
                tx.after_commit(lambda: rung.append("inside"))
                raise RuntimeError
        except RuntimeError:
            await purchases.add(tx, "main", a_leg("declined"))

    async with store.read() as tx:
        found = await purchases.get(tx, "main", "tx-1")
    assert found is not None
    assert found.state is State.DECLINED
    assert rung == ["before"]
