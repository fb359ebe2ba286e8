"""A delegate decides in an approver's place for a while, and never makes one approver into two."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.domain.errors import AlreadyDecided, NotAllowed
from bot.domain.people import Actor, Delegation, KindPolicy
from bot.domain.people.policy import Tier
from bot.domain.requests import State
from bot.services.execution import presend_checks
from bot.services.requests import approvals
from tests.services.outcome_steps import execute, keys_sent
from tests.support.world import ALICE, BOB, CAROL, HOME, World, a_policy, a_world

DORA = "U0DORA"
LASTS = timedelta(days=2)


@pytest.fixture
async def away(tmp_path: Path) -> AsyncIterator[World]:
    """Bob is away for two days and Dora, who is no approver, decides in his place."""
    async with a_world(tmp_path, policy=a_policy()) as world:
        now = world.clock.now()
        world.people.actors[DORA] = Actor(DORA, "Dora", team_id=HOME)
        world.people.groups["@bob"] = {BOB}
        delegation = Delegation("@bob", DORA, now - timedelta(hours=1), now + LASTS, "on leave")
        kinds = {"card_topup": KindPolicy(tiers=(Tier(Decimal(100), 2),))}
        policy = replace(a_policy(), kinds=kinds, delegations=(delegation,))
        world.rebuild(policy=policy)
        yield world


async def test_a_delegate_approves_within_the_period_and_the_audit_says_in_whose_place(away: World) -> None:
    request = await away.top_up("50", approved=False)

    approved, _ = await away.approve(request, by=DORA)
    done = await execute(away, approved)

    assert done.state is State.SUCCEEDED
    async with away.store.read() as tx:
        rows = (await tx.run(text("SELECT body FROM audit WHERE action = 'request.approval'"))).all()
    assert [row for row in rows if f'"in_place_of":["{BOB}"]' in row[0]]


async def test_outside_the_period_a_delegate_decides_nothing(away: World) -> None:
    await away.advance(LASTS.total_seconds())
    request = await away.top_up("50", approved=False)

    with pytest.raises(NotAllowed, match="may decide"):
        await away.approve(request, by=DORA)


async def test_a_delegate_may_not_approve_what_their_delegator_asked_for_nor_the_other_way_round(
    away: World,
) -> None:
    card = away.cards[0]["id"]
    for requester, other in ((BOB, DORA), (DORA, BOB)):
        request = await away.ask("card_topup", {"card": card, "amount_usd": "50"}, by=requester)

        with pytest.raises(NotAllowed, match="linked by a delegation"):
            await away.approve(request, by=other)

        approved, _ = await away.approve(request, by=CAROL)
        assert approved.state is State.APPROVED


async def test_a_delegate_and_their_delegator_give_one_approval_between_them(away: World) -> None:
    request = await away.top_up("150", approved=False)
    await away.approve(request, by=BOB)
    current = await away.request(request.id)

    with pytest.raises(AlreadyDecided, match="one person with you"):
        await away.approve(current, by=DORA)

    assert (await away.request(request.id)).state is State.PENDING
    approved, _ = await away.approve(current, by=CAROL)
    assert approved.state is State.APPROVED


async def test_a_delegation_that_ends_before_the_sending_takes_its_approval_with_it(away: World) -> None:
    await away.advance(LASTS.total_seconds() - 5)
    request = await away.top_up("50", approved=False)
    await away.approve(request, by=DORA)

    await away.advance(10)
    done = await execute(away, request)

    assert done.state is State.CANCELLED
    assert "no longer an approver" in done.outcome_text
    assert keys_sent(away) == []


async def test_two_approvals_that_became_one_persons_are_not_enough_to_send(away: World) -> None:
    """Approved by Bob and Dora as approvers both; then Dora leaves the group and stands in for Bob."""
    policy = away.core.policy
    away.people.groups["@card-approvers"].add(DORA)
    request = await away.top_up("150", approved=False)
    await away.approve(request, by=BOB)
    approved, _ = await away.approve(await away.request(request.id), by=DORA)
    assert approved.state is State.APPROVED

    away.people.groups["@card-approvers"].discard(DORA)
    await away.advance(presend_checks.PEOPLE_GOOD_FOR_S)
    assert policy.delegations[0].in_force(away.clock.now())
    done = await execute(away, approved)

    assert done.state is State.CANCELLED
    assert "count as one person" in done.outcome_text
    assert keys_sent(away) == []


async def test_a_freeze_at_once_is_not_confirmed_by_ones_delegate(away: World) -> None:
    request = await away.ask("card_freeze", {"card": away.cards[0]["id"]}, by=BOB, now=True)
    await execute(away, request)

    with pytest.raises(NotAllowed, match="linked by a delegation"):
        await approvals.confirm(away.core, request.id, DORA)

    await approvals.confirm(away.core, request.id, CAROL)


async def test_a_delegate_is_no_admin(away: World) -> None:
    from bot.services import people

    away.rebuild(policy=replace(away.core.policy, people=replace(away.core.policy.people, admins=())))

    assert DORA not in await people.admins(away.core)
    assert DORA in await people.approvers(away.core)
    assert ALICE not in await people.approvers(away.core)
