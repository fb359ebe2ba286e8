"""Before each door at which people decide, somebody edits each field that was fixed when the request was made.

What gives something is refused then, and nothing is recorded; what only stops something goes on working.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import Executable, create_engine, delete, select, update

from bot.domain.errors import CountersignError, NotAllowed, PasskeyNeeded
from bot.domain.passkeys import Purpose
from bot.domain.people import KindPolicy
from bot.domain.people.policy import Tier
from bot.domain.requests import Request, State
from bot.domain.requests.terms import COVERED
from bot.partner.secret import Secret
from bot.services import requests
from bot.services.passkeys import links, page
from bot.services.passkeys.page_content import Page
from bot.services.requests import approvals, batch_submission
from storage import tables as t
from tests.services.bulk_requests import a_list, ask_bulk, rows_of
from tests.services.outcome_steps import processor
from tests.support.passkeys import Devices, everybody_has_one, with_passkeys
from tests.support.world import ALICE, BOB, CAROL, World, a_policy

pytestmark = pytest.mark.by_turns(4)

WORDS = {"verdict": "failed", "evidence": "Not in the ledger"}
Press = Callable[[], Awaitable[object]]


@dataclass
class Room:
    """A world in which everybody has a passkey, and the doors of it."""

    world: World
    devices: Devices

    def click(self) -> None:
        self.world.rebuild(policy=a_policy())

    def passkey(self) -> None:
        self.world.rebuild(policy=with_passkeys(a_policy()))

    async def link(self, request: Request, purpose: Purpose, by: str = BOB) -> Secret:
        terms = WORDS if purpose is Purpose.RESOLVE else None
        return await links.for_needed(self.world.core, PasskeyNeeded(purpose, request.id, terms), by)

    async def sign(self, shown: Page, by: str = BOB) -> object:
        answer = self.devices[by].answer(shown.options)
        return await page.finish(self.world.core, shown.token, answer)


@pytest.fixture
async def room(world: World) -> Room:
    return Room(world, await everybody_has_one(world))


def other(field: str, value: Any) -> Any:
    """Another value that the column can hold."""
    if field == "kind":
        return "card_unfreeze" if value == "card_freeze" else "card_freeze"
    if isinstance(value, Decimal):
        return value + Decimal("-1.00")
    if isinstance(value, datetime):
        return value + timedelta(seconds=1)
    if isinstance(value, dict):
        return {**value, "amount_usd": "1"}
    if isinstance(value, int):
        return value + 1
    return CAROL if field == "requester" else f"{value}x"


# Of these others than the fingerprint may say first that it cannot be.
_SAID_OTHERWISE = {"kind", "program", "requester", "rows", "parent_id", "subject"}
_FIELDS = sorted(COVERED - {"id"})
#: Who may stop a request, and whether it is a list, follow from these: see the tests of editing them.
_WHO_STOPS = {"rows", "parent_id", "requester"}


async def fields_of(world: World, request: Request) -> dict[str, Any]:
    async with world.store.read() as tx:
        found = (await tx.run(select(t.request).where(t.request.c.id == request.id))).mappings().one()
        return {name: found[name] for name in _FIELDS if found[name] is not None}


@asynccontextmanager
async def edited(world: World, request: Request, **values: Any) -> AsyncIterator[None]:
    before = {name: value for name, value in (await fields_of(world, request)).items() if name in values}
    write(world, update(t.request).where(t.request.c.id == request.id).values(values))
    try:
        yield
    finally:
        write(world, update(t.request).where(t.request.c.id == request.id).values(before))


def write(world: World, *statements: Executable) -> None:
    """By a connection of somebody else, which looks at no foreign keys."""
    engine = create_engine(f"sqlite:///{world.database}")
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(statement)
    engine.dispose()


async def recorded(world: World) -> list[Any]:
    """What would be otherwise if anything was decided."""
    async with world.store.read() as tx:
        made = (await tx.run(select(t.decision.c.id).order_by(t.decision.c.id))).all()
        states = select(t.request.c.id, t.request.c.state, t.request.c.digest).order_by(t.request.c.id)
        return [*made, *(await tx.run(states)).all()]


async def refused(world: World, request: Request, begin: Callable[[], Awaitable[Press]]) -> None:
    """Each field of `request` edited between `begin` and what it returns: refused, and nothing is on record."""
    before = await recorded(world)
    for field, value in (await fields_of(world, request)).items():
        press = await begin()
        async with edited(world, request, **{field: other(field, value)}):
            with pytest.raises(CountersignError) as refusal:
                await press()
        if field not in _SAID_OTHERWISE:
            assert getattr(refusal.value, "reason", "") == "terms_changed_outside", field
        assert await recorded(world) == before, field


Situation = Callable[[Room], Awaitable[Request]]


async def pending(room: Room) -> Request:
    return await room.world.top_up("50", approved=False)


async def pending_list(room: Room) -> Request:
    return await ask_bulk(room.world, a_list(room.world, "10", "11"))


async def done_at_once(room: Room) -> Request:
    request = await room.world.ask("card_freeze", {"card": room.world.cards[0]["id"]}, now=True)
    await room.world.run_due()
    return request


async def unresolved(room: Room) -> Request:
    request = await pending(room)
    await processor("5xx").set(room.world, "POST /cards/{cardId}/topup")
    await room.devices.approve(request)
    await room.world.run_due()
    return await room.world.request(request.id)


WHOLE: dict[str, tuple[Situation, Purpose]] = {
    "approve": (pending, Purpose.APPROVE),
    "approve a list": (pending_list, Purpose.APPROVE),
    "confirm": (done_at_once, Purpose.CONFIRM),
    "resolve": (unresolved, Purpose.RESOLVE),
}


async def resolve(world: World, request: Request) -> Request:
    return await approvals.resolve(
        world.core, request.id, BOB, verdict=WORDS["verdict"], evidence=WORDS["evidence"]
    )


def clicked(room: Room, request: Request, purpose: Purpose) -> Press:
    core = room.world.core
    match purpose:
        case Purpose.APPROVE:
            return lambda: room.world.approve(request)
        case Purpose.CONFIRM:
            return lambda: approvals.confirm(core, request.id, BOB)
        case _:
            return lambda: resolve(room.world, request)


@pytest.mark.parametrize("name", WHOLE)
async def test_a_click_decides_on_nothing_that_was_edited(room: Room, name: str) -> None:
    situation, purpose = WHOLE[name]
    request = await situation(room)
    room.click()

    async def begin() -> Press:
        return clicked(room, request, purpose)

    await refused(room.world, request, begin)


@pytest.mark.walk
@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("edited_before", ["the link is made", "the page opens", "the device has signed"])
async def test_a_passkey_decides_on_nothing_that_was_edited(
    room: Room, name: str, edited_before: str
) -> None:
    situation, purpose = WHOLE[name]
    request = await situation(room)
    room.passkey()

    async def begin() -> Press:
        if edited_before == "the link is made":
            return lambda: room.link(request, purpose)
        link = await room.link(request, purpose)
        if edited_before == "the page opens":
            return lambda: room.devices.open(link)
        shown = await room.devices.open(link)
        return lambda: room.sign(shown)

    await refused(room.world, request, begin)


async def test_the_window_of_an_approval_opens_for_nothing_that_was_edited(room: Room) -> None:
    request = await pending(room)

    async def begin() -> Press:
        return lambda: approvals.require_may_approve(room.world.core, request.id, BOB)

    await refused(room.world, request, begin)


async def test_rows_are_left_out_of_no_list_that_was_edited(room: Room) -> None:
    """What is left of it is signed again."""
    batch = await pending_list(room)
    rows = await rows_of(room.world, batch)

    async def begin() -> Press:
        return lambda: batch_submission.leave_out(room.world.core, batch.id, ALICE, [rows[0].id])

    await refused(room.world, batch, begin)
    await refused(room.world, rows[1], begin)


@pytest.fixture
async def unresolved_row(room: Room) -> Request:
    """Of a list whose total asks for a passkey, as none of its rows does."""
    tiers = (Tier(Decimal(15), 1, passkey=True),)
    room.world.rebuild(policy=replace(a_policy(), kinds={"card_topup": KindPolicy(tiers=tiers)}))
    batch = await pending_list(room)
    await processor("5xx").set(room.world, "POST /cards/{cardId}/topup")
    await room.devices.approve(batch)
    await room.world.run(20)
    return next(one for one in await rows_of(room.world, batch) if one.state is State.UNRESOLVED)


async def test_a_row_is_resolved_with_its_list_as_it_was_requested(
    room: Room, unresolved_row: Request
) -> None:
    world, row = room.world, unresolved_row
    batch = await world.request(row.parent_id or "")

    async def by_click() -> Press:
        return lambda: resolve(world, row)

    async def by_passkey() -> Press:
        shown = await room.devices.open(await room.link(row, Purpose.RESOLVE))
        return lambda: room.sign(shown)

    for begin in (by_click, by_passkey):
        for one in (row, batch):
            await refused(world, one, begin)


async def test_a_row_whose_list_was_deleted_is_not_resolved_by_a_click(
    room: Room, unresolved_row: Request
) -> None:
    world = room.world
    write(world, delete(t.request).where(t.request.c.id == unresolved_row.parent_id))

    with pytest.raises(NotAllowed) as refusal:
        await resolve(world, unresolved_row)

    assert refusal.value.reason == "terms_changed_outside"


@pytest.mark.by_turns(5)
@pytest.mark.parametrize("field", [one for one in _FIELDS if one not in _WHO_STOPS])
async def test_whatever_was_edited_stopping_works_as_long_as_nothing_was_sent(
    world: World, field: str
) -> None:
    request = await world.top_up("50", approved=False)
    second = await world.top_up("51", approved=False)
    value = (await fields_of(world, request))[field]
    async with edited(world, request, **{field: other(field, value)}):
        rejected = await approvals.reject(world.core, request.id, BOB, reason="Wrong card")
    value = (await fields_of(world, second))[field]
    async with edited(world, second, **{field: other(field, value)}):
        cancelled = await requests.cancel(world.core, second.id, ALICE)

    assert (rejected.state, cancelled.state) == (State.REJECTED, State.CANCELLED)
