"""What another machine has read a moment before counts as read later, though its clock is a little ahead; what a clock
gave that was set back since counts as read before."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from storage.cards import cards
from storage.store import Store
from tests.storage.test_directory_rows import card
from tests.support.clock import FrozenClock

#: How far ahead the other clock was, and whether what it dated is taken for later.
AHEAD = [(0.3, True), (1, True), (119, True), (600, False), (3600, False)]


@pytest.mark.parametrize(("ahead_s", "is_later"), AHEAD)
async def test_a_card_that_was_read_before_its_last_reading_does_not_replace_that(
    store: Store, clock: FrozenClock, ahead_s: float, is_later: bool
) -> None:
    before = clock.now() - timedelta(seconds=1)
    frozen = replace(card("c1", "ALICE"), status="FROZEN")
    clock.set_wrong(ahead_s)
    async with store.begin() as tx:
        await cards.put_many(tx, "main", [frozen])
    clock.set_wrong(-ahead_s)
    async with store.begin() as tx:
        shown = await cards.put_many(tx, "main", [replace(frozen, status="ACTIVE")], read_at=before)
        found = await cards.get(tx, "c1")

    assert shown == ({"c1"} if is_later else set())
    assert found is not None
    assert found.status == ("FROZEN" if is_later else "ACTIVE")


@pytest.mark.parametrize(("ahead_s", "is_later"), AHEAD)
async def test_a_balance_that_was_read_before_does_not_replace_a_later_one(
    store: Store, clock: FrozenClock, ahead_s: float, is_later: bool
) -> None:
    now = clock.now()
    async with store.begin() as tx:
        await cards.put_many(tx, "main", [card("c1", "ALICE")])
        await cards.set_balances(tx, [("c1", Decimal(308), now + timedelta(seconds=ahead_s))])
        await cards.set_balances(tx, [("c1", Decimal(258), now)])
        found = await cards.get(tx, "c1")

    assert found is not None
    assert found.balance_usd == (308 if is_later else 258)
