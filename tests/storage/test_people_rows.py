"""Pauses, second words and who looks at Home, as both databases keep them."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from bot.partner.secret import Secret
from storage.cards import api_snapshots, otp_recipients
from storage.events import cursors
from storage.messages import home_views
from storage.operators import pauses, programs
from storage.requests import confirmations
from storage.store import Store
from storage.transaction import Tx
from tests.support.clock import FrozenClock
from tests.support.waiting import eventually


async def ask(tx: Tx, consent_id: str, subject: str = "main") -> confirmations.Consent | None:
    return await confirmations.ask(
        tx,
        consent_id=consent_id,
        kind="resume",
        subject=subject,
        terms={"why": "mended"},
        by="U1",
        by_name="One",
        expires_at=tx.now + timedelta(hours=1),
    )


async def test_a_program_is_paused_once_and_by_whoever_came_first(store: Store) -> None:
    async with store.begin() as tx:
        await programs.put(tx, "main", base_url="https://api.example.com", key=Secret("svc_live_00000000abc"))
        assert await pauses.put(tx, "main", by="U1", by_name="One", reason="odd debits")
        assert not await pauses.put(tx, "main", by="U2", by_name="Two", reason="other")
    async with store.read() as tx:
        (found,) = await pauses.all(tx)
        assert found == await pauses.of(tx, "main")
        assert (found.by, found.reason) == ("U1", "odd debits")
    async with store.begin() as tx:
        assert [await pauses.drop(tx, "main"), await pauses.drop(tx, "main")] == [True, False]


async def test_a_pause_waits_for_a_claim_that_looked_first(store: Store) -> None:
    """Or a first byte could leave after the pause was committed."""
    order: list[str] = []

    async def claim() -> None:
        async with store.begin() as tx:
            assert await pauses.of(tx, "main") is None
            order.append("looked")
            await asyncio.sleep(0.2)
            order.append("claimed")

    async def pause() -> None:
        await eventually("the claim looked for a pause", lambda: order)
        async with store.begin() as tx:
            await pauses.put(tx, "main", by="U1", by_name="One", reason="r")
            order.append("paused")

    async with store.begin() as tx:
        await programs.put(tx, "main", base_url="https://api.example.com", key=Secret("svc_live_00000000abc"))
    await asyncio.gather(claim(), pause())

    assert order == ["looked", "claimed", "paused"]


async def test_the_same_is_asked_for_once_at_a_time_and_answered_once(
    store: Store, clock: FrozenClock
) -> None:
    async with store.begin() as tx:
        first = await ask(tx, "C-1")
        assert await ask(tx, "C-2") is None
        assert await ask(tx, "C-3", "other") is not None
        assert await confirmations.open_one(tx, "resume", "main") == first
        assert await confirmations.end(tx, "C-1", "given", by="U2")
        assert not await confirmations.end(tx, "C-1", "declined", by="U3")
        assert await ask(tx, "C-4") is not None
    clock.advance(3601)
    async with store.begin() as tx:
        assert [c.id for c in await confirmations.overdue(tx)] == ["C-3", "C-4"]
        found = await confirmations.get(tx, "C-1")
    assert found is not None
    assert (found.state, found.answered_by, dict(found.terms)) == ("given", "U2", {"why": "mended"})


@pytest.mark.parametrize("answered_by", ["'U1'", "NULL"])
async def test_the_database_itself_refuses_ones_own_yes(own_store: Store, answered_by: str) -> None:
    async with own_store.begin() as tx:
        await ask(tx, "C-1")

    with pytest.raises(IntegrityError, match="ck_consent"):
        async with own_store.begin() as tx:
            await tx.run(text(f"UPDATE consent SET state = 'given', answered_by = {answered_by}"))


async def test_who_looked_at_home_lately_is_found_with_what_they_saw(
    store: Store, clock: FrozenClock
) -> None:
    async with store.begin() as tx:
        await home_views.opened(tx, "U1")
        await home_views.opened(tx, "U2")
        await home_views.published(tx, "U1", "abc")
        began = tx.now
    clock.advance(60)
    async with store.begin() as tx:
        await home_views.published(tx, "U2", "def")
        await home_views.opened(tx, "U3")
        found = await home_views.since(tx, began, limit=10)
        assert [(v.slack_id, v.fingerprint) for v in found] == [("U3", ""), ("U1", "abc"), ("U2", "def")]
        assert [v.slack_id for v in await home_views.since(tx, tx.now, limit=10)] == ["U3"]
        await home_views.drop(tx, "U3")
        assert len(await home_views.since(tx, began, limit=10)) == 2


async def test_the_marker_moves_with_whatever_is_read_or_to_be_sent(store: Store, clock: FrozenClock) -> None:
    async with store.begin() as tx:
        before = await home_views.marker(tx)
        assert await home_views.marker(tx) == before
        await api_snapshots.put(tx, "main", "me", {})
        read = await home_views.marker(tx)
    clock.advance(1)
    async with store.begin() as tx:
        await api_snapshots.put(tx, "main", "polled:funding", {})
        assert len({before, read, await home_views.marker(tx)}) == 3


async def test_cursors_say_when_they_moved_and_references_who_gets_codes(store: Store) -> None:
    async with store.begin() as tx:
        assert await cursors.moved_at(tx, "main", "events") is None
        await cursors.put(tx, "main", "events", "")
        assert await cursors.moved_at(tx, "main", "events") == tx.now
        await otp_recipients.put(tx, "emp-2", "U2")
        await otp_recipients.put(tx, "emp-1", "U1")
        assert await otp_recipients.all(tx) == [("emp-1", "U1"), ("emp-2", "U2")]
