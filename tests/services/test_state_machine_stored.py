"""The state machine as stored: a move that is not in the graph, or comes too late, changes nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.domain.errors import IllegalTransition, Stale
from bot.domain.requests import TRANSITIONS, Event, Request, State
from bot.domain.requests import lifecycle as state_table
from storage import audit
from storage.requests import requests as rows
from tests.support.world import World

# A way into each state by legal events only.
_WAYS: dict[State, tuple[Event, ...]] = {
    State.PENDING: (),
    State.APPROVED: (Event.APPROVE,),
    State.EXECUTING: (Event.APPROVE, Event.CLAIM),
    State.SUCCEEDED: (Event.APPROVE, Event.CLAIM, Event.SUCCEED),
    State.FAILED: (Event.APPROVE, Event.CLAIM, Event.FAIL),
    State.UNRESOLVED: (Event.APPROVE, Event.CLAIM, Event.LOSE_SIGHT),
    State.REJECTED: (Event.REJECT,),
    State.CANCELLED: (Event.CANCEL,),
    State.EXPIRED: (Event.EXPIRE,),
}


async def a_request_in(world: World, state: State) -> Request:
    request = await world.top_up("50", approved=False)
    for event in _WAYS[state]:
        async with world.store.begin() as tx:
            request = await rows.move(tx, request, event)
    return request


@pytest.mark.by_turns(3)
@pytest.mark.parametrize("state", State)
async def test_every_event_moves_the_stored_request_by_one_version_or_leaves_it_as_it_was(
    world: World, state: State
) -> None:
    for event in Event:
        request = await a_request_in(world, state)
        if event in TRANSITIONS[state]:
            async with world.store.begin() as tx:
                await rows.move(tx, request, event)
            moved = await world.request(request.id)
            assert (moved.state, moved.version) == (TRANSITIONS[state][event], request.version + 1)
            continue
        with pytest.raises(IllegalTransition):
            async with world.store.begin() as tx:
                await rows.move(tx, request, event)
        assert await world.request(request.id) == request


async def test_a_move_from_what_is_no_longer_there_changes_nothing(world: World) -> None:
    seen = await a_request_in(world, State.PENDING)
    async with world.store.begin() as tx:
        approved = await rows.move(tx, seen, Event.APPROVE)

    with pytest.raises(Stale):
        async with world.store.begin() as tx:
            await rows.move(tx, seen, Event.REJECT)

    assert await world.request(seen.id) == approved


async def claimed(world: World, state: State) -> Request | None:
    """A request in this state that is due, after an executor tried to take it."""
    request = await a_request_in(world, state)
    async with world.store.begin() as tx:
        due = {"due_at": tx.now, "valid_until": tx.now + timedelta(minutes=15)}
        request = await rows.touch(tx, request, **due)
        return await rows.claim(tx, request.id, owner="test", lease_s=30)


@pytest.mark.by_turns(3)
@pytest.mark.parametrize("state", State)
async def test_a_claim_is_the_move_of_the_table_and_there_is_none_beside_it(
    world: World, state: State
) -> None:
    found = await claimed(world, state)

    assert (found.state if found else None) == TRANSITIONS[state].get(Event.CLAIM)


async def test_a_claim_in_sql_follows_the_table_wherever_that_leads(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an executor may take, and what it becomes, is stated nowhere but in the table."""
    table = dict(TRANSITIONS)
    monkeypatch.setattr(state_table, "TRANSITIONS", table)
    for built_once in ("_due", "_claiming"):
        monkeypatch.setattr(rows, built_once, getattr(rows, built_once).__wrapped__)
    table[State.UNRESOLVED] = {**table[State.UNRESOLVED], Event.CLAIM: State.EXECUTING}
    table[State.EXECUTING] = {
        event: to for event, to in table[State.EXECUTING].items() if event is not Event.CLAIM
    }

    unresolved = await claimed(world, State.UNRESOLVED)

    assert unresolved is not None
    assert unresolved.state is State.EXECUTING
    assert await claimed(world, State.EXECUTING) is None
    async with world.store.read() as tx:
        assert await rows.due(tx) == [], "neither is due: one has its lease, the other may not be claimed"


async def test_a_change_without_its_audit_entry_does_not_happen(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I-22: when the audit cannot be written, nothing is decided and nothing is sent."""
    request = await world.top_up("50", approved=False)

    async def broken(*_: object, **__: object) -> int:
        raise OSError("disk full")

    monkeypatch.setattr(audit, "append", broken)
    with pytest.raises(OSError, match="disk full"):
        await world.approve(request)
    monkeypatch.undo()
    assert await world.request(request.id) == request

    approved, _ = await world.approve(request)
    monkeypatch.setattr(audit, "append", broken)
    with pytest.raises(OSError, match="disk full"):
        await world.run_due()
    assert replace(await world.request(request.id), fence=approved.fence) == approved, "held, and given back"
    assert await world.sent("POST /topup") == []
