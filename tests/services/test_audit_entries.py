"""Going on record: what was refused is, with its reason, and leaves nothing else behind."""

from __future__ import annotations

import pytest

from bot.domain.errors import LookupFailed, NotAllowed, Stale
from bot.services import people
from bot.services.audit import audited_refusal, record
from bot.services.people import Role
from storage import audit
from tests.support.world import ALICE, BOB, CAROL, World

Line = tuple[str, str, str, str, str]


async def lines(world: World) -> list[Line]:
    """(actor, action, subject, outcome, reason) of everything on record about tests."""
    async with world.store.read() as tx:
        found = [entry async for entry in audit.entries(tx) if entry.action.startswith("test.")]
    assert all(entry.policy_version == "test-policy" for entry in found)
    return [(e.actor, e.action, e.subject, e.outcome, e.reason_code) for e in found]


async def test_what_is_refused_is_on_record_and_what_was_done_before_it_is_not(world: World) -> None:
    async def done_too_late() -> None:
        async with audited_refusal(world.core, ALICE, "test.do", "thing:1"), world.store.begin() as tx:
            await record(tx, world.core, ALICE, "test.did", "thing:1")
            raise Stale("too late")

    with pytest.raises(Stale, match="too late"):
        await done_too_late()

    assert await lines(world) == [(ALICE, "test.do", "thing:1", "refused", "stale")]


async def test_what_is_done_is_on_record_and_what_is_no_refusal_is_not(world: World) -> None:
    async with audited_refusal(world.core, ALICE, "test.do"), world.store.begin() as tx:
        await record(tx, world.core, ALICE, "test.did", "thing:1", reason_code="why")
    for error in (ValueError("broken"), Stale("too late")):
        with pytest.raises(type(error)):
            async with audited_refusal(world.core, ALICE, "test.do", of=NotAllowed):
                raise error

    assert await lines(world) == [(ALICE, "test.did", "thing:1", "ok", "why")]


async def test_a_reason_may_be_said_where_the_error_has_none(world: World) -> None:
    with pytest.raises(ValueError, match="line 3"):
        async with audited_refusal(world.core, ALICE, "test.do", of=ValueError, reason="invalid_list"):
            raise ValueError("line 3")

    assert await lines(world) == [(ALICE, "test.do", "", "refused", "invalid_list")]


@pytest.mark.parametrize(("role", "may"), [(Role.ADMIN, {CAROL}), (Role.APPROVER_OR_ADMIN, {BOB, CAROL})])
async def test_who_has_a_role_may_and_every_refusal_is_on_record_once(
    world: World, role: Role, may: set[str]
) -> None:
    refusal = NotAllowed("Not for you.", "not_one")
    world.people.change(ALICE, is_restricted=True)

    for person in (ALICE, BOB, CAROL):
        try:
            actor = await people.require_role(
                world.core, person, role, refusal, action="test.do", subject="s"
            )
            assert actor.id in may
        except NotAllowed:
            assert person not in may

    said = {ALICE: "guest", BOB: "not_one"}
    refused = [(p, "test.do", "s", "refused", said[p]) for p in (ALICE, BOB) if p not in may]
    assert await lines(world) == refused


async def test_that_slack_does_not_answer_is_not_held_against_the_person(world: World) -> None:
    world.people.broken = True

    with pytest.raises(LookupFailed):
        await people.require_role(world.core, BOB, Role.ADMIN, NotAllowed("No.", "no"), action="test.do")

    assert await lines(world) == []
