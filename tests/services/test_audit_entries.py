"""Going on record: what was refused is, with its reason, and leaves nothing else behind."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from bot.domain.errors import LookupFailed, NotAllowed, Stale
from bot.partner.secret import Secret
from bot.services import people, requests
from bot.services.audit import audited_refusal, record
from bot.services.execution import maintenance
from bot.services.people import Role
from bot.services.requests import approvals, batch_submission
from storage import audit
from storage.events import webhook_secrets
from tests.services.bulk_requests import a_list, ask_bulk, rows_of
from tests.services.outcome_steps import execute
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


async def on_record(world: World, subject: str) -> list[str]:
    """The actions about it, in order."""
    async with world.store.read() as tx:
        found = [entry async for entry in audit.entries(tx)]
    return [entry.action for entry in found if subject in entry.subject]


@pytest.mark.parametrize("how", ["rejected", "cancelled", "expired", "left out"])
async def test_every_state_a_row_of_a_batch_comes_to_is_on_record(world: World, how: str) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "11"))
    rows = await rows_of(world, batch)
    match how:
        case "rejected":
            await approvals.reject(world.core, batch.id, BOB, reason="not now")
        case "cancelled":
            await requests.cancel(world.core, batch.id, ALICE)
        case "expired":
            await world.advance(8 * 24 * 3600)
            await requests.expire_due(world.core)
        case _:
            await batch_submission.leave_out(world.core, batch.id, ALICE, {rows[0].id})
            rows = rows[:1]
    word = "cancelled" if how == "left out" else how
    for row in rows:
        assert (await world.request(row.id)).state == word
        assert f"request.{word}" in await on_record(world, row.id)


async def test_purged_details_and_swept_secrets_are_on_record(world: World) -> None:
    request = await world.top_up("50")
    await execute(world, request)
    async with world.store.begin() as tx:
        await tx.run(text(f"UPDATE request SET purged_at = NULL WHERE id = '{request.id}'"))
        for secret in ("whsec_one", "whsec_two"):
            await webhook_secrets.put(tx, "main", Secret(secret), previous_until=tx.now)
    await world.advance(60)

    await maintenance.purge(world.core)

    assert "request.purged" in await on_record(world, request.id)
    assert "webhook.secret_dropped" in await on_record(world, "program:main")
