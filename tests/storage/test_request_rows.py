"""Requests move only as the table allows, only over the version that was seen, and one executor at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import fields, replace
from datetime import timedelta
from decimal import Decimal
from operator import eq
from typing import Any

import pytest
from sqlalchemy import text, update

from bot.domain.errors import IllegalTransition, Stale
from bot.domain.limits import Grant
from bot.domain.requests import TRANSITIONS, Event, Request, State
from storage import tables as t
from storage.errors import CannotOpen, Purged
from storage.requests import requests
from storage.store import Store
from storage.transaction import Tx
from tests.storage.conftest import Opener
from tests.storage.factories import BODY, NOW, PRIVATE, approved, insert, request
from tests.support.clock import FrozenClock
from tests.support.leases import lease_end

pytestmark = pytest.mark.by_turns(2)


async def _get(store: Store, request_id: str = "R-7K3M") -> Request:
    async with store.read() as tx:
        found = await requests.get(tx, request_id)
    assert found is not None
    return found


def _full() -> Request:
    """A request with every field set to something that a default is not."""
    return request(
        facts={"float_usd": "1234567890.1234567891", "cards": [1, 2]},
        exposure_usd=Decimal("1234567890.1234567891"),
        body_mac="kid.mac",
        break_glass=True,
        approved_at=NOW + timedelta(microseconds=1),
        valid_until=NOW + timedelta(minutes=15),
        first_sent_at=NOW + timedelta(minutes=1),
        due_at=NOW + timedelta(minutes=2),
        remind_at=NOW + timedelta(minutes=3),
        key_expires_at=NOW + timedelta(days=1),
        attempts=3,
        fence=4,
        lease_owner="w1",
        lease_until=NOW + timedelta(seconds=30),
        outcome_unknown=True,
        needs_person=True,
        outcome={"status": 502},
        outcome_text="Nobody knows.",
        finished_at=NOW + timedelta(hours=1),
    )


async def test_every_field_comes_back_as_it_went_in(store: Store) -> None:
    full = _full()
    defaults = request()
    assert [f.name for f in fields(Request) if f.default is not None and getattr(full, f.name) is None] == []
    assert full.lease_owner != defaults.lease_owner

    async with store.begin() as tx:
        await insert(tx, full, request("R-2222"))

    assert await _get(store) == full
    assert await _get(store, "R-2222") == request("R-2222")


async def test_a_key_is_used_by_one_request_and_never_again(store: Store) -> None:
    async with store.begin() as tx:
        await insert(tx, request())

    with pytest.raises(Exception, match=r"(?i)unique"):
        async with store.begin() as tx:
            await insert(tx, request("R-2222", key=request().key))


async def test_the_frozen_body_comes_back_byte_for_byte(store: Store) -> None:
    async with store.begin() as tx:
        await insert(tx, request())
        found = await requests.frozen(tx, "R-7K3M")

    assert found.body == BODY
    assert found.private == PRIVATE
    assert "canary" not in repr(found)


async def test_a_frozen_body_moved_to_another_request_does_not_open(store: Store) -> None:
    async with store.begin() as tx:
        await insert(tx, request(), request("R-2222"))
        await tx.run(
            text("UPDATE request SET sealed_body = (SELECT sealed_body FROM request WHERE id = 'R-2222')")
        )

    async with store.read() as tx:
        await requests.frozen(tx, "R-2222")
        with pytest.raises(CannotOpen):
            await requests.frozen(tx, "R-7K3M")


@pytest.mark.by_turns(5)
@pytest.mark.parametrize("state", list(State))
@pytest.mark.parametrize("event", list(Event))
async def test_a_move_the_table_lacks_moves_nothing(sqlite_store: Store, state: State, event: Event) -> None:
    before = request(state=state)
    async with sqlite_store.begin() as tx:
        await insert(tx, before)

    allowed = event in TRANSITIONS[state]
    async with sqlite_store.begin() as tx:
        if allowed:
            moved = await requests.move(tx, before, event)
        else:
            with pytest.raises(IllegalTransition):
                await requests.move(tx, before, event)

    found = await _get(sqlite_store)
    assert found == (moved if allowed else before)
    if allowed:
        assert (found.state, found.version) == (TRANSITIONS[state][event], 2)


async def test_whoever_saw_an_older_version_moves_nothing(store: Store) -> None:
    async with store.begin() as tx:
        await insert(tx, request())
        moved = await requests.touch(tx, request(), remind_at=NOW)

    attempts: list[Callable[[Tx], Awaitable[Request]]] = [
        lambda tx: requests.move(tx, request(), Event.CANCEL),
        lambda tx: requests.touch(tx, request(), reason="other"),
        lambda tx: requests.move(tx, replace(moved, state=State.APPROVED), Event.CANCEL),
    ]
    for late in attempts:
        with pytest.raises(Stale, match="R-7K3M"):
            async with store.begin() as tx:
                await late(tx)

    assert await _get(store) == moved
    assert moved.version == 2


async def test_of_twenty_who_race_one_moves_it(store: Store) -> None:
    async with store.begin() as tx:
        await insert(tx, request())

    async def approve() -> bool:
        try:
            async with store.begin() as tx:
                await requests.move(tx, request(), Event.APPROVE, approved_at=tx.now)
        except Stale:
            return False
        return True

    won = await asyncio.gather(*(approve() for _ in range(20)))

    assert won.count(True) == 1
    assert (await _get(store)).version == 2


@pytest.mark.parametrize(
    "field", ["key", "digest", "terms", "requester", "id", "state", "version", "sealed_body"]
)
async def test_what_was_approved_cannot_be_changed_afterwards(store: Store, field: str) -> None:
    async with store.begin() as tx:
        await insert(tx, request())
        with pytest.raises(ValueError, match=field):
            await requests.touch(tx, request(), **{field: "other"})
        with pytest.raises(ValueError, match=field):
            await requests.move(tx, request(), Event.CANCEL, **{field: "other"})
        with pytest.raises(ValueError, match=field):
            await requests.finish(tx, request(), None, **{field: "other"})


async def test_the_database_knows_the_states(store: Store) -> None:
    async with store.begin() as tx:
        await insert(tx, request())

    for broken in ("state = 'paid'", "version = 0"):
        with pytest.raises(Exception, match=r"(?i)check"):
            async with store.begin() as tx:
                await tx.run(text(f"UPDATE request SET {broken}"))


async def test_a_claim_takes_the_lease_and_raises_the_fence(store: Store) -> None:
    was = await approved(store)

    async with store.begin() as tx:
        held = await requests.claim(tx, was.id, owner="w1", lease_s=30)

    assert held is not None
    assert (held.state, held.fence, held.attempts, held.lease_owner) == (State.EXECUTING, 1, 1, "w1")
    assert held.version == was.version + 1
    assert held.first_sent_at == NOW
    assert held.lease_until is not None


async def test_of_ten_executors_one_claims(store: Store) -> None:
    was = await approved(store)

    async def claim(owner: str) -> Request | None:
        async with store.begin() as tx:
            return await requests.claim(tx, was.id, owner=owner, lease_s=30)

    held = await asyncio.gather(*(claim(f"w{n}") for n in range(10)))

    assert len([h for h in held if h is not None]) == 1
    assert (await _get(store)).fence == 1


@pytest.mark.parametrize("state", [s for s in State if s not in ("approved", "executing", "unresolved")])
async def test_only_approved_and_unsettled_requests_are_claimed(sqlite_store: Store, state: State) -> None:
    async with sqlite_store.begin() as tx:
        await insert(tx, request(state=state, due_at=NOW, valid_until=NOW + timedelta(hours=1)))
        assert await requests.claim(tx, "R-7K3M", owner="w1", lease_s=30) is None
        assert await requests.due(tx) == []


async def test_an_approval_past_its_time_is_not_sent_but_what_was_sent_is_pursued(
    store: Store, clock: FrozenClock
) -> None:
    unsent = await approved(store)
    sent = await approved(store, "R-2222")
    async with store.begin() as tx:
        held = await requests.claim(tx, sent.id, owner="w1", lease_s=30)
        assert held is not None
        await requests.finish(tx, held, None, due_at=tx.now)

    clock.advance(15 * 60)

    async with store.begin() as tx:
        assert await requests.claim(tx, unsent.id, owner="w1", lease_s=30) is None
        assert await requests.claim(tx, sent.id, owner="w1", lease_s=30) is not None
        assert [r.id for r in await requests.expiring(tx)] == [unsent.id]


async def test_what_is_not_due_is_not_claimed(store: Store, clock: FrozenClock) -> None:
    was = await approved(store)
    async with store.begin() as tx:
        await requests.touch(tx, was, due_at=tx.now + timedelta(seconds=5))
    async with store.begin() as tx:
        assert await requests.claim(tx, was.id, owner="w1", lease_s=30) is None
        assert await requests.due(tx) == []

    clock.advance(5)

    async with store.begin() as tx:
        assert await requests.due(tx) == [was.id]
        assert await requests.claim(tx, was.id, owner="w1", lease_s=30) is not None
        assert await requests.due(tx) == []


async def _claimed(store: Store, owner: str) -> Request:
    async with store.begin() as tx:
        held = await requests.claim(tx, "R-7K3M", owner=owner, lease_s=30)
    assert held is not None
    return held


async def _lapse(store: Store) -> None:
    """The lease runs out, whichever clock it runs on."""
    async with store.begin() as tx:
        await tx.run(update(t.request).values(lease_until=NOW - timedelta(days=365)))


async def test_a_zombie_that_wakes_after_the_takeover_writes_nothing(store: Store) -> None:
    await approved(store)
    zombie = await _claimed(store, "w1")
    await _lapse(store)
    heir = await _claimed(store, "w2")

    async with store.begin() as tx:
        assert not await requests.renew(tx, zombie.id, owner="w1", fence=zombie.fence, lease_s=30)
        assert await requests.finish(tx, zombie, Event.FAIL, outcome_text="late") is None
    assert await _get(store) == heir

    async with store.begin() as tx:
        done = await requests.finish(
            tx, heir, Event.SUCCEED, outcome_text="ok", finished_at=tx.now, due_at=None
        )
    assert done is not None
    assert (done.state, done.lease_owner, done.lease_until) == (State.SUCCEEDED, None, None)
    assert done.version == heir.version + 1


async def test_an_owner_that_came_back_under_its_name_is_still_fenced(store: Store) -> None:
    await approved(store)
    first = await _claimed(store, "w1")
    await _lapse(store)
    second = await _claimed(store, "w1")

    async with store.begin() as tx:
        assert await requests.finish(tx, first, Event.FAIL) is None
        assert await requests.finish(tx, second, Event.SUCCEED) is not None


async def test_a_claim_is_finished_once(store: Store) -> None:
    await approved(store)
    held = await _claimed(store, "w1")

    async with store.begin() as tx:
        first = await requests.finish(tx, held, None, due_at=tx.now)
        assert await requests.finish(tx, held, None, outcome_text="twice") is None

    assert await _get(store) == first


async def test_a_lapsed_lease_cannot_be_renewed_and_a_live_one_can(store: Store) -> None:
    await approved(store)
    held = await _claimed(store, "w1")

    async with store.begin() as tx:
        assert await requests.renew(tx, held.id, owner="w1", fence=held.fence, lease_s=60)
    longer = await _get(store)
    assert longer.lease_until is not None
    assert held.lease_until is not None
    assert longer.lease_until > held.lease_until
    assert longer.version == held.version

    await _lapse(store)
    async with store.begin() as tx:
        assert not await requests.renew(tx, held.id, owner="w1", fence=held.fence, lease_s=60)


@pytest.mark.parametrize("databases", ["postgres"], indirect=True)
@pytest.mark.parametrize("wrong_by_s", [-86400, 86400])
async def test_on_a_shared_database_a_wrong_clock_sees_the_same_lease(
    store: Store, url: str, open_store: Opener, wrong_by_s: float
) -> None:
    await approved(store)
    held = await _claimed(store, "w1")
    other = await open_store(url, clock=FrozenClock(NOW + timedelta(seconds=wrong_by_s)))

    async with other.begin() as tx:
        assert await tx.lasts(held.lease_until)
    await _lapse(store)
    async with other.begin() as tx:
        assert not await tx.lasts((await _get(store)).lease_until)


async def test_a_request_settled_by_hand_is_not_written_over_by_its_executor(store: Store) -> None:
    await approved(store)
    held = await _claimed(store, "w1")
    async with store.begin() as tx:
        lost = await requests.finish(tx, held, Event.LOSE_SIGHT, due_at=tx.now)
    assert lost is not None
    looking = await _claimed(store, "w1")
    assert looking.state is State.UNRESOLVED

    async with store.begin() as tx:
        await requests.move(
            tx, looking, Event.FAIL, lease_owner=None, lease_until=None, fence=looking.fence + 1
        )

    async with store.begin() as tx:
        assert await requests.finish(tx, looking, Event.SUCCEED) is None


async def test_the_first_send_is_remembered(store: Store, clock: FrozenClock) -> None:
    await approved(store)
    held = await _claimed(store, "w1")
    async with store.begin() as tx:
        await requests.finish(tx, held, None, due_at=tx.now)
    clock.advance(60)

    again = await _claimed(store, "w1")

    assert again.first_sent_at == NOW
    assert again.attempts == 2


async def test_requests_are_found_by_what_is_asked(store: Store, clock: FrozenClock) -> None:
    later = NOW + timedelta(hours=1)
    async with store.begin() as tx:
        await insert(
            tx,
            request("R-1"),
            request("R-2", requester="UBOB", created_at=later),
            request("R-3", subject="card:other", created_at=later),
            request("R-4", kind="card_freeze", state=State.REJECTED),
        )

    async def ids(**asked: Any) -> list[str]:
        async with store.read() as tx:
            return [found.id for found in await requests.find(tx, **asked)]

    assert await ids() == ["R-3", "R-2", "R-4", "R-1"]
    assert await ids(oldest_first=True, limit=2) == ["R-1", "R-4"]
    assert await ids(requester="UBOB") == ["R-2"]
    assert await ids(subject="card:other") == ["R-3"]
    assert await ids(kinds=["card_freeze"]) == ["R-4"]
    assert await ids(since=later, states=[State.PENDING]) == ["R-3", "R-2"]
    assert await ids(states=[]) == []


async def test_reminders_and_expiry_come_due(store: Store, clock: FrozenClock) -> None:
    async with store.begin() as tx:
        await insert(tx, request("R-1", remind_at=NOW + timedelta(minutes=15)))
        await insert(tx, request("R-2", remind_at=NOW, state=State.REJECTED))
        assert await requests.reminding(tx) == []
        assert await requests.expiring(tx) == []

    clock.advance(15 * 60)
    async with store.read() as tx:
        assert [r.id for r in await requests.reminding(tx)] == ["R-1"]

    clock.advance(8 * 3600)
    async with store.read() as tx:
        assert [r.id for r in await requests.expiring(tx)] == ["R-1"]


async def test_purged_details_are_gone_and_say_so(store: Store) -> None:
    async with store.begin() as tx:
        await insert(tx, request())
        await requests.purge(tx, "R-7K3M")

    async with store.read() as tx:
        with pytest.raises(Purged, match="R-7K3M"):
            await requests.frozen(tx, "R-7K3M")
        left = (await tx.run(text("SELECT sealed_private, sealed_body FROM request"))).one()
    assert tuple(left) == (None, None)


async def test_details_are_due_to_be_purged_when_settled_or_unresolved_too_long(
    store: Store, clock: FrozenClock
) -> None:
    three_days = timedelta(hours=72)
    old = NOW - three_days
    async with store.begin() as tx:
        for state in State:
            await insert(tx, request(f"R-{state}", state=state, first_sent_at=NOW))
        await insert(tx, request("R-old", state=State.UNRESOLVED, first_sent_at=old))
        await requests.purge(tx, "R-failed")
        due = await requests.purge_due(tx, unresolved_after=three_days)

    assert set(due) == {"R-succeeded", "R-rejected", "R-cancelled", "R-expired", "R-old"}


async def test_what_was_spent_counts_the_committed_in_the_window(store: Store, clock: FrozenClock) -> None:
    day = timedelta(hours=24)
    await approved(store, "R-old", exposure_usd=Decimal(1000))
    clock.advance(day.total_seconds() + 1)
    since = clock.now() - day
    await approved(store, "R-1", exposure_usd=Decimal("0.0000000001"))
    await approved(store, "R-2", exposure_usd=Decimal("100.10"), by="UCAROL")
    await approved(store, "R-3", exposure_usd=Decimal("7.00"), requester="UDAVE")
    undone = await approved(store, "R-4", exposure_usd=Decimal("500.00"))
    async with store.begin() as tx:
        await insert(tx, request("R-5", exposure_usd=Decimal("900.00")))
        await requests.move(tx, undone, Event.CANCEL)

    async with store.read() as tx:
        found = await requests.grants(tx, since, with_approvers=True)
        before = await requests.grants(tx, since, until=clock.now())

    def usd(those: Iterable[Grant]) -> Decimal:
        return sum((one.usd for one in those), Decimal(0))

    assert usd(found.made) == Decimal("107.1000000001")
    assert usd(found.of("UALICE", eq)) == Decimal("100.1000000001")
    assert usd(found.of_pair("UALICE", "UCAROL", eq)) == Decimal("100.10")
    assert usd(found.of("UNOBODY", eq)) == 0
    assert before.made == (), "what was approved at that time does not count before it"


async def test_two_approvals_at_once_cannot_both_pass_a_limit(store: Store) -> None:
    """Fifty and fifty against a limit of ninety: exactly one fits, however they interleave."""
    since, limit = NOW - timedelta(hours=24), Decimal(90)
    waiting = [request(f"R-{n}") for n in range(6)]
    async with store.begin() as tx:
        await insert(tx, *waiting)

    async def approve(one: Request) -> bool:
        async with store.begin() as tx:
            await requests.lock_limits(tx)
            spent = sum(one.usd for one in (await requests.grants(tx, since)).made)
            await asyncio.sleep(0.02)
            if spent + one.exposure_usd > limit:
                return False
            await requests.move(tx, one, Event.APPROVE, approved_at=tx.now)
            return True

    passed = await asyncio.gather(*(approve(one) for one in waiting))

    assert passed.count(True) == 1
    async with store.read() as tx:
        assert [one.usd for one in (await requests.grants(tx, since)).made] == [Decimal(50)]


async def test_what_expires_is_walked_page_by_page(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "EXPIRED_AT_ONCE", 2)
    async with store.begin() as tx:
        await insert(tx, *(request(f"R-{n}", expires_at=NOW) for n in range(5)))
    pages, last = [], None
    async with store.read() as tx:
        while page := await requests.expiring(tx, last):
            pages.append([r.id for r in page])
            last = page[-1]

    assert pages == [["R-0", "R-1"], ["R-2", "R-3"], ["R-4"]]


async def test_only_requests_of_the_wanted_states_that_nobody_works_on_are_due_for_another_look(
    store: Store,
) -> None:
    """A batch is never looked at: its rows are. What is being executed has a look of its own."""
    far, past = NOW + timedelta(days=365), NOW - timedelta(days=365)
    made = [
        request("R-FREE", state=State.FAILED),
        request("R-LEFT", state=State.FAILED, lease_owner="dead", lease_until=past),
        request("R-HELD", state=State.FAILED, lease_owner="w1", lease_until=past),
        request("R-GHOST", state=State.FAILED, lease_owner="ghost", lease_until=far),
        request("R-BATCH", state=State.FAILED, rows=2),
        request("R-DONE", state=State.SUCCEEDED),
        request("R-OTHER", state=State.FAILED),
    ]
    async with store.begin() as tx:
        await insert(tx, *made)
        held = lease_end(tx, timedelta(seconds=30))
        await tx.run(update(t.request).where(t.request.c.id == "R-HELD").values(lease_until=held))
    async with store.begin() as tx:
        await requests.look_again(tx, [one.id for one in made if one.id != "R-OTHER"], {State.FAILED})

    due = {one.id for one in made if (await _get(store, one.id)).due_at is not None}
    assert due == {"R-FREE", "R-LEFT", "R-GHOST"}


async def test_a_lease_for_longer_than_any_holds_nothing(store: Store) -> None:
    """Somebody wrote it, so that an approved request is never sent. Each use of a lease goes by the same rule."""
    was = await approved(store)
    async with store.begin() as tx:
        far = lease_end(tx, timedelta(0)) + timedelta(days=30_000)
        ghost = {"lease_owner": "ghost", "lease_until": far}
        await tx.run(update(t.request).where(t.request.c.id == was.id).values(**ghost))
    async with store.read() as tx:
        found = await requests.get(tx, was.id)
        assert found is not None
        assert not await tx.lasts(found.lease_until)
        assert await requests.any_due(tx)
        assert await requests.due(tx) == [was.id]

    async with store.begin() as tx:
        held = await requests.reserve(tx, was.id, owner="w1", lease_s=30)
        assert held is not None
        assert await tx.lasts(held.lease_until)
        assert await requests.claim(tx, was.id, owner="w2", lease_s=30) is None
