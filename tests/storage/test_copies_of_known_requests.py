"""A copy that has the very request that was paid since: its key is in the ledger, and in the database as never sent.

A walk: each state that a request can have in a copy, each thing that became of it afterwards, with and without anchors.
Then the copy is put back, and people act on it before anything else was read. Nothing is paid twice, no limit is
exceeded, people are notified, and nobody reads that nothing was sent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import select

from bot.domain.errors import CountersignError
from bot.domain.people import KindPolicy, Limits
from bot.domain.requests import Request, State
from bot.partner.errors import PartnerError
from bot.services.alerts import ledger_rules
from bot.services.anchor_places import AnchorPlaces
from bot.services.older_copies import copy_detection
from bot.services.operators import deep_check, safe_mode
from bot.services.requests import approvals, lifecycle
from storage import tables
from storage.messages import alerts as alert_rows
from storage.messages import outbox
from tests.storage.restores import debit, put_in_place, restart_on
from tests.storage.test_restore_pays_once import CLAIMS_NOTHING, refused
from tests.storage.test_restores_at_odd_times import copied, in_force, leave, read_ledger
from tests.support.databases import Databases
from tests.support.world import ALICE, BOB, World, a_policy, a_world

pytestmark = pytest.mark.by_turns(4)

#: In 24 hours. A request takes 10; of another one of 12 the second would exceed it.
LIMIT_USD = Decimal(15)
#: So long that the card provider may forget a key while its request still waits.
WAITS = timedelta(days=3)
A_DAY = timedelta(hours=24)


@pytest.fixture
def databases(request: pytest.FixtureRequest) -> Databases:
    found: Databases = request.getfixturevalue(request.param)
    return found


@pytest.fixture
async def world(tmp_path: Path, own_url: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=own_url) as world:
        limits = Limits(LIMIT_USD, LIMIT_USD, Decimal(500))
        policy = replace(a_policy(), limits=limits, kinds={"card_topup": KindPolicy(expires=WAITS)})
        world.rebuild(policy=policy)
        await world.tell("float", {"amount_usd": "5000"})
        await world.tell("account", {"key_days": 1})
        await read_ledger(world)
        yield world
        await world.store.close()


async def pending(world: World) -> Request:
    return await world.top_up("10", approved=False)


async def approved(world: World) -> Request:
    return await world.top_up("10")


async def executing(world: World) -> Request:
    request = await world.top_up("10")
    await refused(world, request, 429)
    return request


async def unresolved(world: World) -> Request:
    request = await world.top_up("10")
    await world.fault("processor", processor="timeout", times=20)
    await world.run(1300, step=40)
    await world.control.delete("/_control/faults")
    return request


async def failed(world: World) -> Request:
    request = await world.top_up("10")
    await world.fault("processor", processor="400")
    await world.run(30)
    assert (await world.request(request.id)).state is State.FAILED
    return request


async def cancelled(world: World) -> Request:
    request = await world.top_up("10", approved=False)
    await lifecycle.cancel(world.core, request.id, ALICE)
    return request


async def rejected(world: World) -> Request:
    request = await world.top_up("10", approved=False)
    await approvals.reject(world.core, request.id, BOB, reason="no")
    return request


async def expired(world: World) -> Request:
    request = await world.top_up("10", approved=False)
    await world.advance(WAITS.total_seconds() + 60)
    await lifecycle.expire_due(world.core)
    return request


async def nothing(_world: World, _request: Request) -> None:
    """Nobody did anything with it."""


async def was_paid(world: World, request: Request) -> None:
    await _approved(world, request)
    await world.run(60)


async def was_paid_elsewhere(world: World, request: Request) -> None:
    """By another process on another copy."""
    with suppress(PartnerError):
        await debit(world, 4, key=request.key)


async def was_cancelled(world: World, request: Request) -> None:
    with suppress(CountersignError):
        await lifecycle.cancel(world.core, request.id, ALICE)


async def was_rejected(world: World, request: Request) -> None:
    with suppress(CountersignError):
        await approvals.reject(world.core, request.id, BOB, reason="no")


async def had_expired(world: World, _request: Request) -> None:
    await world.advance(WAITS.total_seconds() + 60)
    await lifecycle.expire_due(world.core)
    await world.run(60)


async def is_unknown(world: World, request: Request) -> None:
    await _approved(world, request)
    await world.fault("processor", processor="timeout", times=3)
    await world.run(60, step=20)
    await world.control.delete("/_control/faults")


async def was_refused(world: World, request: Request) -> None:
    await _approved(world, request)
    await world.fault("processor", processor="400", times=1)
    await world.run(60)
    await world.control.delete("/_control/faults")


async def _approved(world: World, request: Request) -> None:
    with suppress(CountersignError):
        await world.approve(request)


Since = Callable[[World, Request], Awaitable[None]]
IN_THE_COPY = (pending, approved, executing, unresolved, failed, cancelled, rejected, expired)
SINCE: dict[Since, tuple[Callable[[World], Awaitable[Request]], ...]] = {
    nothing: IN_THE_COPY,
    was_paid: (pending, approved, executing, unresolved),
    was_paid_elsewhere: IN_THE_COPY,
    was_cancelled: (pending, approved, executing),
    was_rejected: (pending, approved),
    had_expired: (pending, approved, executing),
    is_unknown: (pending, approved, executing),
    was_refused: (pending, approved, executing),
}
CELLS = [
    pytest.param(database, before, since, kept, id=f"{database}, {before.__name__}, {since.__name__}, {word}")
    for since, each in SINCE.items()
    for before in each
    for database, kept, word in (
        ("sqlite_files", False, "no anchors"),
        ("sqlite_files", True, "anchors"),
        ("postgres_databases", False, "no anchors"),
    )
    if database == "sqlite_files" or before is pending
    if not kept or before in (pending, approved, cancelled)
]


async def rows_of_ledger(world: World) -> list[tuple[datetime, Decimal]]:
    found = [e async for e in world.core.partners["main"].ledger_entries()]
    return [(e.created_at, e.amount_usd) for e in found if "topup:co-" in (e.reference or "")]


async def people_act(world: World, known: Request, since: Since | None = None) -> None:
    """Whoever waits for this request or needs room for another one does not wait for anything else."""
    with suppress(CountersignError):
        if since is is_unknown:
            await lifecycle.cancel(world.core, known.id, ALICE)
        elif since is not was_paid:  # that one is approved when its key is old
            await world.approve(known)
    await world.run(30, step=30)
    with suppress(CountersignError):
        await world.top_up("12", card=1)
    await world.run(60, step=60)


@pytest.mark.walk
@pytest.mark.parametrize(("databases", "before", "since", "kept"), CELLS, indirect=["databases"])
async def test_whatever_a_request_is_in_a_copy_and_became_since_it_is_paid_once_and_within_the_limits(
    world: World,
    databases: Databases,
    tmp_path: Path,
    before: Callable[[World], Awaitable[Request]],
    since: Since,
    kept: bool,
) -> None:
    world.rebuild(anchors=AnchorPlaces([tmp_path / "kept"] if kept else []))
    known = await before(world)
    await read_ledger(world)
    copy = await copied(world, tmp_path / "copy.db")
    await since(world, known)
    took = await world.debits(known.key)

    url = await put_in_place(copy, databases)
    await restart_on(world, url)
    await copy_detection.hold_until_seen(world.core)
    if took < 0 and before in (pending, approved, executing):
        assert await in_force(world), "its debit is known to nobody here"
    await people_act(world, known, since)
    await ledger_rules.compare(world.core, "main")
    await safe_mode.review(world.core)
    if took < 0 and await world.debits(known.key) < 0:
        await people_are_notified(world, known)
        await said_truly(world, known)
    if await in_force(world):
        await leave(world)
        await people_act(world, known)
    await world.advance(timedelta(hours=26).total_seconds())
    await safe_mode.review(world.core)
    with suppress(CountersignError):
        await world.approve(known)
    await world.run(60, step=30)

    assert await world.debits(known.key) >= -known.exposure_usd, "paid twice"
    moved = await rows_of_ledger(world)
    for at, _ in moved:
        within = [usd for when, usd in moved if at <= when < at + A_DAY]
        assert -sum(within) <= LIMIT_USD, "more than the limit left the float within a day"
    if await world.debits(known.key) < 0:
        await said_truly(world, known)
    await nobody_is_accused(world)
    await world.store.close()
    databases.drop(url)


async def nobody_is_accused(world: World) -> None:
    """Of having changed the database: all that happened here is on record."""
    async with world.store.read() as tx:
        kinds = {one.kind for one in await alert_rows.open_ones(tx)}
        assert not kinds & {"ended_put_back", "tampered", "changed_outside"}, kinds
        assert await deep_check.differences(tx) == []
    assert not world.store.put_back


async def people_are_notified(world: World, known: Request) -> None:
    current = await world.request(known.id)
    if current.state in (State.SUCCEEDED, State.UNRESOLVED, State.EXECUTING):
        return
    async with world.store.read() as tx:
        open_ones = (await tx.run(select(tables.alert.c.kind, tables.alert.c.subject))).all()
    assert [one.kind for one in open_ones if one.subject in (known.id, "database")], current


async def said_truly(world: World, known: Request) -> None:
    current = await world.request(known.id)
    async with world.store.read() as tx:
        waiting = [row for row in await outbox.next_due(tx) if known.id in row.subject]
    assert not CLAIMS_NOTHING.search(current.outcome_text), current.outcome_text
    assert [row.body for row in waiting if CLAIMS_NOTHING.search(str(row.body))] == []
