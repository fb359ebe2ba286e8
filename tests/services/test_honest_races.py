"""Two processes at work on the same request at the same moment, and nobody has changed the database: nobody is accused.

On PostgreSQL each transaction sees what others have committed between two of its statements. What is written to the
audit log of a request is therefore read under a lock, or written with a guarded change.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bot.domain.errors import OverLimit, Stale
from bot.domain.people import Limits
from bot.domain.requests import Request, State
from bot.services import execution
from bot.services.execution import outcome_writer, try_now
from bot.services.operators import deep_check, key_change
from bot.services.requests import approvals, lifecycle
from storage import tables
from storage.cards import otp_recipients
from storage.log_record import on_record
from storage.log_record.debits import OrphanDebit
from storage.operators import safe_mode
from storage.protection import CODE_RECIPIENT, signed_rows
from storage.requests import attempts, requests
from storage.store import Store
from storage.transaction import Tx
from storage.upsert import upsert
from storage.vault import Keyring, Vault, new_master
from tests.services.bulk_requests import a_list, ask_bulk
from tests.services.outcome_steps import TOPUP, open_alerts, processor, status
from tests.services.test_keys_too_old import as_a_copy
from tests.support.databases import BACKENDS
from tests.support.world import ALICE, BOB, CAROL, MASTER, World, a_policy, a_world
from tests.thief.edits import opened
from tests.thief.programme import place_of

pytestmark = pytest.mark.by_turns(2)

FREEZE = "POST /cards/{cardId}/freeze"


@pytest.fixture
async def world(url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=url) as made:
        yield made


async def nobody_is_accused(world: World) -> None:
    assert "ended_put_back" not in {alert.kind for alert in await open_alerts(world)}
    assert not world.store.put_back


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
async def test_a_list_of_which_a_row_is_just_sent_is_rejected_too_late_and_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await status(429, "RATE_LIMITED").set(world, TOPUP, times=9)
    batch = await ask_bulk(world, a_list(world, "10", "20", "30"))
    await world.approve(batch)
    stop_approved = lifecycle.stop_approved

    async def after_the_other_process(*given: Any) -> Any:
        await world.run_due()
        return await stop_approved(*given)

    monkeypatch.setattr(approvals, "stop_approved", after_the_other_process)
    with pytest.raises(Stale, match="executing already"):
        await approvals.reject(world.core, batch.id, CAROL, reason="no")

    assert (await world.request(batch.id)).state is State.EXECUTING
    await nobody_is_accused(world)


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
async def test_an_outcome_that_another_process_writes_while_a_copy_is_found_stays(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await processor("timeout").set(world, TOPUP, times=1)
    request = await world.top_up("50")
    is_answered, may_write = asyncio.Event(), asyncio.Event()
    write, hold_open = outcome_writer._write, requests.hold_open

    async def write_later(*given: Any) -> None:
        is_answered.set()
        await may_write.wait()
        await write(*given)

    async def hold_after_that(tx: Any) -> Any:
        may_write.set()
        await other
        return await hold_open(tx)

    monkeypatch.setattr(outcome_writer, "_write", write_later)
    other = asyncio.create_task(world.run_due())
    await is_answered.wait()
    monkeypatch.setattr(requests, "hold_open", hold_after_that)
    await as_a_copy(world)
    monkeypatch.undo()

    await world.run(1300, step=60)

    assert (await world.request(request.id)).state in (State.SUCCEEDED, State.UNRESOLVED)
    await nobody_is_accused(world)


async def _answered_and_not_written(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> tuple[Request, asyncio.Task[None], asyncio.Event]:
    """A top-up whose process has its answer, and stands still until the event before it writes that; its lease is
    over."""
    await processor("timeout").set(world, TOPUP, times=2)
    request = await world.top_up("50")
    is_answered, may_write = asyncio.Event(), asyncio.Event()
    write = outcome_writer._write

    async def write_late(*given: Any) -> None:
        if not is_answered.is_set():
            is_answered.set()
            await may_write.wait()
        await write(*given)

    monkeypatch.setattr(outcome_writer, "_write", write_late)
    stalled = asyncio.create_task(execution.execute(world.core, request.id))
    await is_answered.wait()
    with opened(place_of(world)) as database:  # its lease is over
        database.write("UPDATE request SET lease_until = NULL, lease_owner = NULL")
    return request, stalled, may_write


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_an_answer_that_comes_after_its_request_was_taken_over_is_on_record(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its attempt is answered from then on, and whoever goes on leans on that."""
    request, stalled, may_write = await _answered_and_not_written(world, monkeypatch)
    await execution.execute(replace(world.core, owner="another"), request.id)
    may_write.set()
    await stalled
    assert [attempt.answered_at is not None for attempt in await world.attempts(request.id)] == [True, True]

    await world.run(1300, step=60)

    assert len(await world.attempts(request.id)) > 2, "it went on"
    await nobody_is_accused(world)
    async with world.store.read() as tx:
        assert await deep_check.differences(tx) == [], "the answer counts, though it came late"


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
async def test_who_has_a_freeze_tried_while_a_try_of_it_ends_is_not_accused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await status(429, "RATE_LIMITED").set(world, FREEZE, times=1)
    request = await world.ask("card_freeze", {"card": world.cards[0]["id"]}, now=True)
    await world.run_due()
    await world.advance(61)
    is_answered, may_write = asyncio.Event(), asyncio.Event()
    write, due_now = outcome_writer._write, try_now._due_now

    async def write_later(*given: Any) -> None:
        is_answered.set()
        await may_write.wait()
        await write(*given)

    async def while_it_ends(*given: Any) -> None:
        await due_now(*given)  # a try is under way, so nothing is written
        may_write.set()
        with suppress(TimeoutError):  # it waits for the lock that is held here
            await asyncio.wait_for(asyncio.shield(other), 1)

    monkeypatch.setattr(outcome_writer, "_write", write_later)
    monkeypatch.setattr(try_now, "_due_now", while_it_ends)
    other = asyncio.create_task(world.run_due())
    await is_answered.wait()
    await try_now.try_now(world.core, request.id, ALICE)
    await other

    assert (await world.request(request.id)).state is State.SUCCEEDED
    await nobody_is_accused(world)


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
async def test_an_answer_that_comes_late_during_it_accuses_nobody(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its attempt is answered, and on record, between what is read of the attempts and of the log."""
    request, stalled, may_write = await _answered_and_not_written(world, monkeypatch)
    world.rebuild(owner="another")
    await execution.execute(world.core, request.id)
    is_late = asyncio.Event()

    def and_then(read: Any) -> Any:
        async def and_then_it_comes(tx: Any, *given: Any) -> Any:
            found = await read(tx, *given)
            if tx.writes and not is_late.is_set():
                is_late.set()
                may_write.set()
                await stalled
            return found

        return and_then_it_comes

    ring = Keyring.parse(f"{new_master()}\n{MASTER}")
    url = world.store.database.url.render_as_string(hide_password=False)
    other = await Store.open(url, vault=Vault(ring), clock=world.clock, exclusive=False)
    try:
        for room, name in ((attempts, "of"), (on_record, "of")):
            monkeypatch.setattr(room, name, and_then(getattr(room, name)))
        async with asyncio.timeout(20):
            found = await key_change.sign_open_again(other, "cli:test")
    finally:
        await other.close()

    assert is_late.is_set()
    assert found == key_change.SignedAgain(1)


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
async def test_a_debit_that_another_process_finds_while_limits_are_counted_counts_in_them(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.rebuild(
        policy=replace(a_policy(), kinds={}, limits=Limits(total_usd=Decimal(100)), version="limits")
    )
    request = await world.top_up("60", approved=False)
    url = world.store.database.url.render_as_string(hide_password=False)
    other = await Store.open(url, vault=Vault(Keyring.parse(MASTER)), clock=world.clock, exclusive=False)
    lost = OrphanDebit("main", "elsewhere", Decimal(-70), "TOPUP", None, world.clock.now(), world.clock.now())
    counted = requests.grants

    async def and_then_one_is_found(tx: Any, *given: Any, **named: Any) -> Any:
        found = await counted(tx, *given, **named)
        if tx.writes:
            monkeypatch.setattr(requests, "grants", counted)
            async with other.begin() as tx_of_other:
                await safe_mode.add_orphans(tx_of_other, [lost])
        return found

    monkeypatch.setattr(requests, "grants", and_then_one_is_found)
    try:
        with pytest.raises(Stale, match="A debit that no request explains was found in the ledger just now"):
            await world.approve(request)
        with pytest.raises(OverLimit):
            await world.approve(request)
    finally:
        await other.close()
    assert (await world.request(request.id)).state is State.PENDING
    await nobody_is_accused(world)


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
async def test_a_signed_row_that_two_processes_change_at_once_was_changed_by_nobody_else(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row is read, another process changes it and signs it again, and its signature is read after that."""
    await _named(world, ALICE)
    is_read, read = asyncio.Event(), signed_rows._row

    async def slowly(tx: Tx, signed: signed_rows.SignedTable, key: str) -> Any:
        row = await read(tx, signed, key)
        if not is_read.is_set():
            is_read.set()
            await asyncio.wait([other], timeout=1)
        return row

    async def afterwards() -> None:
        await is_read.wait()
        await _named(world, CAROL)

    other = asyncio.create_task(afterwards())
    monkeypatch.setattr(signed_rows, "_row", slowly)
    await _named(world, BOB)
    await other

    async with world.store.read() as tx:
        assert dict(await otp_recipients.all(tx)) == {"emp-1042": CAROL}
    assert not world.store.rows_met


async def _named(world: World, person: str) -> None:
    async with world.store.begin() as tx, signed_rows.changing(tx, CODE_RECIPIENT, "emp-1042"):
        row = {"partner_ref": "emp-1042", "slack_id": person}
        await upsert(tx, tables.person_card, [row], key=("partner_ref",))
