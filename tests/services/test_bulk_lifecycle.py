"""A batch from list to end: one request to approve, rows with a key each, the truth about every one."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from sqlalchemy import text

from bot.domain.errors import NotAllowed, OverLimit, OwnRequest, Stale
from bot.domain.people import KindPolicy, Limits
from bot.domain.people.policy import Tier
from bot.domain.requests import State
from bot.services import execution, message_kinds, requests
from bot.services.execution import maintenance, presend_checks
from bot.services.requests import approvals, batch_submission
from storage.requests import decisions
from storage.requests import requests as request_rows
from tests.services.bulk_requests import (
    a_list,
    ask_bulk,
    hold_rows_to_the_ledger,
    rows_of,
    run_to_the_end,
    states_of,
)
from tests.services.outcome_steps import (
    Fault,
    alert_kinds,
    execute,
    keys_sent,
    net_of,
    processor,
    status,
    top_ups,
)
from tests.support.situations import FREEZE, REFUSING, card_status, changes, to_send
from tests.support.world import ALICE, BOB, CAROL, World

pytestmark = pytest.mark.by_turns(4)

TOPUP = "POST /cards/{cardId}/topup"
# By kind, an answer that did nothing and after which the call is made again, and the call that gets it.
REFUSED_FOR_NOW = {
    "card_topup": (status(429, "RATE_LIMITED"), TOPUP),
    "card_freeze": (REFUSING, FREEZE),
}


async def test_a_batch_is_one_request_whose_rows_are_sent_once_each(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20.50", "5"))
    assert (batch.summary, batch.exposure_usd) == ("Top up 3 cards by 35.50 USD in all", Decimal("35.50"))
    assert await states_of(world, batch) == {State.PENDING: 3}

    await world.approve(batch)
    done = await run_to_the_end(world, batch)

    assert (done.state, await states_of(world, batch)) == (State.SUCCEEDED, {State.SUCCEEDED: 3})
    assert done.outcome_text == "3 of 3 rows succeeded. 35.50 USD of 35.50 USD moved."
    rows = await rows_of(world, batch)
    assert sorted(keys_sent(world)) == sorted(row.key for row in rows)
    assert len({row.key for row in rows} | {batch.key}) == 4
    assert await hold_rows_to_the_ledger(world, batch) == done.exposure_usd


async def test_rows_go_in_the_order_of_the_list_and_not_all_at_once(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20", "30"))
    await world.approve(batch)
    await world.run_due()

    assert await states_of(world, batch) == {State.SUCCEEDED: 1, State.APPROVED: 2}
    assert (await world.request(batch.id)).state is State.EXECUTING
    await world.run(3, step=1)
    sent = [Decimal(str(call["body"]["amount_usd"])) for call in top_ups(world)]
    assert sent == [Decimal(10), Decimal(20), Decimal(30)]


async def test_the_quorum_is_that_of_the_total(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "200", "200", "200"))
    assert batch.approvals_needed == 2, "each is below the tier of 500 USD, together they are above"

    first, _ = await world.approve(batch)
    assert (first.state, await states_of(world, batch)) == (State.PENDING, {State.PENDING: 3})
    second, _ = await world.approve(batch, by=CAROL)
    assert (second.state, await states_of(world, batch)) == (State.APPROVED, {State.APPROVED: 3})


async def test_the_rolling_limit_counts_the_total_once(world: World) -> None:
    tight = replace(world.core.policy, limits=Limits(total_usd=Decimal(100)))
    world.rebuild(policy=tight)
    fits = await ask_bulk(world, a_list(world, "30", "30"))
    await world.approve(fits)
    await run_to_the_end(world, fits)
    too_much = await ask_bulk(world, a_list(world, "20", "21"))

    with pytest.raises(OverLimit, match=r"24-hour limit in all: 60\.00 USD and 41\.00 USD"):
        await world.approve(too_much)
    assert await states_of(world, too_much) == {State.PENDING: 2}
    await world.approve(await ask_bulk(world, a_list(world, "20", "20")))


async def test_the_requester_approves_neither_the_batch_nor_a_row(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    row = (await rows_of(world, batch))[0]

    with pytest.raises(OwnRequest):
        await world.approve(batch, by=ALICE)
    for decide in (
        approvals.approve(world.core, row.id, BOB, shown_digest=row.digest),
        approvals.reject(world.core, row.id, BOB, reason="no"),
        requests.cancel(world.core, row.id, ALICE),
    ):
        with pytest.raises(NotAllowed, match=f"is a row of {batch.id}"):
            await decide
    assert await states_of(world, batch) == {State.PENDING: 2}


async def test_leaving_a_row_out_changes_what_is_asked_for_and_fells_the_approvals(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "200", "200", "200"))
    await world.approve(batch, by=BOB)
    rows = await rows_of(world, batch)

    with pytest.raises(NotAllowed, match="Only the person who asked"):
        await batch_submission.leave_out(world.core, batch.id, BOB, [rows[1].id])
    changed = await batch_submission.leave_out(world.core, batch.id, ALICE, [rows[1].id])

    assert changed.digest != batch.digest
    assert changed.version > batch.version
    assert (changed.exposure_usd, changed.approvals_needed) == (Decimal(400), 1)
    with pytest.raises(Stale):
        await world.approve(batch)
    async with world.store.read() as tx:
        assert await decisions.of(tx, batch.id) == []
    await world.approve(changed, by=BOB)
    done = await run_to_the_end(world, changed)
    assert done.state is State.SUCCEEDED
    assert await hold_rows_to_the_ledger(world, batch) == Decimal(400)
    assert net_of(world, rows[1].key) == 0


async def test_not_all_rows_and_no_unknown_row_can_be_left_out(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    ids = [row.id for row in await rows_of(world, batch)]

    for wrong in (ids, [], ["R-NONE"]):
        with pytest.raises(Stale):
            await batch_submission.leave_out(world.core, batch.id, ALICE, wrong)
    await world.approve(batch)
    with pytest.raises(Stale, match="no row can be left out any more"):
        await batch_submission.leave_out(world.core, batch.id, ALICE, ids[:1])


@pytest.mark.parametrize("end", ["reject", "cancel", "expire"])
async def test_what_ends_a_pending_batch_ends_its_rows(world: World, end: str) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    if end == "reject":
        await approvals.reject(world.core, batch.id, BOB, reason="not now")
    elif end == "cancel":
        await requests.cancel(world.core, batch.id, ALICE)
    else:
        await world.advance(8 * 3600 + 1)
        await requests.expire_due(world.core)

    ended = (await world.request(batch.id)).state
    assert ended in (State.REJECTED, State.CANCELLED, State.EXPIRED)
    assert await states_of(world, batch) == {ended: 2}
    await world.run(60)
    assert keys_sent(world) == []


async def test_cancelling_while_it_runs_stops_what_is_not_sent(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20", "30"))
    await world.approve(batch)
    await world.run_due()

    stopped = await requests.cancel(world.core, batch.id, ALICE)

    assert await states_of(world, batch) == {State.SUCCEEDED: 1, State.CANCELLED: 2}
    assert stopped.state is State.FAILED
    assert stopped.outcome_text == "1 of 3 rows succeeded; 2 not sent. 10.00 USD of 60.00 USD moved."
    assert await hold_rows_to_the_ledger(world, batch) == Decimal(10)
    await world.run(60)
    assert len(keys_sent(world)) == 1


@pytest.mark.parametrize("kind", ["card_topup", "card_freeze"])
async def test_cancelling_also_stops_rows_that_the_api_refused_and_that_wait_for_their_next_try(
    world: World, kind: str
) -> None:
    """Nothing of them was carried out, so they are withdrawn as a request of its own would be."""
    refusing, path = REFUSED_FOR_NOW[kind]
    await refusing.set(world, path)
    text = (
        a_list(world, "10", "20")
        if kind == "card_topup"
        else "\n".join(["card", *(card["id"] for card in world.cards[:2])])
    )
    batch = await ask_bulk(world, text, kind=kind)
    await world.approve(batch)
    first, _ = await rows_of(world, batch)
    assert (await execute(world, first)).state is State.EXECUTING
    calls = changes(world)

    stopped = await requests.cancel(world.core, batch.id, ALICE)

    assert stopped.state is State.FAILED, stopped.outcome_text
    assert await states_of(world, batch) == {State.FAILED: 1, State.CANCELLED: 1}
    assert "not sent again" in (await rows_of(world, batch))[0].outcome_text
    await world.run(120)
    assert changes(world) == calls, "something was sent after the cancel"
    assert await card_status(world) == "ACTIVE"
    assert await alert_kinds(world) == set()
    lines = await to_send(world, kind=message_kinds.REQUEST_LINE)
    assert any("1 row was not sent" in line and "1 row that" in line for line in lines), lines


async def test_rows_not_sent_in_time_end_with_nothing_sent(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    await world.approve(batch)
    await world.run_due()
    await world.advance(15 * 60 + 1)
    await requests.expire_due(world.core)

    first, second = await rows_of(world, batch)
    assert (first.state, second.state) == (State.SUCCEEDED, State.EXPIRED)
    assert "could not be sent in time. Nothing was sent." in second.outcome_text
    done = await world.request(batch.id)
    assert (done.state, done.outcome_text) == (
        State.FAILED,
        "1 of 2 rows succeeded; 1 not sent in time. 10.00 USD of 30.00 USD moved.",
    )


async def test_a_batch_of_which_no_row_was_sent_in_time_is_expired(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    await world.approve(batch)
    await world.advance(15 * 60 + 1)
    await requests.expire_due(world.core)

    assert (await world.request(batch.id)).state is State.EXPIRED
    assert await states_of(world, batch) == {State.EXPIRED: 2}


async def test_a_lost_answer_of_one_row_is_reconciled_and_the_batch_follows(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    await Fault("drop_after_commit").set(world, TOPUP, times=1)
    await world.approve(batch)
    done = await run_to_the_end(world, batch)

    assert done.state is State.SUCCEEDED
    assert await hold_rows_to_the_ledger(world, batch) == Decimal(30)


async def test_a_row_nobody_knows_of_makes_the_batch_unresolved_until_two_people_resolve_it(
    world: World,
) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    await processor("5xx").set(world, TOPUP, times=1)
    await world.approve(batch)
    await world.run(1200, step=30)

    lost = next(row for row in await rows_of(world, batch) if row.state is State.UNRESOLVED)
    batch = await world.request(batch.id)
    assert (batch.state, await states_of(world, batch)) == (
        State.UNRESOLVED,
        {State.UNRESOLVED: 1, State.SUCCEEDED: 1},
    )
    with pytest.raises(Stale, match="Resolve the rows"):
        await approvals.resolve(world.core, batch.id, BOB, verdict="failed", evidence="seen")
    for person in (BOB, CAROL):
        await approvals.resolve(world.core, lost.id, person, verdict="succeeded", evidence="The card has it.")
    assert (await world.request(batch.id)).state is State.SUCCEEDED


async def test_a_refused_row_fails_alone(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20", "30"))
    await world.fault("status", TOPUP, times=1, status=402, code="INSUFFICIENT_FUNDS")
    await world.approve(batch)
    done = await run_to_the_end(world, batch)

    assert await states_of(world, batch) == {State.FAILED: 1, State.SUCCEEDED: 2}
    assert done.outcome_text == (
        "2 of 3 rows succeeded; 1 failed (nothing moved, or it came back). 50.00 USD of 60.00 USD moved."
    )
    assert await hold_rows_to_the_ledger(world, batch) == Decimal(50)


@pytest.mark.parametrize("column", ["terms", "summary", "facts"])
async def test_no_row_is_sent_of_a_batch_that_was_changed_by_hand(world: World, column: str) -> None:

    batch = await ask_bulk(world, a_list(world, "10", "20"))
    await world.approve(batch)
    wrong = {"terms": "{}", "facts": "{}", "exposure_usd": "1"}.get(column, "changed")
    async with world.store.begin() as tx:
        await tx.run(
            text(f"UPDATE request SET {column} = :wrong WHERE id = :id").bindparams(wrong=wrong, id=batch.id)
        )
    await world.run(30)

    assert keys_sent(world) == []


async def test_a_policy_that_asks_for_more_approvals_of_the_total_stops_every_row(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "200", "200", "200"))
    await world.approve(batch)
    await world.approve(batch, by=CAROL)
    kinds = {"card_topup": KindPolicy(tiers=(Tier(Decimal(500), 3),))}
    world.rebuild(policy=replace(world.core.policy, kinds=kinds))
    await world.run(20, step=2)

    assert await states_of(world, batch) == {State.CANCELLED: 3}
    assert "now asks for 3 approvals" in (await rows_of(world, batch))[0].outcome_text
    assert keys_sent(world) == []


async def test_a_row_stops_when_one_who_approved_its_batch_is_no_longer_an_approver(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    await world.approve(batch)
    await world.run_due()
    world.people.groups["@card-approvers"].discard(BOB)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)
    done = await run_to_the_end(world, batch)

    assert await states_of(world, batch) == {State.SUCCEEDED: 1, State.CANCELLED: 1}
    assert "no longer an approver" in (await rows_of(world, batch))[1].outcome_text
    assert done.outcome_text == "1 of 2 rows succeeded; 1 not sent. 10.00 USD of 30.00 USD moved."


async def test_many_orders_do_not_list_every_card_for_each_row(world: World) -> None:
    rows = [f"Max Muster {name},49,1511234567{n},max{n}@example.com" for n, name in enumerate("ABC")]
    batch = await ask_bulk(world, "\n".join(["name,country,phone,email", *rows]))
    await world.approve(batch)
    listed = len(await world.sent("GET /cards"))
    done = await run_to_the_end(world, batch)

    assert done.state is State.SUCCEEDED
    assert len(await world.sent("GET /cards")) == listed


async def test_a_batch_made_due_by_hand_is_not_sent_and_somebody_is_notified(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    await world.approve(batch)
    async with world.store.begin() as tx:
        await tx.run(text("UPDATE request SET due_at = created_at WHERE rows = 2"))
    await execution.execute(world.core, batch.id)
    await world.run(20)

    assert await alert_kinds(world) == {"tampered"}
    assert keys_sent(world) == []


async def test_lists_show_the_batch_and_card_pages_its_rows(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    async with world.store.read() as tx:
        listed = await request_rows.find(tx, states=(State.PENDING,))
        on_card = await request_rows.find(tx, subject=world.cards[0]["id"])
        each = await request_rows.find(tx, each_row=True)
    rows = await rows_of(world, batch)

    assert [request.id for request in listed] == [batch.id]
    assert [request.id for request in on_card] == [rows[0].id]
    assert {request.id for request in each} == {row.id for row in rows}


async def test_a_batch_can_be_executed_and_swept_at_any_time_without_harm(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    await execution.execute(world.core, batch.id)
    await world.approve(batch)
    await execution.execute(world.core, batch.id)
    await maintenance.purge(world.core)
    await maintenance.sweep_late_landings(world.core)
    done = await run_to_the_end(world, batch)

    assert done.state is State.SUCCEEDED
    assert world.clock.now() - batch.created_at < timedelta(minutes=2)
