"""A lease that somebody wrote into the database, for longer than any of ours, stops nothing and nobody who watches."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, insert, text, update

from bot.domain import shared_work
from bot.domain.people import KindPolicy
from bot.domain.requests import Request, State
from bot.services import execution
from bot.services.execution import presend_checks
from bot.services.operators import pausing
from bot.services.processes import ghost_leases
from bot.services.processes.locks import Locks
from bot.services.processes.stored_looks import StoredLooks
from storage import tables as t
from storage.requests import held
from tests.services.bulk_requests import a_list, ask_bulk, rows_of
from tests.services.outcome_steps import TOPUP, execute, open_alerts, processor
from tests.support.databases import BACKENDS
from tests.support.leases import lease_end
from tests.support.waiting import eventually
from tests.support.world import BOB, World, a_policy, a_world

pytestmark = pytest.mark.by_turns(8)

FAR = "2099-01-01T00:00:00.000000Z"


async def _ghost(world: World, *names: str) -> None:
    async with world.store.begin() as tx:
        for name in names:
            row = {"name": name, "far": FAR}
            await tx.run(text("INSERT INTO lease (name, owner, until) VALUES (:name, 'ghost', :far)"), row)


async def test_those_who_watch_take_their_work_from_a_ghost(world: World) -> None:
    names = [shared_work.job(name) for name in ("signed-rows", "audit-check", "put-back", "alerts", "anchor")]
    await _ghost(world, *names)
    locks = Locks(world.store, "ours", world.clock)

    await locks.keep(names)

    assert locks.held() == set(names)


async def test_what_is_shared_is_looked_at_although_a_ghost_does(world: World) -> None:
    await _ghost(world, "look:group")

    async def ask() -> Mapping[str, Any]:
        return {"members": ["U0BOB"]}

    seen = await StoredLooks(world.store, "ours", world.clock).at("group", ask, within_s=15)

    assert seen.value == {"members": ["U0BOB"]}


@pytest.mark.parametrize("kind", ["card_topup", "card_freeze"])
async def test_what_was_approved_is_sent_although_a_ghost_holds_it(world: World, kind: str) -> None:
    given = {"card": world.cards[0]["id"]} | ({"amount_usd": "50"} if kind == "card_topup" else {})
    request = await world.ask(kind, given)
    await world.approve(request)
    async with world.store.begin() as tx:
        await tx.run(text(f"UPDATE request SET lease_owner = 'ghost', lease_until = '{FAR}'"))

    await world.run(10)

    assert (await world.request(request.id)).state is State.SUCCEEDED


async def _again(world: World, *names: str) -> None:
    """What somebody writes every minute: a lease like any of ours."""
    async with world.store.begin() as tx:
        until = lease_end(tx, timedelta(seconds=100))
        for name in names:
            await tx.run(delete(t.lease).where(t.lease.c.name == name))
            await tx.run(insert(t.lease).values(name=name, owner=f"ghost {world.clock.now()}", until=until))


async def _alerts_of(world: World) -> list[str]:
    return [one.title for one in await open_alerts(world) if one.subject == "leases"]


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_what_a_ghost_takes_again_every_minute_is_taken_by_force_with_an_alert(
    url: str, tmp_path: Path
) -> None:
    async with a_world(tmp_path, url=url) as world:
        name, free = shared_work.job("put-back"), shared_work.job("alerts")
        locks, look = Locks(world.store, world.core.owner, world.clock), ghost_leases.Look(world.core)
        for _ in range(11):
            assert locks.held() <= {free}
            await _again(world, name)
            await locks.keep([name, free])
            await look.run()
            await world.advance(30)
        said = f"a lease of no process is written again and again, and holds the work {name}"
        assert await _alerts_of(world) == [f"Somebody changed the database: {said}"]

        await _again(world, name)
        await locks.ask()
        assert locks.held() == {name, free}

        for _ in range(int(ghost_leases.QUIET_AFTER_S) // 30 + 2):
            await world.advance(30)
            await locks.ask()
            await look.run()
        assert await _alerts_of(world) == []
        assert world.store.ghosts.names == frozenset()


async def test_a_request_that_a_ghost_takes_again_every_minute_is_freed_with_an_alert(world: World) -> None:
    await processor("5xx").set(world, TOPUP, times=1)
    request = await execute(world, await world.top_up("50"))
    look = ghost_leases.Look(world.core)
    assert request.due_at is not None
    await world.advance((request.due_at - world.clock.now()).total_seconds() + 1)
    for _ in range(12 + int(ghost_leases.NOBODYS_AFTER_S) // 60):
        async with world.store.begin() as tx:
            until = lease_end(tx, timedelta(seconds=100))
            row = update(t.request).where(t.request.c.id == request.id)
            await tx.run(row.values(lease_owner="ghost", lease_until=until))
        await look.run()
        if await _alerts_of(world):
            break
        await world.run(60, step=60)
        assert (await world.request(request.id)).attempts == request.attempts

    assert request.id in str(await _alerts_of(world))
    await world.run(10)
    assert (await world.request(request.id)).attempts > request.attempts
    await look.run()
    assert await _alerts_of(world) == []


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_a_request_that_a_dying_process_took_up_after_a_downtime_is_no_ghosts(
    url: str, tmp_path: Path
) -> None:
    async with a_world(tmp_path, url=url) as world:
        request = await world.top_up("50")
        await world.advance(12 * 60)
        with world.dies_at("execution.claimed"):
            await execute(world, request)
        world.rebuild(owner="test-second-life")
        look = ghost_leases.Look(world.core)
        async with world.store.read() as tx:
            due_before = tx.now - ghost_leases.HELD_AFTER
            found = await held.due(tx, unsent_due_by=due_before, due_before=due_before, later_than=tx.now)
            assert {one.id for one in found} == {request.id}

        for _ in range(4):
            await look.run()
            assert await _alerts_of(world) == []
            await world.advance(30)


async def _renew_its_lease(world: World, request_id: str, owner: str) -> None:
    """What somebody writes every minute."""
    async with world.store.begin() as tx:
        row = update(t.request).where(t.request.c.id == request_id)
        until = lease_end(tx, timedelta(seconds=110))
        await tx.run(row.values(lease_owner=owner, lease_until=until))


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("owner", ["ghost", "its own"])
@pytest.mark.parametrize("kind", ["card_topup", "card_freeze", "card_freeze now"])
async def test_a_lease_that_somebody_renews_does_not_outlast_an_approval(
    url: str, tmp_path: Path, kind: str, owner: str
) -> None:
    """What was not sent so far is freed within a minute, what cannot wait within half of one, with the alert."""
    async with a_world(tmp_path, url=url) as world:
        card = {"card": world.cards[0]["id"]}
        if kind == "card_topup":
            request = await world.top_up("50")
        else:
            request = await world.ask("card_freeze", card, now=kind.endswith("now"))
            if not request.break_glass:
                await world.approve(request)
        look, alerts = ghost_leases.Look(world.core), set[str]()
        within_s = 60 if kind == "card_topup" else 30
        for second in range(0, within_s + 1, 10):
            if second % 60 == 0:
                await _renew_its_lease(world, request.id, world.core.owner if owner == "its own" else owner)
            await look.run()
            alerts |= set(await _alerts_of(world))
            await world.run_due()
            await world.advance(10)

        assert (await world.request(request.id)).state is State.SUCCEEDED
        assert len(alerts) == 1
        assert request.id in alerts.pop()


OURS: Mapping[str, Any] = {"lasts": timedelta(seconds=110)}
NO_LEASE: Mapping[str, Any] = {"lease_owner": None, "lease_until": None}
PAST, EVER = datetime(1999, 1, 1, tzinfo=UTC), datetime(2099, 1, 1, tzinfo=UTC)
# What no process that works writes, by what it holds up until it is freed with an alert.
HOLDS: Mapping[str, Mapping[str, Any]] = {
    "nobody's": {**OURS, "lease_owner": None},
    "with an empty owner": {**OURS, "lease_owner": ""},
    "its own": {**OURS, "lease_owner": "its own"},
    "a ghost's, long due": {**OURS, "lease_owner": "ghost", "due_at": PAST},
    "nobody's, due in the far future": {**OURS, "lease_owner": None, "due_at": EVER},
    "never due": {**NO_LEASE, "due_at": None},
    "never due, with its own owner": {"lease_owner": "its own", "lease_until": None, "due_at": None},
    "due in the far future": {**NO_LEASE, "due_at": EVER},
    "never due, with people asked": {**NO_LEASE, "due_at": None, "needs_person": True},
}
# What holds up nothing for long, and may be of a clock that was wrong.
HOLDS_NOT: Mapping[str, Mapping[str, Any]] = {
    "due in hours": {**NO_LEASE, "in": timedelta(hours=2)},
    "due in an hour": {**NO_LEASE, "in": timedelta(minutes=55)},
    "long due": {**NO_LEASE, "due_at": PAST},
    "without an end": {"lease_owner": "ghost", "lease_until": None},
    "over": {"lease_owner": None, "lease_until": PAST},
    "for years": {"lease_owner": None, "lease_until": EVER},
}
# Within so many seconds the first of them have succeeded, and what was sent before was tried again.
WITHIN_S = {"card_topup": 60, "card_freeze": 30, "card_freeze now": 30, "sent before": 16 * 60}


async def _write(world: World, request_id: str, written: Mapping[str, Any]) -> None:
    values = dict(written)
    async with world.store.begin() as tx:
        if lasts := values.pop("lasts", None):
            values["lease_until"] = lease_end(tx, lasts)
        if later := values.pop("in", None):
            values["due_at"] = tx.now + later
        if values.get("lease_owner") == "its own":
            values["lease_owner"] = world.core.owner
        await tx.run(update(t.request).where(t.request.c.id == request_id).values(values))


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("later", ["never", "an hour", "until the approval ends", "just before it ends"])
@pytest.mark.parametrize("what", ["unresolved", "freeze now", "rows of a list"])
async def test_what_is_due_later_than_it_may_wait_for_is_due_now(
    url: str, tmp_path: Path, what: str, later: str
) -> None:
    """One edit: it is tried or looked up again within its pace, and nothing expires. Nobody is accused of a time that a
    wrong clock may have left."""
    async with a_world(tmp_path, url=url) as world:
        waiting = await _waiting(world, what)
        for request in waiting:
            until = request.valid_until or world.clock.now() + timedelta(minutes=15)
            due_at = {
                "never": None,
                "an hour": world.clock.now() + timedelta(hours=1),
                "until the approval ends": until,
                "just before it ends": until - timedelta(minutes=1),
            }[later]
            await _write(world, request.id, {"due_at": due_at, "needs_person": True})
        look, said, passed_s = ghost_leases.Look(world.core), list[str](), 0
        left = {request.id: request for request in waiting}
        most_s = {"unresolved": 16 * 60, "freeze now": 60, "rows of a list": 5 * 60}[what]
        while left and passed_s <= most_s:
            await look.run()
            said += await _alerts_of(world)
            await world.run_due()
            for request_id, before in list(left.items()):
                now = await world.request(request_id)
                if now.state is State.SUCCEEDED or now.attempts > before.attempts:
                    del left[request_id]
            await world.advance(10)
            passed_s += 10

        assert not left
        assert bool(said) == (later == "never")


async def _waiting(world: World, what: str) -> list[Request]:
    if what == "rows of a list":
        batch = await ask_bulk(world, a_list(world, "5", "6", "7"))
        await world.approve(batch)
        return await rows_of(world, batch)
    if what == "freeze now":
        await processor("5xx").set(world, "POST /cards/{cardId}/freeze", times=1)
        freeze = await world.ask("card_freeze", {"card": world.cards[1]["id"]}, now=True)
        return [await execute(world, freeze)]
    await processor("5xx").set(world, TOPUP)
    request = await execute(world, await world.top_up("50"))
    while request.state is not State.UNRESOLVED:
        assert request.due_at is not None
        await world.advance(max(1, (request.due_at - world.clock.now()).total_seconds()))
        request = await execute(world, request)
    return [request]


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("hours", [-2, -1, -0.75, 0, 1, 2, 30 * 24, -30 * 24])
@pytest.mark.parametrize("how", ["a step", "two clocks"])
async def test_no_clock_that_is_wrong_accuses_anybody_and_what_is_looked_up_keeps_a_pace(
    url: str, tmp_path: Path, hours: float, how: str
) -> None:
    """Set back or forward for good, or another process watches whose clock differs."""
    async with a_world(tmp_path, url=url) as world:
        (request,) = await _waiting(world, "unresolved")
        look, looks = ghost_leases.Look(world.core), 0
        if how == "a step":
            world.clock.advance(hours * 3600)
        for _ in range(90):
            if how == "two clocks":
                world.clock.advance(hours * 3600)
            await look.run()
            if how == "two clocks":
                world.clock.advance(-hours * 3600)
            assert await _alerts_of(world) == []
            now = await world.request(request.id)
            assert now.due_at is not None
            if now.due_at <= world.clock.now():
                request = await execute(world, now)
                looks += 1
            await world.advance(20)

        assert looks <= 12, "in half an hour: five repeats, and then every five minutes at most"


async def _to_do(world: World) -> dict[str, Request]:
    """What was sent and has no outcome so far, and what is due, each with a card of its own."""
    await processor("5xx").set(world, TOPUP, times=1)
    made = {"sent before": await execute(world, await world.top_up("50", card=3))}
    made["card_topup"] = await world.top_up("50")
    freeze = await world.ask("card_freeze", {"card": world.cards[1]["id"]})
    made["card_freeze"], _ = await world.approve(freeze)
    made["card_freeze now"] = await world.ask("card_freeze", {"card": world.cards[2]["id"]}, now=True)
    return made


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("written", [*HOLDS, *HOLDS_NOT])
async def test_nothing_that_is_written_of_leases_and_due_times_holds_up_work(
    url: str, tmp_path: Path, written: str
) -> None:
    """What somebody writes every minute that no process writes."""
    async with a_world(tmp_path, url=url) as world:
        waiting = await _to_do(world)
        look, said, done_s, passed_s = ghost_leases.Look(world.core), "", dict[str, int](), 0
        while waiting and passed_s <= max(WITHIN_S.values()):
            for request in waiting.values():
                if passed_s % 60 == 0:
                    await _write(world, request.id, {**HOLDS, **HOLDS_NOT}[written])
            await look.run()
            said += "".join(await _alerts_of(world))
            await world.run_due()
            for kind, before in list(waiting.items()):
                now = await world.request(before.id)
                if now.state is State.SUCCEEDED or now.attempts > before.attempts > 0:
                    done_s[kind] = passed_s
                    assert (before.id in said) == (written in HOLDS), f"{kind}: {said}"
                    del waiting[kind]
            step_s = 10 if passed_s < 60 else 60
            await world.advance(step_s)
            passed_s += step_s

        assert not waiting
        late = {kind: after_s for kind, after_s in done_s.items() if after_s > WITHIN_S[kind]}
        assert late == {}


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_what_waits_for_its_time_is_not_put_off_by_anybody(url: str, tmp_path: Path) -> None:
    """A `cool_off`, the rows of a list, a pause, and what was sent and is looked up every day."""
    policy = replace(a_policy(), kinds={"card_topup": KindPolicy(cool_off=timedelta(hours=2))})
    async with a_world(tmp_path, url=url, policy=policy) as world:
        cooling = await world.top_up("50")
        freeze = await world.ask("card_freeze", {"card": world.cards[1]["id"]})
        await pausing.pause(world.core, BOB, ["main"], "a look")
        await world.approve(freeze)
        look = ghost_leases.Look(world.core)
        for _ in range(24):
            await world.run_due()
            await look.run()
            await world.advance(280)
            assert await _alerts_of(world) == []
        assert (await world.request(cooling.id)).state is State.APPROVED


async def test_what_cannot_wait_is_freed_first(world: World) -> None:
    top_up = await world.top_up("50")
    freeze = await world.ask("card_freeze", {"card": world.cards[1]["id"]}, now=True)
    look = ghost_leases.Look(world.core)
    for _ in range(3):
        for one in (top_up, freeze):
            await _renew_its_lease(world, one.id, "ghost")
        await look.run()
        await world.run_due()
        await world.advance(10)

    assert (await world.request(freeze.id)).state is State.SUCCEEDED
    assert (await world.request(top_up.id)).state is State.APPROVED


@pytest.mark.parametrize("who", ["this process", "another that works"])
async def test_a_slow_process_that_works_keeps_what_it_looks_at(
    world: World, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    """It may wait for long: for Slack, and for its place in the rate limit."""
    request = await world.top_up("50")
    slow = world.core if who == "this process" else replace(world.core, owner="other", holding=Counter())

    async def alive(*_: object) -> frozenset[str]:
        return frozenset({world.core.owner, "other"})

    monkeypatch.setattr(ghost_leases, "_alive", alive)
    go, look = presend_checks.may_go, ghost_leases.Look(world.core)

    async def renewed() -> bool:
        until = (await world.request(request.id)).lease_until
        return until is not None and until >= world.clock.now() + timedelta(seconds=1)

    async def slowly(*given: Any) -> presend_checks.Look:
        for _ in range(150):  # in steps after which whoever renews it has time to begin to wait again
            await world.advance(1)
            await asyncio.sleep(0.005)
            await eventually("the lease is renewed", renewed)
            await look.run()
        return await go(*given)

    monkeypatch.setattr(presend_checks, "may_go", slowly)
    await execution.execute(slow, request.id)

    assert (await world.request(request.id)).state is State.SUCCEEDED
    assert await _alerts_of(world) == []
    assert world.core.holding == Counter()


async def test_leases_of_processes_that_work_are_no_ghosts(world: World) -> None:
    names = [shared_work.job("put-back")]
    locks, look = Locks(world.store, world.core.owner, world.clock), ghost_leases.Look(world.core)
    for _ in range(20):
        await locks.keep(names)
        await look.run()
        await world.advance(30)

    assert world.store.ghosts.names == frozenset()
    assert await _alerts_of(world) == []
