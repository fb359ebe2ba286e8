"""What nobody asks for: details that go in time, programs that run again, and no late landing seen where none was."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from datetime import timedelta

import pytest

from bot.domain.requests import State
from bot.partner.errors import PartnerError
from bot.services.alerts import ledger_rules
from bot.services.execution import maintenance, presend_checks
from bot.services.operators import programs
from bot.services.requests import lifecycle
from storage.errors import Purged
from storage.requests import requests as rows
from tests.services.outcome_steps import Fault, alert_kinds, execute, jump, jump_to_the_end, processor, status
from tests.support.kinds import NORA
from tests.support.situations import no_faults
from tests.support.world import ALICE, BOB, World

FREEZE, ORDER, TOPUP = "POST /cards/{cardId}/freeze", "POST /cards", "POST /cards/{cardId}/topup"


async def test_a_freeze_given_up_and_set_later_by_somebody_else_is_no_late_landing(world: World) -> None:
    card = {"card": world.cards[0]["id"]}
    await Fault("drop_before_commit", {"times": 1}).set(world, FREEZE)
    lost = await world.ask("card_freeze", card)
    await world.approve(lost)
    await execute(world, lost)
    world.people.change(BOB, deleted=True)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)
    ended = await jump_to_the_end(world, lost, within=timedelta(hours=1))
    assert (ended.state, ended.outcome_unknown) == (State.FAILED, True)
    world.people.change(BOB, deleted=False)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)
    again = await world.ask("card_freeze", card)
    await world.approve(again)
    assert (await execute(world, again)).state is State.SUCCEEDED

    await maintenance.sweep_late_landings(world.core)

    assert (await world.request(lost.id)).state is State.FAILED
    assert await alert_kinds(world) == set()


async def test_a_top_up_given_up_long_after_it_was_asked_is_still_watched(world: World) -> None:
    """The 48 hours run from when it was given up, however old the request is."""
    await processor("5xx").set(world, TOPUP)
    request = await world.top_up("50")
    await execute(world, request)
    await jump(world, request)
    await world.advance(5 * 24 * 3600)
    await world.tell(f"topups/{request.key}/resolve", {"as": "refunded"})
    assert (await jump(world, request)).state is State.FAILED
    async with world.store.read() as tx:
        watched = await rows.failed_in_doubt(tx, since=tx.now - timedelta(hours=48))
    assert [r.id for r in watched] == [request.id]


async def test_an_endpoint_that_the_key_may_not_call_is_held_until_the_key_may_write(world: World) -> None:
    await status(403, "FORBIDDEN").set(world, TOPUP)
    request = await world.top_up("50")
    await execute(world, request)
    store = world.simulator.world.store
    whole = store.all("SELECT scopes FROM api_keys")[0]["scopes"]
    store.run("UPDATE api_keys SET scopes = ?", whole.replace("cards:write", "cards:pan"))
    await programs.probe_paused(world.core)
    assert await alert_kinds(world) == {"scope"}

    store.run("UPDATE api_keys SET scopes = ?", whole)
    await world.advance(61)  # a refusal that names no scope rests for a minute
    await programs.probe_paused(world.core)
    assert await alert_kinds(world) == set()
    assert (await jump(world, request)).state is State.SUCCEEDED


async def test_details_of_an_order_nobody_can_settle_go_after_three_days_and_a_person_is_asked(
    world: World,
) -> None:
    await Fault("drop_midway").set(world, ORDER)
    request = await world.ask("card_order", NORA)
    await world.approve(request)
    await execute(world, request)
    assert (await jump_to_the_end(world, request, within=timedelta(hours=1))).state is State.UNRESOLVED

    await world.advance(71 * 3600)
    await maintenance.purge(world.core)
    async with world.store.read() as tx:
        assert (await rows.frozen(tx, request.id)).private["email"] == "nora@example.com"
    await world.advance(3600)
    await maintenance.purge(world.core)
    async with world.store.read() as tx:
        with pytest.raises(Purged):
            await rows.frozen(tx, request.id)

    looked = await jump(world, request)
    assert (looked.state, looked.needs_person) == (State.UNRESOLVED, True)
    assert await alert_kinds(world) == {"unresolved"}, "a purge of ours is not tampering"


@pytest.mark.parametrize("end", ["succeeded", "failed", "expired"])
async def test_details_of_an_order_go_in_the_transaction_that_settles_it(world: World, end: str) -> None:
    request = await world.ask("card_order", NORA)
    if end == "failed":
        await status(400, "INVALID_PHONE").set(world, ORDER)
    await world.approve(request)
    if end == "expired":
        await world.advance(15 * 60)
    assert (await execute(world, request)).state == end
    with closing(sqlite3.connect(world.database)) as connection:
        columns = "sealed_private, sealed_body, purged_at"
        sealed = connection.execute(f"SELECT {columns} FROM request WHERE id = ?", (request.id,)).fetchone()
    assert sealed[:2] == (None, None)
    assert sealed[2] is not None


async def test_a_debit_that_comes_after_the_sweeps_have_stopped_is_found_by_the_watch_over_the_ledger(
    world: World,
) -> None:
    """However late a call arrives: what left the float does not stay called failed."""
    await Fault("drop_before_commit", {"times": 9}).set(world, TOPUP)
    request = await world.top_up("50")
    await execute(world, request)
    world.people.change(BOB, deleted=True)
    await world.advance(10)  # for how long a look at the people is shared
    assert (await jump_to_the_end(world, request, within=timedelta(hours=1))).state is State.FAILED
    await ledger_rules.compare(world.core, "main")
    await world.advance(timedelta(hours=50).total_seconds())

    await no_faults(world)
    await processor("5xx").set(world, TOPUP)
    with suppress(PartnerError):
        await world.core.partners["main"].top_up(request.subject, b'{"amount_usd":50.00}', key=request.key)
    await ledger_rules.compare(world.core, "main")
    await maintenance.sweep_late_landings(world.core)

    assert (await world.request(request.id)).state is State.UNRESOLVED, "a debit proves no credit"
    assert await alert_kinds(world) == {"unresolved"}


async def test_what_the_ledger_shows_of_a_failed_request_is_looked_at_once(world: World) -> None:
    await processor("401").set(world, TOPUP)
    request = await execute(world, await world.top_up("50"))
    assert request.state is State.FAILED, "debited, and given back"
    await ledger_rules.compare(world.core, "main")
    reads = len(await world.sent("GET /ledger"))

    for _ in range(3):
        await maintenance.sweep_late_landings(world.core)

    assert len(await world.sent("GET /ledger")) <= reads + 1
    assert (await world.request(request.id)).state is State.FAILED


async def test_bytes_that_a_reader_kept_in_the_log_are_gone_after_the_next_purge(world: World) -> None:
    await lifecycle.cancel(world.core, (await world.top_up("50", approved=False)).id, ALICE)
    async with world.store.read() as tx:
        await rows.find(tx)
        await world.top_up("40", approved=False)
        await maintenance.purge(world.core)
        assert world.store.needs_checkpoint

    await maintenance.purge(world.core)

    assert not world.store.needs_checkpoint
