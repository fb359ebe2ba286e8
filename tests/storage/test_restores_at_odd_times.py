"""An older copy of the database that was made, or is put in place, at an odd time: nothing is lost or paid twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import select

from bot.domain.errors import CountersignError, NotAllowed, NotFound, Stale
from bot.domain.money import ledger_text
from bot.domain.people import KindPolicy
from bot.domain.requests import Request, State
from bot.services import audit_anchors
from bot.services.alerts import ledger_rules
from bot.services.anchor_places import AnchorPlaces
from bot.services.events import Poller
from bot.services.operators import confirmation_answers, otp_recipients, pausing, safe_mode
from bot.services.requests import approvals, lifecycle
from storage import audit, tables
from storage.cards import otp_recipients as recipient_rows
from storage.maintenance import back_up, put_back
from storage.messages import Alert, outbox
from storage.messages import alerts as alert_rows
from storage.operators import OrphanDebit, pauses, restored_copies
from storage.operators import safe_mode as rows
from storage.requests import confirmations
from tests.storage.restores import VAULT, debit, put_in_place, restart_on
from tests.support.databases import Databases
from tests.support.world import ALICE, BOB, CAROL, World, a_policy, a_world

#: Long stories, which are the same on either database.
pytestmark = [pytest.mark.walk(turns="databases"), pytest.mark.by_turns(10)]


@pytest.fixture
async def world(tmp_path: Path, own_url: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=own_url) as world:
        world.rebuild(anchors=AnchorPlaces([tmp_path / "anchors"]))
        await world.tell("float", {"amount_usd": "5000"})
        yield world
        await world.store.close()


PutInPlace = Callable[[World, Path, Databases], Awaitable[str]]


async def by_restore(world: World, copy: Path, databases: Databases) -> str:
    url = databases.empty()
    await put_back(url, copy, vault=VAULT, clock=world.clock)
    return url


async def as_a_volume(world: World, copy: Path, databases: Databases) -> str:
    return await put_in_place(copy, databases)


either_way = pytest.mark.parametrize("put", [by_restore, as_a_volume])


async def copied(world: World, to: Path) -> Path:
    """A copy of the database as it is now; what comes after it is later, and something does."""
    await an_entry(world)
    await back_up(str(world.store.database.url), to, vault=VAULT, clock=world.clock)
    await world.advance(60)
    await an_entry(world)
    return to


async def an_entry(world: World) -> None:
    async with world.store.begin() as tx:
        await audit.append(tx, actor="test", action="something", subject="test")
    await audit_anchors.drop(world.core)


async def read_ledger(world: World) -> None:
    """As the first readings of a start do."""
    await Poller(world.core, account_every=timedelta(seconds=60)).first_ledger()


async def open_alerts(world: World, kind: str) -> list[Alert]:
    async with world.store.read() as tx:
        return [one for one in await alert_rows.open_ones(tx) if one.kind == kind]


async def lines_of(world: World, alert: Alert) -> str:
    text = tables.alert_thread_line.c
    async with world.store.read() as tx:
        found = await tx.run(select(text.text).where(text.alert_id == alert.id).order_by(text.n))
        return "\n".join(found.scalars())


async def leave(world: World) -> str:
    """Two people, one after the other."""
    await pausing.resume(world.core, BOB, ["main"])
    async with world.store.read() as tx:
        asked = await confirmations.open_one(tx, pausing.RESUME, "main")
    assert asked is not None
    return await confirmation_answers.give(world.core, asked.id, CAROL)


async def in_force(world: World) -> bool:
    async with world.store.read() as tx:
        return await rows.current(tx) is not None


async def orphans_of(world: World) -> list[OrphanDebit]:
    async with world.store.read() as tx:
        assert await rows.current(tx) is not None
        return (await safe_mode._found_in(tx))[0]


def orphan(number: int, **changes: object) -> OrphanDebit:
    at = changes.pop("found_at")
    return OrphanDebit("main", f"topup:co-x-{number}", Decimal(-number), "topup", None, at, at)  # type: ignore[arg-type]


@pytest.mark.parametrize("was_read", [True, False], ids=["ledger read before", "ledger never read"])
async def test_debits_of_others_since_the_copy_are_reported_and_those_before_it_are_not(
    world: World, databases: Databases, tmp_path: Path, was_read: bool
) -> None:
    await debit(world, 1, key="elsewhere-before")
    await world.advance(7200)
    if was_read:
        await read_ledger(world)
    copy = await copied(world, tmp_path / "copy.db")
    await debit(world, 2, key="elsewhere-after")
    await debit(world, 3)

    url = await by_restore(world, copy, databases)
    await restart_on(world, url)
    await read_ledger(world)
    await safe_mode.review(world.core)

    (found,) = await open_alerts(world, "unexplained_movement")
    assert (found.severity, "no request here explains it" in found.title) == ("warning", True)
    assert "elsewhere-after" in found.text
    assert "elsewhere-before" not in found.text
    (alert,) = await open_alerts(world, "older_copy")
    assert "*1 debit of 4.00 USD in all*" in alert.text
    await ledger_rules.compare(world.core, "main")
    (again,) = await open_alerts(world, "unexplained_movement")
    assert again.count == 1, "reported once"
    await world.store.close()
    databases.drop(url)


async def test_the_alert_claims_nothing_of_debits_that_others_made(
    world: World, databases: Databases, tmp_path: Path
) -> None:
    await read_ledger(world)
    copy = await copied(world, tmp_path / "copy.db")
    await debit(world, 1, key="elsewhere")

    url = await by_restore(world, copy, databases)
    await restart_on(world, url)
    await read_ledger(world)
    await safe_mode.review(world.core)

    (alert,) = await open_alerts(world, "older_copy")
    assert "no debit that this copy does not know" not in alert.text
    assert "Debits made elsewhere have an alert of their own" in alert.text
    await world.store.close()
    databases.drop(url)


async def test_nobody_leaves_before_everything_that_was_read_is_listed(world: World) -> None:
    async with world.store.begin() as tx:
        await rows.enter(tx, head_seq=1, head_at=tx.now, anchor_seq=9, anchor_at=tx.now)
    await safe_mode.at_start(world.core)
    await debit(world, 1)
    await read_ledger(world)

    with pytest.raises(NotFound, match="still listing the debits"):
        await pausing.resume(world.core, BOB, ["main"])
    await safe_mode.review(world.core)
    await pausing.resume(world.core, BOB, ["main"])
    async with world.store.read() as tx:
        asked = await confirmations.open_one(tx, pausing.RESUME, "main")
    assert asked is not None

    await debit(world, 2)
    await ledger_rules.compare(world.core, "main")
    with pytest.raises(NotFound, match="still listing the debits"):
        await confirmation_answers.give(world.core, asked.id, CAROL)
    await safe_mode.review(world.core)
    with pytest.raises(Stale):  # what is confirmed says nothing of the second debit
        await confirmation_answers.give(world.core, asked.id, CAROL)
    assert await in_force(world)

    assert "has resumed" in await leave(world)
    assert not await in_force(world)


async def test_a_debit_whose_reading_ends_after_safe_mode_was_left_is_reported_nevertheless(
    world: World,
) -> None:
    """As another process may be at it just then."""
    async with world.store.begin() as tx:
        await rows.enter(tx, head_seq=1, head_at=tx.now, anchor_seq=9, anchor_at=tx.now)
    await safe_mode.at_start(world.core)
    await read_ledger(world)
    await leave(world)
    async with world.store.begin() as tx:
        await rows.add_orphans(tx, [orphan(7, found_at=tx.now)])

    await safe_mode.review(world.core)
    await safe_mode.review(world.core)

    (found,) = await open_alerts(world, "unexplained_movement")
    assert (found.severity, found.count) == ("critical", 1)
    assert "topup:co-x-7" in found.text


async def test_each_debit_is_listed_once_in_whatever_order_they_are_committed(world: World) -> None:
    """Of several programs one may have found its debits first and be done last."""
    async with world.store.begin() as tx:
        await rows.enter(tx, head_seq=1, head_at=None, anchor_seq=9, anchor_at=tx.now)
        begun_at = tx.now
    await safe_mode.at_start(world.core)
    for seconds, numbers in ((30, (1, 2)), (10, (3,)), (20, (4, 5)), (-5, (6,))):
        async with world.store.begin() as tx:
            found_at = begun_at + timedelta(seconds=seconds)
            await rows.add_orphans(tx, [orphan(number, found_at=found_at) for number in numbers])
        await safe_mode.review(world.core)

    (alert,) = await open_alerts(world, "older_copy")
    listed = await lines_of(world, alert)
    assert {number: listed.count(f"topup:co-x-{number}") for number in range(1, 7)} == dict.fromkeys(
        range(1, 7), 1
    )
    assert "*6 debits of 21.00 USD in all*" in alert.text


async def test_two_processes_that_review_at_once_list_each_debit_once(world: World) -> None:
    async with world.store.begin() as tx:
        await rows.enter(tx, head_seq=1, head_at=None, anchor_seq=9, anchor_at=tx.now)
    await safe_mode.at_start(world.core)
    async with world.store.begin() as tx:
        await rows.add_orphans(tx, [orphan(number, found_at=tx.now) for number in range(1, 60)])

    await asyncio.gather(*(safe_mode.review(world.core) for _ in range(4)))

    (alert,) = await open_alerts(world, "older_copy")
    listed = await lines_of(world, alert)
    found = sorted(line.rpartition("topup:")[2] for line in listed.splitlines() if "topup:" in line)
    assert found == sorted(f"co-x-{number}" for number in range(1, 60))


@either_way
async def test_a_copy_made_in_safe_mode_starts_a_new_one(
    world: World, databases: Databases, tmp_path: Path, put: PutInPlace
) -> None:
    """What was found void and read then says nothing of what was done after it."""
    await read_ledger(world)
    first = await copied(world, tmp_path / "first.db")
    before = await debit(world, 1)
    url = await put(world, first, databases)
    await audit_anchors.drop(world.core)
    await restart_on(world, url)
    await read_ledger(world)
    await safe_mode.review(world.core)
    waiting = await world.top_up("8", approved=False)
    await pausing.resume(world.core, BOB, ["main"])
    async with world.store.read() as tx:
        asked = await confirmations.open_one(tx, pausing.RESUME, "main")
    assert asked is not None
    in_safe_mode = await copied(world, tmp_path / "in-safe-mode.db")
    async with world.store.read() as tx:
        length = (await audit.head(tx)).seq - 1  # the last entry is of after it

    # What that copy does not know: safe mode is left, and money moves.
    await leave(world)
    await world.approve(waiting)
    await world.run_due()
    after = await debit(world, 2)
    await audit_anchors.drop(world.core)
    again = await put(world, in_safe_mode, databases)
    await restart_on(world, again)

    async with world.store.read() as tx:
        modes = await rows.all(tx)
        assert await rows.current(tx) == modes[-1]
        entries = [e async for e in audit.about(tx, "database") if e.action == rows.RESTORED]
    assert len(modes) == 2
    assert modes[-1].voided is not None
    assert modes[-1].head_seq == length
    assert len(entries) == 2
    with pytest.raises(NotFound, match="still reading the whole ledger"):
        await pausing.resume(world.core, BOB, ["main"])
    with pytest.raises(CountersignError):
        await confirmation_answers.give(world.core, asked.id, CAROL)
    await read_ledger(world)
    await safe_mode.review(world.core)
    (alert,) = await open_alerts(world, "older_copy")
    listed = await lines_of(world, alert)
    found = await orphans_of(world)
    assert sorted(-row.amount_usd for row in found) == sorted([before, after])
    assert all(listed.count(row.reference) == 1 for row in found), "in the thread of the new alert"

    for _ in range(2):
        assert await restart_on(world, again) is None
    await leave(world)
    for number in range(120):  # beyond where the anchors of the lost time end
        async with world.store.begin() as tx:
            await audit.append(tx, actor="test", action=f"n{number}", subject="test")
    assert await restart_on(world, again) is None, "what was lost is known, and stops no later start"
    assert not await in_force(world)
    await world.store.close()
    for one in (url, again):
        databases.drop(one)


@pytest.mark.walk
@pytest.mark.parametrize("back_s", [0, 5, 400, 90_000])
@either_way
async def test_a_clock_that_is_behind_on_the_restoring_machine_starts_safe_mode_and_refuses_no_later_start(
    world: World, databases: Databases, tmp_path: Path, put: PutInPlace, back_s: int
) -> None:
    """What was lost is known by its numbers and hashes; the clock of the machine of before says nothing."""
    await read_ledger(world)
    copy = await copied(world, tmp_path / "copy.db")
    for _ in range(10):
        await an_entry(world)
    lost = await debit(world, 3)
    world.clock.advance(-back_s)
    url = await put(world, copy, databases)
    await restart_on(world, url)
    await read_ledger(world)
    await safe_mode.review(world.core)
    assert [-row.amount_usd for row in await orphans_of(world)] == [lost]
    await leave(world)
    await world.advance(60)
    for _ in range(20):  # beyond where the anchors of the lost time end, entry by entry
        assert await restart_on(world, url) is None
        await an_entry(world)
    assert not await in_force(world)

    anchors = await world.core.anchors.read()
    async with world.store.read() as tx:
        assert (await audit.verify(tx, anchors=await restored_copies.of_this_chain(tx, anchors))).ok
        found = await restored_copies.of_this_chain(tx, anchors)
    assert len(found) >= 20, "the anchors since then are compared"
    changed = [replace(one, hash="0" * 64) for one in found[-3:]]
    async with world.store.read() as tx:
        report = await audit.verify(tx, anchors=await restored_copies.of_this_chain(tx, changed))
    assert (report.ok, report.kind) == (False, "anchor")
    await world.store.close()
    databases.drop(url)


@pytest.mark.parametrize(
    "line",
    [
        '{"at": "x", "hash": "h", "mac": "m", "seq": 99999}',
        '{"at": "2026-03-02T09:00:00", "hash": "h", "mac": "m", "seq": 99999}',
        '{"at": "", "hash": "", "mac": "", "seq": 1e999}',
        '{"at": "2026-03-02T09:00:00+00:00", "hash": "h", "mac": "m", "seq": -1}',
        '{"at": "2026-03-02T09:00:00+00:00", "hash": "h", "mac": "m", "seq": NaN}',
        "[" * 100_000,
        "[1]",
        "12",
    ],
    ids=lambda line: line[:70],
)
def test_a_line_that_is_no_anchor_is_called_so_whatever_it_holds(line: str) -> None:
    with pytest.raises(ValueError, match="not an audit anchor"):
        audit.Anchor.from_line(line)


async def test_an_older_copy_over_a_newer_one_and_the_same_twice_find_everything(
    world: World, databases: Databases, tmp_path: Path
) -> None:
    await read_ledger(world)
    oldest = await copied(world, tmp_path / "oldest.db")
    one = await debit(world, 1)
    newer = await copied(world, tmp_path / "newer.db")
    two = await debit(world, 2)
    await audit_anchors.drop(world.core)

    urls = []
    for copy in (newer, oldest, oldest):
        urls.append(await as_a_volume(world, copy, databases))
        await restart_on(world, urls[-1])
        await read_ledger(world)
        await safe_mode.review(world.core)
        assert sorted(-row.amount_usd for row in await orphans_of(world)) == sorted([one, two]), copy
    await leave(world)
    assert await restart_on(world, urls[-1]) is None
    await world.store.close()
    for url in urls:
        databases.drop(url)


async def test_what_a_process_finds_when_another_has_entered_safe_mode_starts_no_second_one(
    world: World, databases: Databases, tmp_path: Path
) -> None:
    copy = await copied(world, tmp_path / "copy.db")
    await world.top_up("5", approved=False)
    await audit_anchors.drop(world.core)
    url = await as_a_volume(world, copy, databases)
    found = await restart_on(world, url)
    assert found is not None

    await safe_mode.enter(world.core, found.head, found.anchor)
    await safe_mode.at_start(world.core)

    async with world.store.read() as tx:
        assert len(await rows.all(tx)) == 1
    await world.store.close()
    databases.drop(url)


@pytest.mark.parametrize("late", ["decided", "sent"])
async def test_what_may_have_been_paid_is_not_paid_again_once_its_key_may_be_forgotten(
    world: World, databases: Databases, tmp_path: Path, late: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that waits for days is approved, and sent, in the time that the copy does not know."""
    kinds = {"card_topup": KindPolicy(expires=timedelta(days=5), cool_off=timedelta(hours=18))}
    world.rebuild(policy=replace(a_policy(), kinds=kinds))
    await read_ledger(world)
    waiting = await world.top_up("8", approved=False)
    copy = await copied(world, tmp_path / "copy.db")
    await world.approve(waiting)
    await world.run(19 * 3600, step=3600)
    assert (await world.request(waiting.id)).state is State.SUCCEEDED
    calls = len(await world.sent("POST /topup"))
    assert calls == 1

    # Within a day, so that the API may still know its key.
    url = await by_restore(world, copy, databases)
    await restart_on(world, url)
    await read_ledger(world)
    await safe_mode.review(world.core)
    await leave(world)
    assert (await world.request(waiting.id)).state is State.PENDING
    if late == "sent":
        await world.approve(waiting)
        await world.run(19 * 3600, step=3600)
    else:
        await world.advance(3 * 3600)
        with pytest.raises(NotAllowed, match="card provider may have forgotten its key"):
            await world.approve(waiting)
        await safe_mode.review(world.core)

    ended = await world.request(waiting.id)
    assert ended.state is State.CANCELLED
    assert "may have been carried out" in ended.outcome_text
    assert len(await world.sent("POST /topup")) == calls
    new = await world.top_up("3", approved=False)
    await world.advance(30 * 3600)
    await safe_mode.review(world.core)
    assert (await world.request(new.id)).state is State.PENDING, "requested since: nothing of it is in doubt"
    await world.store.close()
    databases.drop(url)


async def expires(world: World, request: Request) -> None:
    await world.advance(9 * 3600)
    await lifecycle.expire_due(world.core)


async def is_cancelled(world: World, request: Request) -> None:
    await lifecycle.cancel(world.core, request.id, ALICE)


async def is_rejected(world: World, request: Request) -> None:
    await approvals.reject(world.core, request.id, BOB, reason="wrong card")


async def is_never_decided(world: World, request: Request) -> None:
    await world.advance(21 * 3600)
    await safe_mode.review(world.core)


@pytest.mark.walk
@pytest.mark.parametrize("end", [expires, is_cancelled, is_rejected, is_never_decided])
async def test_however_a_request_of_an_older_copy_ends_nobody_reads_that_nothing_was_sent(
    world: World, databases: Databases, tmp_path: Path, end: Callable[[World, Request], Awaitable[None]]
) -> None:
    """It was paid in the time that the copy does not know."""
    await read_ledger(world)
    waiting = await world.top_up("8", approved=False)
    copy = await copied(world, tmp_path / "copy.db")
    await world.approve(waiting)
    await world.run_due()
    url = await by_restore(world, copy, databases)
    await restart_on(world, url)

    await end(world, waiting)

    ended = await world.request(waiting.id)
    assert ended.state in (State.EXPIRED, State.CANCELLED, State.REJECTED)
    assert "may have been carried out" in ended.outcome_text
    assert "Nothing was sent" not in ended.outcome_text
    async with world.store.read() as tx:
        lines = [row.body["line"] for row in await outbox.next_due(tx) if row.kind == "line"]
    assert set(lines) & {"rejected", "cancelled", "expired"} == set()
    assert set(lines) & {"voided", "ended_in_doubt"}
    await world.store.close()
    databases.drop(url)


async def test_what_was_paid_before_the_copy_was_put_in_place_is_found_by_its_row_of_then(
    world: World, databases: Databases, tmp_path: Path
) -> None:
    """The ledger is searched from when it may have been sent, not from the first send that this copy knows."""
    await read_ledger(world)
    waiting = await world.top_up("8", approved=False)
    copy = await copied(world, tmp_path / "copy.db")
    await world.approve(waiting)
    await world.fault("processor", processor="5xx", times=9)
    await world.run_due()
    assert await world.debits(waiting.key) == Decimal(-8)
    await world.advance(6 * 3600)

    url = await by_restore(world, copy, databases)
    await restart_on(world, url)
    await read_ledger(world)
    await safe_mode.review(world.core)
    await leave(world)
    await world.approve(waiting)
    await world.run_due()

    found = await world.request(waiting.id)
    assert found.state in (State.EXECUTING, State.UNRESOLVED), found.outcome_text
    assert await world.debits(waiting.key) == Decimal(-8)
    await world.store.close()
    databases.drop(url)


async def test_a_copy_made_while_a_request_is_sent_pays_once(
    world: World, databases: Databases, tmp_path: Path
) -> None:
    await read_ledger(world)
    under_way = await world.top_up("8")
    world.rebuild(lease_s=0.2)
    with world.dies_at("execution.answered"):
        await world.run_due()
    copy = await copied(world, tmp_path / "copy.db")
    assert await world.debits(under_way.key) == Decimal(-8)

    url = await by_restore(world, copy, databases)
    await restart_on(world, url)
    await read_ledger(world)
    await safe_mode.review(world.core)
    await leave(world)
    await world.run(300, step=30)

    assert (await world.request(under_way.id)).state is State.SUCCEEDED
    assert await world.debits(under_way.key) == Decimal(-8)
    await world.store.close()
    databases.drop(url)


async def test_two_programs_are_left_only_when_both_ledgers_are_read_and_both_are_resumed(
    world: World, databases: Databases, tmp_path: Path
) -> None:
    from bot.partner.secret import Secret
    from storage.operators import programs

    async with world.store.begin() as tx:
        await programs.put(tx, "second", base_url=world.simulator.base_url, key=Secret(world.simulator.key))
    partners = {**world.core.partners, "second": world.core.partners["main"]}
    world.rebuild(partners=partners, live={"main": False, "second": False})
    await read_ledger(world)
    copy = await copied(world, tmp_path / "copy.db")
    url = await by_restore(world, copy, databases)
    await restart_on(world, url)

    await ledger_rules.compare(world.core, "main")
    with pytest.raises(NotFound, match="still reading the whole ledger"):
        await pausing.resume(world.core, BOB, ["main"])
    await ledger_rules.compare(world.core, "second")
    assert "has resumed" in await leave(world)
    assert await in_force(world), "the other program waits still"
    async with world.store.read() as tx:
        assert [one.program for one in await pauses.all(tx)] == ["second"]
    await pausing.resume(world.core, CAROL, ["second"])
    assert "same person" not in (await pausing.resume(world.core, BOB, ["second"]))[0]
    assert not await in_force(world)
    await world.store.close()
    databases.drop(url)


async def with_a_second_program(world: World, key: str) -> None:
    from bot.partner.client import PartnerClient
    from bot.partner.secret import Secret
    from storage.operators import programs

    async with world.store.begin() as tx:
        await programs.put(tx, "second", base_url=world.simulator.base_url, key=Secret(world.simulator.key))
    other = PartnerClient(world.simulator.base_url, key, limiter=world.limiter, clock=world.clock)
    world.rebuild(partners={**world.core.partners, "second": other}, live={"main": False, "second": False})


async def test_a_ledger_that_cannot_be_read_holds_the_others_for_an_hour_and_whoever_leaves_then_reads_which(
    world: World, databases: Databases, tmp_path: Path
) -> None:
    """A key that was withdrawn, or an API that is gone, would keep safe mode in force for all time."""
    await with_a_second_program(world, world.simulator.key[:-4] + "zzzz")
    copy = await copied(world, tmp_path / "copy.db")
    url = await by_restore(world, copy, databases)
    await restart_on(world, url)
    await read_ledger(world)
    await safe_mode.review(world.core)
    with pytest.raises(NotFound, match="Not read yet: second"):
        await pausing.resume(world.core, BOB, ["main"])

    await world.advance(3600)
    for program in ("main", "second"):
        await pausing.resume(world.core, BOB, [program])
        async with world.store.read() as tx:
            asked = await confirmations.open_one(tx, pausing.RESUME, program)
        assert asked is not None
        (question,) = [one for one in await open_alerts(world, "consent") if one.subject == asked.id]
        assert "The ledger of second was *not read*" in question.text
        await confirmation_answers.give(world.core, asked.id, CAROL)

    assert not await in_force(world)
    async with world.store.read() as tx:
        (accepted,) = [e async for e in audit.about(tx, "database") if e.action == "database.accepted"]
    assert '"not_read":["second"]' in accepted.body.replace(" ", "")
    await world.core.partners["second"].aclose()
    await world.store.close()
    databases.drop(url)


@pytest.mark.walk
@pytest.mark.parametrize("removed", ["before main is resumed", "after it"])
async def test_a_program_that_is_removed_in_safe_mode_keeps_nobody_in_it(
    world: World, databases: Databases, tmp_path: Path, removed: str
) -> None:
    from storage.operators import programs

    await with_a_second_program(world, world.simulator.key)
    copy = await copied(world, tmp_path / "copy.db")
    url = await by_restore(world, copy, databases)
    await restart_on(world, url)
    await read_ledger(world)
    await safe_mode.review(world.core)
    if removed == "after it":
        await leave(world)
        assert await in_force(world)

    async with world.store.begin() as tx:
        await programs.remove(tx, "second")
    other = world.core.partners["second"]
    world.rebuild(partners={"main": world.core.partners["main"]}, live={"main": False})
    await safe_mode.at_start(world.core)
    if removed == "before main is resumed":
        await leave(world)

    assert not await in_force(world)
    request = await world.top_up("5")
    await world.run_due()
    assert (await world.request(request.id)).state is State.SUCCEEDED
    await other.aclose()
    await world.store.close()
    databases.drop(url)


async def test_who_gets_one_time_codes_by_the_copy_is_listed(
    world: World, databases: Databases, tmp_path: Path
) -> None:
    async with world.store.begin() as tx:
        await recipient_rows.put(tx, "traveller-1", BOB)
    copy = await copied(world, tmp_path / "copy.db")
    await otp_recipients.unname(world.core, CAROL, "traveller-1")
    url = await by_restore(world, copy, databases)

    await restart_on(world, url)
    await safe_mode.at_start(world.core)

    (alert,) = await open_alerts(world, "older_copy")
    listed = await lines_of(world, alert)
    assert listed.count("traveller-1") == 1
    assert BOB in listed
    await world.store.close()
    databases.drop(url)


@pytest.mark.walk
@pytest.mark.parametrize("seed", [5, 8])
async def test_whatever_happens_before_a_restore_no_debit_since_the_copy_stays_unreported(
    world: World, databases: Databases, tmp_path: Path, seed: int
) -> None:
    """Debits of this installation and of others, readings, copies, restores of any copy, and leaving, in any order."""
    random = Random(seed)
    await read_ledger(world)
    foreign: dict[str, int] = {}  # when each was made, by its key
    copies = [(0, await copied(world, tmp_path / "0.db"))]
    urls, count = list[str](), 0

    async def step() -> None:
        nonlocal count
        count += 1
        match random.choice(["ours", "foreign", "read", "review", "copy", "restore", "leave"]):
            case "ours":
                await debit(world, count % 39 + 1)
            case "foreign":
                await debit(world, count % 39 + 1, key=f"elsewhere-{count}-")
                foreign[f"elsewhere-{count}-"] = count
            case "read":
                await ledger_rules.compare(world.core, "main")
            case "review":
                await safe_mode.review(world.core)
            case "copy":
                copies.append((count, await copied(world, tmp_path / f"{count}.db")))
            case "restore":
                await restored(random.choice(copies)[1])
            case "leave":
                with suppress(CountersignError):
                    await leave(world)

    async def restored(copy: Path) -> None:
        urls.append(await random.choice([by_restore, as_a_volume])(world, copy, databases))
        await restart_on(world, urls[-1])

    for _ in range(14):
        await world.advance(1)
        await step()
    made_at, copy = random.choice(copies)
    await world.advance(1)
    await debit(world, 7)
    await an_entry(world)
    await restored(copy)
    await ledger_rules.compare(world.core, "main")
    await safe_mode.review(world.core)

    (alert,) = await open_alerts(world, "older_copy")
    listed = await lines_of(world, alert)
    async with world.store.read() as tx:
        every_text = "\n".join((await tx.run(select(tables.alert.c.text))).scalars()) + listed
        lines = "\n".join((await tx.run(select(tables.alert_thread_line.c.text))).scalars())
    ledger = [entry async for entry in world.core.partners["main"].ledger_entries()]
    ours = [e.reference or "" for e in ledger if world.core.ids.made(ledger_text.key_in(e.reference))]
    assert ours
    assert [one for one in ours if one not in every_text + lines] == []
    assert [one for one in ours if listed.count(one) > 1] == []
    since = [key for key, at in foreign.items() if at > made_at]
    assert [key for key in since if key not in every_text] == []
    await leave(world)
    assert await restart_on(world, urls[-1]) is None
    await world.store.close()
    for url in urls:
        databases.drop(url)
