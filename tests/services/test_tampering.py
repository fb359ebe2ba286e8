"""A row changed in the database by hand is not sent: nothing leaves, and somebody is notified."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from bot.domain.requests import Request, State
from bot.services.requests import approvals
from storage.errors import NotAsOnRecord
from storage.tables import request as request_table
from tests.services.outcome_steps import Fault, alert_kinds, execute, jump, keys_sent
from tests.support.world import BOB, CAROL, World

pytestmark = pytest.mark.by_turns(4)

TOPUP = "POST /cards/{cardId}/topup"


def tamper(world: World, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(world.database)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        assert connection.execute(statement, values).rowcount, "nothing was changed"
        connection.commit()


# Everything that says what is sent, where, for whom and by whose leave.
REQUEST_COLUMNS: dict[str, object] = {
    "program": "other",
    "kind": "card_order",
    "requester": "U0MALLORY",
    "requester_name": "Somebody Else",
    "reason": "a better reason",
    "terms": '{"card":"x","amount_usd":"5000.00"}',
    "subject": "another-card",
    "subject_label": "ANOTHER CARD ••0000",
    "summary": "Top up a card by 0.01 USD",
    "exposure_usd": "0.01",
    "digest": "0" * 76,
    "key": "co-another-key",
    "approvals_needed": 0,
    "policy_version": "lax",
    "created_at": "2026-01-01 00:00:00.000000",
    "expires_at": "2030-01-01 00:00:00.000000",
    "facts": "{}",
    "body_mac": "0" * 76,
    "break_glass": 1,
    "approved_at": "2026-03-02 08:00:00.000000",
    "valid_until": "2030-01-01 00:00:00.000000",
    "rows": 3,
    "parent_id": "R-ELSE",
    "sealed_private": None,
    "sealed_body": "v1.000000000000.AAAA",
}
# What only says how far it got: when it is due, who holds it, what people were shown. None of it can make
# anything leave that was not approved, and most of it changes by the minute.
HOUSEKEEPING = {
    "id",
    "state",
    "version",
    "first_sent_at",
    "due_at",
    "remind_at",
    "key_expires_at",
    "attempts",
    "fence",
    "lease_owner",
    "lease_until",
    "outcome_unknown",
    "needs_person",
    "outcome",
    "outcome_text",
    "finished_at",
    "purged_at",
    "stage",
}


def test_every_column_of_a_request_is_either_bound_or_housekeeping() -> None:
    assert set(REQUEST_COLUMNS) | HOUSEKEEPING == {column.name for column in request_table.columns}
    assert not set(REQUEST_COLUMNS) & HOUSEKEEPING


@pytest.mark.by_turns(5)
@pytest.mark.parametrize("column", REQUEST_COLUMNS)
async def test_a_changed_request_is_not_sent_and_somebody_is_notified(world: World, column: str) -> None:
    request = await world.top_up("50")
    tamper(world, f"UPDATE request SET {column} = ? WHERE id = ?", REQUEST_COLUMNS[column], request.id)

    await execute(world, request)

    assert await world.sent("POST /topup") == []
    assert await world.sent("POST /cards") == []
    if column != "program":  # another program is not ours to send with, so nobody even looks at it
        assert await alert_kinds(world) == {"tampered"}


@pytest.mark.by_turns(5)
@pytest.mark.parametrize("column", [c for c in REQUEST_COLUMNS if c not in ("program", "sealed_private")])
async def test_a_request_changed_after_a_lost_answer_is_not_repeated_nor_looked_up(
    world: World, column: str
) -> None:
    await Fault("drop_before_commit").set(world, TOPUP)
    request = await world.top_up("50")
    await execute(world, request)
    tamper(world, f"UPDATE request SET {column} = ? WHERE id = ?", REQUEST_COLUMNS[column], request.id)

    stopped = await jump(world, request)

    assert stopped.state is State.UNRESOLVED, "what is changed cannot be settled by itself"
    assert stopped.needs_person
    assert keys_sent(world) == [request.key]
    # When it was approved is held against the audit log before anything else is looked at.
    is_on_record = column == "approved_at"
    assert await alert_kinds(world) == ({"ended_put_back"} if is_on_record else {"tampered", "unresolved"})


@pytest.mark.parametrize(
    "change",
    [
        "actor = 'U0CAROL'",
        "requester = 'U0MALLORY'",
        "digest = 'x'",
        "policy_version = 'x'",
        "mac = 'x'",
        "decided_at = '2026-03-02 08:59:59.000000'",
        "request_id = 'R-NONE'",
        "id = 'x'",
        "verdict = 'succeeded'",
        "kind = 'confirm'",
    ],
)
async def test_a_changed_approval_is_none(world: World, change: str) -> None:
    request = await world.top_up("50")
    tamper(world, f"UPDATE decision SET {change} WHERE request_id = ?", request.id)

    stopped = await execute(world, request)

    assert stopped.state is State.CANCELLED
    assert keys_sent(world) == []
    assert await alert_kinds(world) == {"tampered"}


async def test_an_approval_taken_from_another_request_is_none(world: World) -> None:
    approved, pending = await world.top_up("50"), await world.top_up("51", card=1, approved=False)
    forged = (
        "INSERT INTO decision SELECT id || '2', ?, kind, actor, actor_name, requester, reason, verdict, ?,"
        " policy_version, mac, decided_at, assertion, conditions FROM decision WHERE request_id = ?"
    )
    tamper(world, forged, pending.id, pending.digest, approved.id)
    now, until = str(world.clock.now()), str(approved.valid_until)
    await _force(world, pending, "approved", now, until)

    assert (await execute(world, pending)).state is State.CANCELLED
    assert keys_sent(world) == []
    assert await alert_kinds(world) == {"tampered"}


async def _force(world: World, request: Request, state: str, approved_at: str, until: str) -> None:
    tamper(
        world,
        "UPDATE request SET state = ?, due_at = approved_at, approved_at = ?, valid_until = ? WHERE id = ?",
        state,
        approved_at[:19] + ".000000",
        until[:19] + ".000000",
        request.id,
    )
    tamper(world, "UPDATE request SET due_at = approved_at WHERE id = ?", request.id)


@pytest.mark.parametrize("state", ["approved", "executing", "unresolved"])
async def test_a_state_set_by_hand_is_no_approval(world: World, state: str) -> None:
    request = await world.top_up("50", approved=False)
    await _force(world, request, state, str(world.clock.now()), "2026-03-02 09:15:00")

    stopped = await execute(world, request)

    assert stopped.state in (State.CANCELLED, State.UNRESOLVED)
    assert keys_sent(world) == []
    assert await alert_kinds(world) & {"tampered", "ended_put_back"}


@pytest.mark.parametrize("state", ["pending", "approved"])
async def test_a_request_that_ended_is_not_brought_back(world: World, state: str) -> None:
    request = await world.top_up("50", approved=False)
    await approvals.reject(world.core, request.id, BOB, reason="no")
    await _force(world, request, state, str(world.clock.now()), "2026-03-02 09:15:00")
    if state == "pending":
        with pytest.raises(NotAsOnRecord, match="has ended by the audit log"):
            await world.approve(request, by=CAROL)

    ended = await execute(world, request)

    assert keys_sent(world) == []
    assert await alert_kinds(world) == {"ended_put_back" if state == "pending" else "tampered"}
    assert ended.state is (State.REJECTED if state == "pending" else State.CANCELLED)


async def test_a_succeeded_top_up_set_back_to_executing_is_not_paid_again(world: World) -> None:
    request = await world.top_up("50")
    await execute(world, request)
    tamper(
        world,
        "UPDATE request SET state = 'executing', due_at = approved_at, outcome_unknown = 0 WHERE id = ?",
        request.id,
    )

    await execute(world, request)

    assert keys_sent(world) == [request.key]


async def test_a_verdict_written_by_hand_does_not_count_as_one_of_two(world: World) -> None:
    await Fault("processor", {"processor": "5xx"}).set(world, TOPUP)
    request = await world.top_up("50")
    await execute(world, request)
    await approvals.resolve(world.core, request.id, BOB, verdict="failed", evidence="Support said so")
    tamper(world, "UPDATE decision SET verdict = 'succeeded' WHERE kind = 'resolve'")

    after = await approvals.resolve(
        world.core, request.id, CAROL, verdict="succeeded", evidence="It is there"
    )

    assert after.state is State.UNRESOLVED
