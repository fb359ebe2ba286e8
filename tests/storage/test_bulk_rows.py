"""Batches and rows in both databases: what lists show, what counts, and what can be written again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from bot.domain.errors import Stale
from bot.domain.requests import Event, Request, State
from storage.requests import decisions, requests
from storage.store import Store
from tests.storage.factories import NOW, decision, insert, request

pytestmark = pytest.mark.by_turns(2)


def a_batch(rows: int = 3) -> tuple[Request, list[Request]]:
    batch = request("R-BTCH", subject="", subject_label="", rows=rows, exposure_usd=Decimal(50) * rows)
    made = [
        request(f"R-RW{n}", parent_id=batch.id, subject=f"card:{n}", facts={"row": rows - n, "line": 9})
        for n in range(rows)
    ]
    return batch, made


async def test_rows_come_in_the_order_of_their_list(store: Store) -> None:
    batch, rows = a_batch()
    async with store.begin() as tx:
        await insert(tx, batch, *rows)
    async with store.read() as tx:
        assert [row.id for row in await requests.rows_of(tx, batch.id)] == ["R-RW2", "R-RW1", "R-RW0"]
        assert (await requests.get(tx, "R-RW0")) == rows[0]


async def test_a_list_shows_the_batch_and_each_row_only_where_it_is_asked_for(store: Store) -> None:
    batch, rows = a_batch()
    async with store.begin() as tx:
        await insert(tx, batch, *rows, request("R-SNGL"))
        found = {one.id for one in await requests.find(tx)}
        each = {one.id for one in await requests.find(tx, each_row=True)}
        on_card = [one.id for one in await requests.find(tx, subject="card:1")]

    assert (found, on_card) == ({"R-BTCH", "R-SNGL"}, ["R-RW1"])
    assert each == {"R-RW0", "R-RW1", "R-RW2", "R-SNGL"}


async def test_limits_count_rows_and_no_batch(store: Store) -> None:
    batch, rows = a_batch()
    async with store.begin() as tx:
        await insert(tx, batch, *rows)
        await requests.move(tx, batch, Event.APPROVE, approved_at=tx.now)
        for row in rows[:2]:
            await requests.move(tx, row, Event.APPROVE, approved_at=tx.now)
        await requests.move(tx, rows[2], Event.CANCEL)
        made = (await requests.grants(tx, tx.now - timedelta(hours=1))).made
        assert sum(one.usd for one in made) == Decimal(100)


async def test_a_pending_row_does_not_expire_without_its_batch(store: Store) -> None:
    batch, rows = a_batch()
    late = NOW - timedelta(minutes=1)
    async with store.begin() as tx:
        await insert(tx, *(replace(one, expires_at=late) for one in (batch, *rows)))
        assert [one.id for one in await requests.expiring(tx)] == ["R-BTCH"]


async def test_only_a_pending_batch_takes_new_terms_and_only_once_from_one_sight(store: Store) -> None:
    batch, rows = a_batch()
    async with store.begin() as tx:
        await insert(tx, batch, *rows)
        await decisions.insert(tx, decision(batch))
        changed = await requests.change_terms(tx, batch, digest="cd" * 32, rows=2)
        assert (changed.digest, changed.rows, changed.version) == ("cd" * 32, 2, batch.version + 1)
        assert await decisions.drop_approvals(tx, batch.id) == 1
        assert await decisions.of(tx, batch.id) == []
        with pytest.raises(Stale):
            await requests.change_terms(tx, batch, digest="ef" * 32)
        for wrong in (rows[0], replace(changed, state=State.APPROVED)):
            with pytest.raises(ValueError, match="pending batch"):
                await requests.change_terms(tx, wrong, digest="ef" * 32)
        with pytest.raises(ValueError, match="pending batch"):
            await requests.change_terms(tx, changed, key="another")


async def test_a_batch_and_its_rows_can_be_held_for_a_transaction(store: Store) -> None:
    batch, rows = a_batch()
    async with store.begin() as tx:
        await insert(tx, batch, *rows)
        await requests.lock_rows(tx, batch.id)
        await requests.lock(tx, rows[0].id)
        assert len(await requests.rows_of(tx, batch.id)) == 3
