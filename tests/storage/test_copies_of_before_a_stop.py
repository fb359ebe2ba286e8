"""An older copy of the database is known by its anchors, whatever was stopped since it was made, within a second."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, NoReturn

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError

from bot.domain.people import APPROVAL_VALID_FOR
from bot.domain.requests import OPEN, Request, State
from bot.services import audit, audit_anchors
from bot.services.anchor_places import AnchorPlaces
from bot.services.operators import draft_only, pausing
from bot.services.requests import approvals, batch_submission, lifecycle
from storage import audit as audit_rows
from storage import tables as t
from storage.errors import DatabaseUnreachable
from storage.maintenance import back_up
from storage.transaction import Tx
from tests.services.bulk_requests import rows_of
from tests.services.outcome_steps import TOPUP, Fault, execute, processor, status
from tests.storage.restores import VAULT, put_in_place, restart_on
from tests.storage.test_copies_of_lists import approve as approve_list
from tests.storage.test_copies_of_lists import pending as a_list
from tests.storage.test_restores_at_odd_times import in_force, read_ledger
from tests.support.databases import Databases
from tests.support.waiting import eventually
from tests.support.world import ALICE, BOB, CAROL, World, a_policy, a_world

pytestmark = pytest.mark.by_turns(3)

COOL_OFF = timedelta(minutes=10)


@pytest.fixture
async def world(tmp_path: Path, own_url: str) -> AsyncIterator[World]:
    """With anchors, of which the timer of a quarter of an hour and of a hundred entries writes none in this test."""
    async with a_world(tmp_path, url=own_url) as world:
        policy = a_policy()
        top_ups = replace(policy.kinds["card_topup"], cool_off=COOL_OFF)
        anchors = AnchorPlaces([tmp_path / "anchors"])
        world.rebuild(policy=replace(policy, kinds={**policy.kinds, "card_topup": top_ups}), anchors=anchors)
        await read_ledger(world)
        yield world
        await world.store.close()


async def approved(world: World) -> Request:
    return await world.top_up("44")


async def waits(world: World) -> Request:
    return await world.top_up("44", approved=False)


async def under_way(world: World) -> Request:
    """It was refused once, and is to be sent again."""
    request = await approved(world)
    await _answer(world, request, status(429, "RATE_LIMITED"))
    await world.advance(61)  # the API takes calls again
    return await world.request(request.id)


async def in_doubt(world: World) -> Request:
    request = await approved(world)
    await world.advance(COOL_OFF.total_seconds() + 1)
    await processor("5xx").set(world, TOPUP)
    return await execute(world, request)


async def an_approved_list(world: World) -> Request:
    batch = await a_list(world)
    await approve_list(world, batch)
    return batch


async def _cancel(world: World, request: Request) -> None:
    await lifecycle.cancel(world.core, request.id, ALICE)


async def _reject(world: World, request: Request) -> None:
    await approvals.reject(world.core, request.id, CAROL, reason="it is wrong")


async def _run_out(world: World, request: Request) -> None:
    await world.advance((APPROVAL_VALID_FOR + COOL_OFF).total_seconds() + 1)
    assert await lifecycle.expire_due(world.core) == 1


async def _run_out_paused(world: World, request: Request) -> None:
    await pausing.pause(world.core, BOB, ["main"], "")
    await _run_out(world, request)


async def _refuse(world: World, request: Request) -> None:
    await _answer(world, request, status(400, "BAD_REQUEST"))
    assert (await world.request(request.id)).state is State.FAILED


async def _call_it_failed(world: World, request: Request) -> None:
    for who in (BOB, CAROL):
        await approvals.resolve(world.core, request.id, who, verdict="failed", evidence="I looked")
    assert (await world.request(request.id)).state is State.FAILED


async def _leave_out(world: World, request: Request) -> None:
    row = (await rows_of(world, request))[0]
    await batch_submission.leave_out(world.core, request.id, ALICE, [row.id])


async def _pause(world: World, request: Request) -> None:
    await pausing.pause(world.core, BOB, ["main"], "")


async def _refuse_the_key(world: World, request: Request) -> None:
    await _answer(world, request, status(401, "UNAUTHORIZED"))


async def _hold_an_endpoint(world: World, request: Request) -> None:
    await _answer(world, request, status(403, "FORBIDDEN"))


async def _answer(world: World, request: Request, answer: Fault) -> None:
    await world.advance(COOL_OFF.total_seconds() + 1)
    await answer.set(world, TOPUP, times=1)
    await execute(world, request)


async def _drafts_only(world: World, request: Request) -> None:
    await draft_only.at_start(world.core, is_on=True)


Begins = Callable[[World], Awaitable[Request]]
Stops = Callable[[World, Request], Awaitable[None]]
#: Each way in which what was approved, or could be sent, is not to be sent any more, and what the log
#: calls it.
STOPS: dict[str, tuple[Begins, Stops, str]] = {
    "cancelled by the requester": (approved, _cancel, "request.cancelled"),
    "stopped by an approver": (approved, _reject, "request.cancelled"),
    "rejected": (waits, _reject, "request.rejected"),
    "withdrawn while it was tried": (under_way, _cancel, "request.failed"),
    "its approval ran out": (approved, _run_out, "request.expired"),
    "its approval ran out in a pause": (approved, _run_out_paused, "request.expired"),
    "refused by the API": (approved, _refuse, "request.outcome"),
    "called failed by two people": (in_doubt, _call_it_failed, "request.resolved_by_hand"),
    "a list cancelled": (an_approved_list, _cancel, "request.stopped"),
    "a list stopped by an approver": (an_approved_list, _reject, "request.stopped"),
    "a row of a list left out": (a_list, _leave_out, "request.rows_left_out"),
    "the program paused": (approved, _pause, "program.write_paused"),
    "the key refused": (approved, _refuse_the_key, "program.paused"),
    "an endpoint held": (approved, _hold_an_endpoint, "endpoint.held"),
    "drafts only": (approved, _drafts_only, "program.drafts_on"),
}


@pytest.mark.walk
@pytest.mark.parametrize("stop", STOPS)
async def test_a_copy_of_before_any_stop_is_known_by_its_anchors_a_second_later(
    world: World, databases: Databases, tmp_path: Path, stop: str
) -> None:
    begin, end, action = STOPS[stop]
    request = await begin(world)
    await audit_anchors.drop(world.core)
    # A dump, or a snapshot of the disk.
    await back_up(
        world.store.database.url.render_as_string(hide_password=False),
        tmp_path / "copy.db",
        vault=VAULT,
        clock=world.clock,
    )
    loop = asyncio.create_task(audit_anchors.drop_at_stops(world.core))
    await end(world, request)
    debited = await world.debits(request.key)

    async def is_out() -> bool:
        async with world.store.read() as tx:
            newest = await tx.run(select(func.max(t.audit.c.seq)).where(t.audit.c.action == action))
            return (await world.core.anchors.read())[-1].seq >= int(newest.scalar_one())

    await eventually("an anchor of the stop", is_out, within_s=3)
    loop.cancel()
    with suppress(asyncio.CancelledError):
        await loop

    # Killed; the copy is put in its place.
    url = await put_in_place(tmp_path / "copy.db", databases)
    assert await restart_on(world, url) is not None
    assert await in_force(world)
    await world.advance(COOL_OFF.total_seconds() + 1)
    await world.run_due()
    assert await world.debits(request.key) == debited
    databases.drop(url)


def test_every_end_without_success_is_a_stop() -> None:
    assert set(State) - OPEN - {State.SUCCEEDED} == audit._STOPPED


async def test_stops_that_follow_each_other_have_one_anchor(world: World, tmp_path: Path) -> None:
    requests = [await world.top_up("5", card=n % 3) for n in range(8)]
    await audit_anchors.drop(world.core)
    before = len((tmp_path / "anchors").read_text().splitlines())
    loop = asyncio.create_task(audit_anchors.drop_at_stops(world.core))

    for request in requests:
        await _cancel(world, request)

    await eventually("an anchor has it", lambda: not world.core.anchors.due.is_set(), within_s=3)
    loop.cancel()
    assert len((tmp_path / "anchors").read_text().splitlines()) - before in (1, 2)


async def test_a_place_that_was_away_gets_the_anchor_when_it_is_back(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_anchors, "_TRIED_AGAIN_S", 0.05)
    monkeypatch.setattr(audit_anchors, "_APART_S", 0.01)
    away = tmp_path / "mounted" / "anchors"
    world.rebuild(anchors=AnchorPlaces([tmp_path / "anchors", away]))
    request = await approved(world)
    loop = asyncio.create_task(audit_anchors.drop_at_stops(world.core))
    await _cancel(world, request)
    await eventually("it has failed", lambda: world.core.anchors.behind)

    away.parent.mkdir()

    await eventually("it has the anchor", away.exists)
    await eventually("nothing is behind", lambda: not world.core.anchors.behind)
    loop.cancel()
    assert away.read_text() == (tmp_path / "anchors").read_text()


async def test_a_stop_whose_anchor_could_not_be_made_has_it_when_the_database_answers_again(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = await approved(world)
    await _cancel(world, request)
    with monkeypatch.context() as patched:
        patched.setattr(audit_rows, "anchor", _unreachable)
        with pytest.raises(DatabaseUnreachable):
            await audit_anchors.drop(world.core)

    loop = asyncio.create_task(audit_anchors.drop_at_stops(world.core))

    async def is_out() -> bool:
        async with world.store.read() as tx:
            end = await audit_rows.head(tx)
        return [one.seq for one in await world.core.anchors.read()][-1:] == [end.seq]

    await eventually("an anchor has it", is_out, within_s=3)
    loop.cancel()


async def _unreachable(tx: Tx) -> NoReturn:
    raise DatabaseUnreachable("It does not answer.")


class LosesAnAnswer:
    """A writer of which the first commit with an entry of this action is stored, `later_s` after its connection broke.
    What it holds it holds until then."""

    def __init__(self, writer: Any, action: str, later_s: float) -> None:
        self.writer, self.action, self.later_s = writer, action, later_s
        self.stored: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[Any]:
        begun = self.writer.begin()
        connection = await begun.__aenter__()
        try:
            yield connection
            made = await connection.execute(select(t.audit.c.seq).where(t.audit.c.action == self.action))
            loses = self.stored is None and made.first() is not None
        except BaseException as error:
            await begun.__aexit__(type(error), error, error.__traceback__)
            raise
        if not loses:
            await begun.__aexit__(None, None, None)
            return
        self.stored = asyncio.create_task(self._store(begun))
        if not self.later_s:
            await self.stored
        raise OperationalError("COMMIT", {}, ConnectionError("the connection is lost"))

    async def _store(self, begun: Any) -> None:
        await asyncio.sleep(self.later_s)
        await begun.__aexit__(None, None, None)


@pytest.mark.parametrize("later_s", [0, 0.5], ids=["stored", "stored a moment later"])
@pytest.mark.parametrize("stop", ["cancelled by the requester", "the program paused"])
async def test_a_stop_whose_commit_is_not_answered_has_its_anchor(
    world: World, monkeypatch: pytest.MonkeyPatch, stop: str, later_s: float
) -> None:
    monkeypatch.setattr(audit_anchors, "_APART_S", 0.01)
    begin, end, action = STOPS[stop]
    request = await begin(world)
    await audit_anchors.drop(world.core)
    loop = asyncio.create_task(audit_anchors.drop_at_stops(world.core))
    loses = LosesAnAnswer(world.store._writer, action, later_s)
    with monkeypatch.context() as patched:
        patched.setattr(world.store, "_writer", loses)
        with pytest.raises(OperationalError):
            await end(world, request)

    async def is_out() -> bool:
        async with world.store.read() as tx:
            newest = await tx.run(select(func.max(t.audit.c.seq)).where(t.audit.c.action == action))
            made = newest.scalar_one()
            return made is not None and (await world.core.anchors.read())[-1].seq >= int(made)

    await eventually("an anchor of the stop", is_out, within_s=3)
    loop.cancel()


async def test_what_was_not_stored_for_sure_asks_for_no_anchor(world: World) -> None:
    async def refused() -> None:
        async with world.store.begin() as tx:
            await audit.record(tx, world.core, BOB, "program.write_paused", "program:main")
            raise ValueError("refused")

    with pytest.raises(ValueError, match="refused"):
        await refused()
    assert not world.core.anchors.due.is_set()
