"""Somebody's "no" that is undone in the database: nothing leaves, and people read of it.

The thief writes to the database and has no master key. Every table but the audit log is put back as it was before a
request ended, or before a row was left out of a list; on PostgreSQL a deferred trigger also does so at the commit. The
walk goes over every way to end a request.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from unittest.mock import AsyncMock

import pytest

from bot.domain.errors import CountersignError
from bot.domain.people import KindPolicy, Policy
from bot.domain.requests import OPEN, TERMINAL, TRANSITIONS, Request, State
from bot.services import execution
from bot.services.alerts import put_back_rules
from bot.services.operators import changed_rows, confirmation_answers, deep_check, pausing
from bot.services.requests import approvals, batch_submission, lifecycle
from storage.errors import ChangedOutside, NotAsOnRecord
from storage.log_record import on_record
from storage.requests import confirmations
from storage.tables import metadata
from storage.transaction import Contradiction
from tests.services.bulk_requests import a_list, ask_bulk, rows_of
from tests.services.outcome_steps import TOPUP, keys_sent, open_alerts, processor, status
from tests.services.test_passkeys_on_record import next_start
from tests.services.test_swallowed_writes import AT_COMMIT, put, triggers_gone
from tests.support.databases import BACKENDS
from tests.support.world import ALICE, BOB, CAROL, World, a_policy, a_world
from tests.thief.edits import opened, put_back_all, snapshot
from tests.thief.programme import place_of

pytestmark = pytest.mark.by_turns(4)

WAITS = timedelta(minutes=5)


def policy() -> Policy:
    return replace(a_policy(), kinds={"card_topup": KindPolicy(cool_off=WAITS)})


@pytest.fixture
async def world(url: str, tmp_path: Path) -> AsyncIterator[World]:
    """An approver has five minutes to stop a top-up."""
    async with a_world(tmp_path, policy=policy(), url=url) as made:
        yield made


@dataclass(frozen=True)
class Way:
    """A request that somebody has asked for, perhaps approved; how it ends; and the states that this leads from and
    to."""

    asked: Callable[[World], Awaitable[Request]]
    no: Callable[[World, Request], Awaitable[object]]
    leads: tuple[State, State]


async def pending(world: World) -> Request:
    return await world.top_up("50", approved=False)


async def approved(world: World) -> Request:
    return await world.top_up("50")


async def a_pending_list(world: World) -> Request:
    return await ask_bulk(world, a_list(world, "10", "20", "30"))


async def an_approved_list(world: World) -> Request:
    batch = await a_pending_list(world)
    return (await world.approve(batch))[0]


async def a_list_under_way(world: World) -> Request:
    batch = await an_approved_list(world)
    await world.advance(WAITS.total_seconds())
    await world.run_due()
    return await world.request(batch.id)


async def under_way(world: World) -> Request:
    """Sent, refused each time before anything happened, and to be sent again."""
    request = await approved(world)
    await status(429, "RATE_LIMITED").set(world, TOPUP, times=50)
    await sent_now(world, request)
    return await world.request(request.id)


async def unresolved(world: World) -> Request:
    await processor("5xx").set(world, TOPUP)
    request = await approved(world)
    await sent_now(world, request)
    return await world.request(request.id)


async def rejected(world: World, request: Request) -> None:
    await approvals.reject(world.core, request.id, CAROL, reason="this is fraud")


async def cancelled(world: World, request: Request) -> None:
    await lifecycle.cancel(world.core, request.id, ALICE)


async def expired(world: World, _request: Request) -> None:
    await world.advance(3 * 86_400)
    await lifecycle.expire_due(world.core)


async def forbidden_by_the_policy(world: World, request: Request) -> None:
    """Bob is no approver any more when it is to be sent."""
    await sent_now(world, request, among={CAROL})


async def left_out(world: World, request: Request) -> None:
    first = (await rows_of(world, request))[0]
    await batch_submission.leave_out(world.core, request.id, ALICE, [first.id])


async def sent_now(world: World, request: Request, *, among: frozenset[str] | set[str] = frozenset()) -> None:
    group = set(world.people.groups["@card-approvers"])
    world.people.groups["@card-approvers"] = set(among) or group
    await world.advance(WAITS.total_seconds() + 1)
    await execution.execute(world.core, request.id)
    world.people.groups["@card-approvers"] = group


async def refused(world: World, request: Request) -> None:
    await status(400, "BAD_REQUEST").set(world, TOPUP, times=1)
    await sent_now(world, request)


async def called(world: World, request: Request, verdict: str) -> None:
    for person in (BOB, CAROL):
        await approvals.resolve(world.core, request.id, person, verdict=verdict, evidence="by the ledger")


WAYS = {
    "rejected": Way(pending, rejected, (State.PENDING, State.REJECTED)),
    "cancelled": Way(pending, cancelled, (State.PENDING, State.CANCELLED)),
    "expired": Way(pending, expired, (State.PENDING, State.EXPIRED)),
    "stopped": Way(approved, rejected, (State.APPROVED, State.CANCELLED)),
    "cancelled after its approval": Way(approved, cancelled, (State.APPROVED, State.CANCELLED)),
    "expired after its approval": Way(approved, expired, (State.APPROVED, State.EXPIRED)),
    "held back": Way(approved, forbidden_by_the_policy, (State.APPROVED, State.CANCELLED)),
    "succeeded": Way(approved, sent_now, (State.EXECUTING, State.SUCCEEDED)),
    "refused": Way(approved, refused, (State.EXECUTING, State.FAILED)),
    "withdrawn": Way(under_way, cancelled, (State.EXECUTING, State.FAILED)),
    "a list rejected": Way(a_pending_list, rejected, (State.PENDING, State.REJECTED)),
    "a list cancelled": Way(a_pending_list, cancelled, (State.PENDING, State.CANCELLED)),
    "a row left out": Way(a_pending_list, left_out, (State.PENDING, State.CANCELLED)),
    "a list stopped": Way(an_approved_list, rejected, (State.APPROVED, State.CANCELLED)),
    "a list stopped by its requester": Way(an_approved_list, cancelled, (State.APPROVED, State.CANCELLED)),
    "a list stopped under way": Way(a_list_under_way, cancelled, (State.APPROVED, State.CANCELLED)),
    "called failed by two people": Way(
        unresolved, partial(called, verdict="failed"), (State.UNRESOLVED, State.FAILED)
    ),
    "called succeeded by two people": Way(
        unresolved, partial(called, verdict="succeeded"), (State.UNRESOLVED, State.SUCCEEDED)
    ),
}


async def put_back_at_the_commit(world: World) -> None:
    """From now on a row of a request that ends is as before when the transaction that ends it is over."""
    kept = {c.name: f"old.{c.name}" for c in metadata.tables["request"].columns}
    kept |= {"lease_owner": "NULL", "lease_until": "NULL"}
    columns = ", ".join(f"{name} = {value}" for name, value in kept.items())
    ended = ", ".join(f"'{state}'" for state in sorted(TERMINAL))
    await put(
        world,
        f"CREATE FUNCTION put_back() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE request SET {columns}"
        " WHERE id = new.id; RETURN NULL; END $$",
        "CREATE CONSTRAINT TRIGGER thief_request AFTER UPDATE ON request DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"
        f" WHEN (new.state IN ({ended}) AND old.state NOT IN ({ended}) OR new.rows < old.rows)"
        " EXECUTE FUNCTION put_back()",
    )


async def goes_on(world: World, request: Request) -> None:
    """Everybody approves what looks as if it waited, and time passes."""
    for person in (BOB, CAROL):
        with suppress(CountersignError):
            await world.approve(await world.request(request.id), by=person)
    await world.run(WAITS.total_seconds() + 60, step=20)
    await lifecycle.expire_due(world.core)
    await put_back_rules.tell(world.core)


def test_the_walk_meets_every_end_of_a_request() -> None:
    ends = {(before, after) for before in OPEN for after in TRANSITIONS[before].values() if after in TERMINAL}

    assert {way.leads for way in WAYS.values()} == ends


@pytest.mark.walk
@pytest.mark.parametrize(
    ("url", "starts"),
    [("sqlite", False), ("sqlite", True), ("postgresql", False)],
    indirect=["url"],
    ids=["sqlite while it runs", "sqlite before a start", "postgresql while it runs"],
)
@pytest.mark.parametrize("way", WAYS)
async def test_what_has_ended_and_is_put_back_is_not_sent(world: World, way: str, starts: bool) -> None:
    request = await WAYS[way].asked(world)
    with opened(place_of(world)) as database:
        before = snapshot(database)
    await WAYS[way].no(world, request)
    sent = keys_sent(world)
    with opened(place_of(world)) as database:
        put_back_all(database, before)
    if starts:
        next_start(world)
        await changed_rows.undo_what_was_put_back(world.core)

    await goes_on(world, request)

    assert keys_sent(world) == sent, "nothing leaves"
    assert "ended_put_back" in {alert.kind for alert in await open_alerts(world)}
    now = [await world.request(request.id), *await rows_of(world, request)]
    assert [one.id for one in now if one.state in OPEN] == [], "a list ends with its rows"


@pytest.mark.walk(most=6)
@pytest.mark.parametrize("url", [AT_COMMIT], indirect=True)
@pytest.mark.parametrize("way", WAYS)
async def test_nor_what_is_put_back_at_the_commit(world: World, way: str) -> None:
    request = await WAYS[way].asked(world)
    await put_back_at_the_commit(world)
    await WAYS[way].no(world, request)
    sent = keys_sent(world)
    await triggers_gone(world)

    await goes_on(world, request)

    assert keys_sent(world) == sent, "nothing leaves"
    assert "ended_put_back" in {alert.kind for alert in await open_alerts(world)}


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_what_a_person_corrected_is_not_one_of_two_words_again(world: World) -> None:
    request = await unresolved(world)
    await approvals.resolve(world.core, request.id, BOB, verdict="failed", evidence="not in the ledger")
    await approvals.resolve(world.core, request.id, BOB, verdict="succeeded", evidence="it came late")
    with opened(place_of(world)) as database:
        assert database.write("DELETE FROM decision WHERE verdict = 'succeeded'") == 1

    with pytest.raises(NotAsOnRecord, match="by one person alone"):
        await approvals.resolve(world.core, request.id, CAROL, verdict="failed", evidence="not in the ledger")

    assert (await world.request(request.id)).state is State.UNRESOLVED
    assert "ended_put_back" in {alert.kind for alert in await open_alerts(world)}


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_log_in_which_something_was_sent_after_it_had_ended_is_wrong(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = await approved(world)
    with opened(place_of(world)) as database:
        before = snapshot(database)
    await rejected(world, request)
    with opened(place_of(world)) as database:
        put_back_all(database, before)
    with monkeypatch.context() as patch:
        patch.setattr(on_record, "require_fits", AsyncMock())  # as an earlier version did
        await sent_now(world, request)

    async with world.store.read() as tx:
        found = [str(one) for one in await deep_check.differences(tx)]

    assert keys_sent(world) == [request.key]
    assert any(f"{request.id}: request.attempt is on record" in one for one in found), found
    assert (await world.top_up("20")).state is State.APPROVED, "the log is followed all the same"


@pytest.mark.parametrize("starts", [False, True], ids=["while it runs", "before a start"])
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_what_somebody_declined_is_not_confirmed_after_it_was_put_back(
    world: World, starts: bool
) -> None:
    request = await approved(world)
    await pausing.pause(world.core, BOB, ["main"], "the key may be stolen")
    await pausing.resume(world.core, BOB, ["main"])
    async with world.store.read() as tx:
        asked = await confirmations.open_one(tx, "resume", "main")
    assert asked is not None
    with opened(place_of(world)) as database:
        before = snapshot(database)
    await confirmation_answers.decline(world.core, asked.id, CAROL)
    with opened(place_of(world)) as database:
        put_back_all(database, before)
    if starts:
        next_start(world)
        await changed_rows.undo_what_was_put_back(world.core)

    with pytest.raises(ChangedOutside):
        await confirmation_answers.give(world.core, asked.id, CAROL)

    await goes_on(world, request)
    assert keys_sent(world) == []
    await changed_rows.watch(world.core)
    assert "changed_outside" in {alert.kind for alert in await open_alerts(world)}


@pytest.mark.walk
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("way", ["rejected", "stopped", "a list stopped", "a row left out"])
async def test_nor_where_another_process_ended_it(world: World, way: str) -> None:
    request = await WAYS[way].asked(world)
    remembers = deepcopy(world.store._chain), dict(world.store._versions)
    with opened(place_of(world)) as database:
        before = snapshot(database)
    await WAYS[way].no(world, request)
    with opened(place_of(world)) as database:
        put_back_all(database, before)
    world.store._chain, world.store._versions = remembers  # this process has not seen that it ended

    await goes_on(world, request)

    assert keys_sent(world) == []
    assert "ended_put_back" in {alert.kind for alert in await open_alerts(world)}


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_what_went_on_since_it_was_noticed_keeps_nothing_else_from_being_reported(world: World) -> None:
    """The true row came back, and the request was sent: that it would be cancelled does not follow the log."""
    request = await approved(world)
    await world.advance(WAITS.total_seconds() + 1)
    with world.dies_at("execution.claimed"):
        await execution.execute(world.core, request.id)
    noted = world.store.put_back
    noted[request.id] = Contradiction(request.id, "is approved by the audit log", State.APPROVED)
    noted["R-0000"] = Contradiction("R-0000", "has ended by the audit log")

    await put_back_rules.tell(world.core)

    assert noted == {}
    assert {alert.subject for alert in await open_alerts(world)} >= {request.id, "R-0000"}
    assert (await world.request(request.id)).state is State.EXECUTING
