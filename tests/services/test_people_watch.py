"""Who may approve is watched: a change is on the audit chain and in the alerts channel, with names, and may settle."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text, update

from bot import startup
from bot.domain.errors import NotAllowed
from bot.domain.people import Actor, Limits, policy
from bot.domain.requests import State
from bot.services import people
from bot.services.execution import maintenance
from storage import audit
from storage import tables as t
from storage.errors import LogNotWhole
from tests.services.outcome_steps import execute
from tests.support.world import ALICE, BOB, CAROL, HOME, World, a_policy, a_world

DAVE = "U0DAVE"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """Dave is a member and no approver; who may approve has been recorded once."""
    async with a_world(tmp_path) as made:
        made.people.actors[DAVE] = Actor(DAVE, "Dave", team_id=HOME)
        await maintenance.check_policy(made.core)
        yield made


def _settling(world: World, span: timedelta = timedelta(hours=1)) -> None:
    known = world.core.policy
    world.rebuild(policy=replace(known, people=replace(known.people, settle=span)))


async def _entries(world: World, action: str) -> list[dict[str, Any]]:
    async with world.store.read() as tx:
        return [json.loads(e.body) async for e in audit.entries(tx) if e.action == action]


async def _alerts(world: World, kind: str) -> list[str]:
    async with world.store.read() as tx:
        found = await tx.run(text("SELECT text FROM alert WHERE kind = :kind ORDER BY id"), {"kind": kind})
        return list(found.scalars())


async def test_who_may_approve_is_on_record_from_the_first_start_and_nobody_is_notified_of_it(
    world: World,
) -> None:
    (first, admins) = await _entries(world, "people.recorded")

    assert first["now"] == [BOB, CAROL]
    assert admins["now"] == [CAROL]
    assert await _alerts(world, "people_changed") == []


async def test_a_new_approver_is_on_the_audit_chain_and_in_an_alert_by_name(world: World) -> None:
    world.people.groups["@card-approvers"] |= {DAVE}
    world.people.groups["@card-approvers"] -= {CAROL}

    await maintenance.check_policy(world.core)
    await maintenance.check_policy(world.core)

    (entry,) = await _entries(world, "people.changed")
    assert entry == {"now": [BOB, DAVE], "added": {DAVE: "Dave"}, "removed": {CAROL: "Carol"}}
    (said,) = await _alerts(world, "people_changed")
    assert "Added: Dave. Removed: Carol." in said


async def test_a_new_approver_is_on_record_before_their_first_approval_counts(world: World) -> None:
    request = await world.top_up("50", approved=False)
    world.people.groups["@card-approvers"] |= {DAVE}

    await world.approve(request, by=DAVE)

    async with world.store.read() as tx:
        actions = [e.action async for e in audit.entries(tx)]
    assert actions.index("people.changed") < actions.index("request.approval")


async def test_a_change_of_the_admins_is_an_alert_too(world: World) -> None:
    world.people.groups["@card-admins"] |= {DAVE}

    await maintenance.check_policy(world.core)

    assert any("Admins now: Carol, Dave" in said for said in await _alerts(world, "people_changed"))


async def test_with_settle_a_new_approver_counts_only_after_that_time(world: World) -> None:
    _settling(world)
    world.people.groups["@card-approvers"] |= {DAVE}
    request = await world.top_up("50", approved=False)

    with pytest.raises(NotAllowed, match="less than 60 minutes"):
        await world.approve(request, by=DAVE)
    await world.advance(3590)
    with pytest.raises(NotAllowed, match="less than 60 minutes"):
        await world.approve(request, by=DAVE)
    await world.advance(20)

    assert (await world.approve(request, by=DAVE))[0].state is State.APPROVED


async def test_who_was_an_approver_before_decides_at_once_also_with_settle(world: World) -> None:
    _settling(world)
    approved = await world.top_up("50")

    assert (await execute(world, approved)).state is State.SUCCEEDED


async def test_who_comes_back_into_the_group_settles_once_more(world: World) -> None:
    _settling(world)
    world.people.groups["@card-approvers"] -= {CAROL}
    await maintenance.check_policy(world.core)
    world.people.groups["@card-approvers"] |= {CAROL}
    await maintenance.check_policy(world.core)

    assert CAROL not in (await people.standing(world.core)).approvers


async def test_an_entry_that_somebody_wrote_into_the_database_settles_nobody(world: World) -> None:
    _settling(world)
    world.people.groups["@card-approvers"] |= {DAVE}
    await maintenance.check_policy(world.core)
    async with world.store.begin() as tx:
        await tx.run(text("DROP TRIGGER audit_no_update"))
        changed = t.audit.c.action == "people.changed"
        await tx.run(update(t.audit).where(changed).values(at=tx.now - timedelta(days=9)))

    with pytest.raises(LogNotWhole):
        await people.standing(world.core)


async def test_a_changed_policy_is_on_record_and_in_an_alert_with_what_has_changed(world: World) -> None:
    await startup.note_start(world.core)
    known = world.core.policy
    more = policy.People(approvers=("@card-approvers", "@alice"), admins=("@card-admins",))
    world.rebuild(policy=replace(known, version="another", people=more, limits=Limits()))

    await startup.note_start(world.core)
    await startup.note_start(world.core)

    (entry,) = await _entries(world, "policy.changed")
    assert "people.approvers: was @card-approvers, is @card-approvers, @alice." in entry["changes"]
    assert "limits.total_usd: was 20000 USD, is no limit." in entry["changes"]
    (said,) = await _alerts(world, "policy_changed")
    assert "is @card-approvers, @alice" in said


async def test_the_same_policy_at_the_next_start_is_no_news(world: World) -> None:
    await startup.note_start(world.core)
    await startup.note_start(world.core)

    assert await _alerts(world, "policy_changed") == []


def test_every_setting_of_who_decides_is_compared() -> None:
    described = policy.described(a_policy())

    for name in policy.People.__slots__:
        assert f"people.{name}" in described
    for name in policy.Limits.__slots__:
        assert f"limits.{name}" in described
    for name in set(policy.KindPolicy.__slots__) - {"call"}:
        assert f"policy.card_topup.{name}" in described
    assert ALICE not in str(described)
