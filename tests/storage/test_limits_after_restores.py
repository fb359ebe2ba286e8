"""What left the float since a copy was made counts towards the limits of 24 hours, whoever requested it; and nothing is
sent before a ledger was seen."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from operator import eq
from pathlib import Path

import pytest

from bot.domain.errors import OverLimit
from bot.domain.limits import Scope
from bot.domain.people import KindPolicy, Limits, Per, Tier
from bot.domain.requests import State
from bot.partner.calls.pages import PAGE
from bot.partner.errors import PartnerError
from bot.services import execution
from bot.services.anchor_places import AnchorPlaces
from bot.services.core import queue_name
from bot.services.older_copies import copy_detection, messages_in_slack
from bot.services.operators import safe_mode
from bot.services.processes import start_holds
from bot.services.requests import granted_sums
from sandbox.partner.ledger import ledger
from storage.operators import OrphanDebit
from storage.operators import safe_mode as rows
from storage.requests import requests
from tests.storage.restores import debit, put_in_place, restart_on
from tests.storage.test_restores_at_odd_times import (
    an_entry,
    by_restore,
    copied,
    in_force,
    leave,
    open_alerts,
    read_ledger,
)
from tests.support.databases import Databases
from tests.support.world import ALICE, BOB, CAROL, World, a_policy, a_world

#: Long stories, which are the same on either database.
pytestmark = [pytest.mark.walk(turns="databases"), pytest.mark.by_turns(4)]
LIMITS = Limits(Decimal(100), Decimal(100), Decimal(100))


@pytest.fixture
async def world(tmp_path: Path, own_url: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=own_url) as world:
        tiers = (Tier(Decimal(50), 2, per=Per.CARD),)
        policy = replace(a_policy(), limits=LIMITS, kinds={"card_topup": KindPolicy(tiers=tiers)})
        world.rebuild(anchors=AnchorPlaces([tmp_path / "anchors"]), policy=policy)
        await world.tell("float", {"amount_usd": "5000"})
        yield world
        await world.store.close()


async def used(world: World) -> dict[Scope, Decimal]:
    async with world.store.read() as tx:
        found = await granted_sums.limit_uses(tx, world.core, ALICE, approvers=[BOB])
    return {one.scope: one.spent_usd for one in found}


async def test_debits_that_the_copy_does_not_know_count_for_a_day_towards_every_limit_that_may_cover_them(
    world: World, databases: Databases, tmp_path: Path
) -> None:
    await read_ledger(world)
    known = await world.top_up("20", approved=False)
    copy = await copied(world, tmp_path / "copy.db")
    await world.approve(known)
    await world.run(30)
    lost_usd = await debit(world, 1) + await debit(world, 4) + await debit(world, 4)
    assert lost_usd == Decimal(12)
    url = await by_restore(world, copy, databases)
    await restart_on(world, url)
    await read_ledger(world)
    await safe_mode.review(world.core)

    assert await used(world) == dict.fromkeys(Scope, Decimal(32)), "the paid one that waits here counts, too"
    async with world.store.read() as tx:
        mode = await rows.current(tx)
        assert mode is not None
        grants = (await requests.grants(tx, tx.now - timedelta(hours=24))).of(ALICE, eq)
    assert sum(one.usd for one in grants) == Decimal(32)
    assert world.cards[1]["id"] in {one.subject for one in grants}
    await leave(world)
    request = await world.top_up("45", card=1, approved=False)
    async with world.store.read() as tx:
        policed = await granted_sums.of_request(tx, world.core, request)
    assert policed.conditions.needed == 2, "with the 12 of before it is more than 50 for this card"
    with pytest.raises(OverLimit, match=r"32\.00 USD and 69\.00 USD are more than"):
        await approved_by_all(world, "69")
    await world.advance(24 * 3600 + 60)
    assert await used(world) == dict.fromkeys(Scope, Decimal(0))
    await world.store.close()
    databases.drop(url)


async def approved_by_all(world: World, usd: str) -> None:
    request = await world.top_up(usd, card=3, approved=False)
    for person in (BOB, CAROL):
        await world.approve(request, by=person)


async def test_what_was_approved_again_counts_once(
    world: World, databases: Databases, tmp_path: Path
) -> None:
    await read_ledger(world)
    waiting = await world.top_up("20", approved=False)
    copy = await copied(world, tmp_path / "copy.db")
    await world.approve(waiting)
    await world.run(30)
    url = await by_restore(world, copy, databases)
    await restart_on(world, url)
    await read_ledger(world)
    await safe_mode.review(world.core)
    await leave(world)
    await world.approve(waiting)
    assert await used(world) == dict.fromkeys(Scope, Decimal(20))
    await world.run(60)
    assert await world.debits(waiting.key) == Decimal(-20)
    await world.store.close()
    databases.drop(url)


@pytest.mark.parametrize("reference", ["same", "suffixed"])
async def test_a_lost_debit_that_came_back_does_not_count_whatever_its_rows_are_called(
    world: World, databases: Databases, tmp_path: Path, reference: str
) -> None:
    await read_ledger(world)
    copy = await copied(world, tmp_path / "copy.db")
    kept_usd = await debit(world, 2)
    await world.tell("account", {"refund_reference": reference})
    await world.fault("processor", processor="400")
    with pytest.raises(PartnerError):
        await debit(world, 4)
    url = await by_restore(world, copy, databases)
    await restart_on(world, url)
    await read_ledger(world)
    await safe_mode.review(world.core)

    assert await used(world) == dict.fromkeys(Scope, kept_usd)
    await world.store.close()
    databases.drop(url)


@pytest.mark.parametrize("reference", ["topup:{key}", "topup:{key}:refund"])
async def test_what_comes_back_of_a_lost_debit_later_is_taken_off(world: World, reference: str) -> None:
    key = world.core.ids.idempotency_key()
    for kind, called, usd in (("card_topup", "topup:{key}", "-7"), ("refund", reference, "7")):
        async with world.store.begin() as tx:
            row = OrphanDebit("main", called.format(key=key), Decimal(usd), kind, None, tx.now, tx.now)
            await rows.add_orphans(tx, [row])
            await rows.add_orphans(tx, [row])  # as the whole ledger is read again each day
        counted = Decimal(7) if kind == "card_topup" else Decimal(0)
        assert await used(world) == dict.fromkeys(Scope, counted)


async def test_before_its_ledger_was_seen_nothing_that_can_wait_is_sent_to_a_program(
    world: World, databases: Databases, tmp_path: Path
) -> None:
    """Not by a restart, a queue of before, or a person's click."""
    await read_ledger(world)
    copy = await copied(world, tmp_path / "copy.db")
    await debit(world, 2)
    world.core.anchors.files = ()
    url = await put_in_place(copy, databases)
    await restart_on(world, url)
    await world.fault("status", status=500, times=100, operation="GET /ledger")
    await copy_detection.hold_until_seen(world.core)
    request = await world.top_up("5")
    calls = len(await world.sent("POST /topup"))

    freeze = await world.ask("card_freeze", {"card": world.cards[1]["id"]}, now=True)

    (urgent,) = [queue for queue in await execution.due(world.core) if queue.ids]
    assert (urgent.name, list(urgent.ids)) == (queue_name("emergency", "main"), [freeze.id])
    await execution.execute(world.core, freeze.id)
    assert (await world.request(freeze.id)).state is State.SUCCEEDED, "a freeze waits for no ledger"
    await execution.execute(world.core, request.id)
    assert (await world.request(request.id)).state is State.APPROVED
    assert len(await world.sent("POST /topup")) == calls

    await world.control.delete("/_control/faults")
    await copy_detection.look_at_ledgers(world.core)
    assert await in_force(world)
    assert (await world.request(request.id)).state is State.CANCELLED
    await world.store.close()
    databases.drop(url)


async def test_a_start_reads_of_a_long_ledger_only_what_came_in_since(world: World) -> None:
    """Or since the database was made, where it never read it."""
    simulator = world.simulator.world
    (row, *_) = simulator.store.all("SELECT account FROM ledger")
    with simulator.clock.at(simulator.clock.now() - timedelta(days=5)):
        for _ in range(4 * PAGE):
            ledger.post(simulator, row["account"], Decimal("0.01"), "funding")
    await world.advance(timedelta(days=1).total_seconds())
    await an_entry(world)

    assert await calls_to_look(world) == 1, "the database was made after that"
    await read_ledger(world)
    await debit(world, 1, key="somebody-else-1")
    assert await calls_to_look(world) == 1


async def calls_to_look(world: World) -> int:
    before = len(await world.sent("GET /ledger"))
    await copy_detection.hold_until_seen(world.core)
    assert not world.core.awaits_look()
    return len(await world.sent("GET /ledger")) - before


async def test_a_ledger_that_cannot_be_read_holds_nothing_after_ten_minutes(world: World) -> None:
    await world.fault("status", status=500, times=100, operation="GET /ledger")
    await copy_detection.hold_until_seen(world.core)
    assert world.core.awaits_look()
    await looked_again(world)
    assert await open_alerts(world, "ledger_unseen") == []
    await world.advance(start_holds.HOLDS_FOR_S)
    assert not world.core.awaits_look()
    for _ in range(2):
        await looked_again(world)
    (alert,) = await open_alerts(world, "ledger_unseen")
    assert "now sends approved requests again" in alert.text

    await world.control.delete("/_control/faults")
    await looked_again(world)
    assert await open_alerts(world, "ledger_unseen") == []
    await world.fault("status", status=403, times=1, operation="GET /ledger")
    await copy_detection.hold_until_seen(world.core)
    assert not world.core.awaits_look(), "a key that may not read it"


async def looked_again(world: World) -> None:
    await copy_detection.look_again(world.core, messages_in_slack.nothing_posted)
    await start_holds.report(world.core)
