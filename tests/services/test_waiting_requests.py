"""What waits costs little: people are looked up once for all that wait, and what is stopped costs nothing at all."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from sqlalchemy import text

from bot.domain.people import Actor, Delegation
from bot.domain.requests import State
from bot.services import execution, people
from bot.services.execution import presend_checks
from bot.services.operators import pausing
from tests.services.outcome_steps import execute
from tests.support.world import ALICE, BOB, CAROL, World


class Counted:
    """How often Slack was asked for its groups, and for accounts."""

    def __init__(self, world: World) -> None:
        self.groups = self.accounts = 0
        each, actor = world.people.each, world.people.answer

        async def counted_each(lists: object) -> object:
            self.groups += 1
            return await each(lists)  # type: ignore[arg-type]

        async def counted_actor(slack_id: str) -> Actor:
            self.accounts += 1
            return await actor(slack_id)

        world.people.each = counted_each  # type: ignore[method-assign,assignment]
        world.people.asked = counted_actor


async def test_waiting_requests_share_one_look_at_slack_and_take_six_a_minute_at_most(world: World) -> None:
    now = world.clock.now()
    away = Delegation(BOB, ALICE, now, now + timedelta(days=1), "on leave")
    world.rebuild(policy=replace(world.core.policy, delegations=(away,)))
    waiting = [await world.ask("card_freeze", {"card": card["id"]}) for card in world.cards[:4]]
    for request in waiting:
        await world.approve(request, by=CAROL)
    world.people.broken = True
    asked = Counted(world)

    for _ in range(12):
        await world.run_due()
        await world.advance(5)
    assert asked.groups <= 6

    world.people.broken = False
    await world.advance(5)
    await world.run_due()
    assert asked.groups <= 7
    assert asked.accounts <= 2
    assert {(await world.request(r.id)).state for r in waiting} == {State.SUCCEEDED}


async def test_a_click_is_checked_live_whatever_was_seen_for_those_that_wait(world: World) -> None:
    """Who clicked and who asked for each click; the groups by one look for all who click within three seconds."""
    first, second = await world.top_up("50"), await world.top_up("60", approved=False, card=1)
    third = await world.top_up("70", approved=False, card=2)
    await execute(world, first)
    await world.advance(people.DECIDED_WITHIN_S)
    asked = Counted(world)

    await world.approve(second)
    assert (asked.groups, asked.accounts) == (1, 2)
    await world.advance(people.DECIDED_WITHIN_S - 1)
    await world.approve(third)
    assert (asked.groups, asked.accounts) == (1, 4)


async def test_who_lost_the_right_to_approve_a_moment_ago_is_seen_within_fifteen_seconds(
    world: World,
) -> None:
    first, second = await world.top_up("50"), await world.top_up("60", card=1)
    assert (await execute(world, first)).state is State.SUCCEEDED
    world.people.groups["@card-approvers"].discard(BOB)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)

    stopped = await execute(world, second)

    assert stopped.state is State.CANCELLED
    assert "no longer an approver" in stopped.outcome_text


async def a_thousand_approved(world: World) -> None:
    """One approved request, a thousand times."""
    request = await world.top_up("50")
    async with world.store.begin() as tx:
        columns = [str(row.name) for row in (await tx.run(text("PRAGMA table_info(request)"))).all()]
        copied = ", ".join(f"'R-N' || n || '-' || {c}" if c in ("id", "key") else c for c in columns)
        numbers = "WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 999)"
        await tx.run(
            text(
                f"{numbers} INSERT INTO request ({', '.join(columns)}) SELECT {copied} FROM request, counted"
                f" WHERE id = '{request.id}'"
            )
        )


async def test_a_thousand_paused_requests_are_in_no_queue_and_come_back_with_the_resume(world: World) -> None:
    await a_thousand_approved(world)
    await pausing.pause(world.core, BOB, ["main"], "the key may be stolen")
    assert not any(queue.ids for queue in await execution.due(world.core))

    await pausing.resume(world.core, BOB, ["main"])
    await pausing.resume(world.core, CAROL, ["main"])
    assert any(queue.ids for queue in await execution.due(world.core))


async def test_after_the_end_was_asked_for_nothing_new_is_claimed(world: World) -> None:
    request = await world.top_up("50")
    world.rebuild(crash_point=lambda point: world.core.closing.set() if "before_claim" in point else None)

    after = await execute(world, request)

    assert after.state is State.APPROVED
    assert await world.attempts(request.id) == []
