"""A copy, without anchors, that has a list of which rows were paid since: no row is paid twice, and none is said not to
have been sent.

A walk: what the list was in the copy, what became of its rows afterwards, on either database for one of each.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from bot.domain.errors import CountersignError
from bot.domain.people import KindPolicy
from bot.domain.requests import Request, State
from bot.services.alerts import ledger_rules
from bot.services.anchor_places import AnchorPlaces
from bot.services.older_copies import copy_detection
from bot.services.operators import safe_mode
from bot.services.requests import batch_submission, lifecycle
from tests.services.bulk_requests import ask_bulk, rows_of
from tests.storage.restores import debit, put_in_place, restart_on
from tests.storage.test_copies_of_known_requests import nobody_is_accused
from tests.storage.test_restore_pays_once import said_truly
from tests.storage.test_restores_at_odd_times import copied, in_force, leave, read_ledger
from tests.support.databases import Databases
from tests.support.world import ALICE, World, a_policy, a_world

pytestmark = pytest.mark.by_turns(3)

ROW_USD = Decimal(5)


@pytest.fixture
def databases(request: pytest.FixtureRequest) -> Databases:
    found: Databases = request.getfixturevalue(request.param)
    return found


@pytest.fixture
async def world(tmp_path: Path, own_url: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=own_url) as world:
        policy = replace(a_policy(), kinds={"card_topup": KindPolicy(expires=timedelta(days=3))})
        world.rebuild(policy=policy, anchors=AnchorPlaces([]))
        await world.tell("float", {"amount_usd": "5000"})
        await world.tell("account", {"key_days": 1})
        await read_ledger(world)
        yield world
        await world.store.close()


async def pending(world: World) -> Request:
    return await ask_bulk(world, "\n".join(["card,amount", *(f"{c['id']},5" for c in world.cards[:3])]))


async def approved(world: World) -> Request:
    return await approve(world, await pending(world))


async def under_way(world: World) -> Request:
    """One row was refused and is tried again; the others were sent, or are next."""
    batch = await approved(world)
    await world.fault("status", status=429, times=1)
    await world.run_due()
    assert State.EXECUTING in {row.state for row in await rows_of(world, batch)}
    return batch


async def left_out(world: World) -> Request:
    batch = await pending(world)
    await batch_submission.leave_out(world.core, batch.id, ALICE, [(await rows_of(world, batch))[0].id])
    return await world.request(batch.id)


async def cancelled(world: World) -> Request:
    batch = await pending(world)
    return await lifecycle.cancel(world.core, batch.id, ALICE)


async def approve(world: World, batch: Request) -> Request:
    return (await world.approve(await world.request(batch.id)))[0]


async def were_paid(world: World, batch: Request) -> None:
    with suppress(CountersignError):
        await approve(world, batch)
    await world.run(60)


async def one_was_paid_elsewhere(world: World, batch: Request) -> None:
    await debit(world, 4, key=(await rows_of(world, batch))[-1].key)


async def was_stopped_after_one(world: World, batch: Request) -> None:
    await one_was_paid_elsewhere(world, batch)
    with suppress(CountersignError):
        await lifecycle.cancel(world.core, batch.id, ALICE)


Before = Callable[[World], Awaitable[Request]]
Since = Callable[[World, Request], Awaitable[None]]
CELLS = [
    pytest.param("sqlite_files", before, since, id=f"{before.__name__}, {since.__name__}".replace("_", " "))
    for before in (pending, approved, under_way, left_out, cancelled)
    for since in (were_paid, one_was_paid_elsewhere, was_stopped_after_one)
    if not (before is cancelled and since is not one_was_paid_elsewhere)
    if not (before is under_way and since is not were_paid)
] + [pytest.param("postgres_databases", approved, were_paid, id="approved, were paid, postgresql")]


@pytest.mark.parametrize(("databases", "before", "since"), CELLS, indirect=["databases"])
async def test_whatever_a_list_is_in_a_copy_each_of_its_rows_is_paid_once(
    world: World, databases: Databases, tmp_path: Path, before: Before, since: Since
) -> None:
    batch = await before(world)
    await read_ledger(world)
    copy = await copied(world, tmp_path / "copy.db")
    paid_before = await paid(world, batch)
    await since(world, batch)
    is_new = await paid(world, batch) != paid_before

    url = await put_in_place(copy, databases)
    await restart_on(world, url)
    await copy_detection.hold_until_seen(world.core)
    if is_new and before is not cancelled:
        assert await in_force(world), "the debits of its rows are known to nobody here"
    await people_act(world, batch)
    await ledger_rules.compare(world.core, "main")
    await safe_mode.review(world.core)
    known = {row.id: row for row in await rows_of(world, batch)}
    await said_truly(world, known)
    if await in_force(world):
        await leave(world)
        await people_act(world, batch)
    await world.advance(timedelta(hours=26).total_seconds())
    await safe_mode.review(world.core)
    await people_act(world, batch)

    for row in await rows_of(world, batch):
        assert await world.debits(row.key) >= -ROW_USD, f"{row.id} was paid twice"
    await said_truly(world, known)
    await nobody_is_accused(world)
    await world.store.close()
    databases.drop(url)


async def paid(world: World, batch: Request) -> list[Decimal]:
    return [await world.debits(row.key) for row in await rows_of(world, batch)]


async def people_act(world: World, batch: Request) -> None:
    with suppress(CountersignError):
        await approve(world, batch)
    await world.run(60, step=30)
