"""A clock that steps back or forth between decisions is a clock, and no hand in the database."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest

from bot.domain.people import KindPolicy, Limits
from bot.domain.requests import State
from bot.services.messages import Outbox, SlackTrouble, waiting
from bot.services.processes import ghost_leases
from storage.messages import outbox as rows
from tests.services.bulk_requests import a_list, ask_bulk, states_of
from tests.services.outcome_steps import alert_kinds, execute, keys_sent
from tests.services.scripted_slack import ScriptedSlack
from tests.support.world import BOB, CAROL, World, a_policy

STEPS_S = (-90.0, -5.0, -0.001, 0.0, 0.001, 5.0, 90.0)


def _two_approvals(world: World) -> None:
    policy = replace(a_policy(), kinds={"card_topup": KindPolicy(approvals=2)}, limits=Limits())
    world.rebuild(policy=policy)


async def test_a_clock_that_steps_back_between_two_approvals_is_not_tampering(world: World) -> None:
    _two_approvals(world)
    request = await world.top_up("10")
    world.clock.advance(-5)
    approved, _ = await world.approve(request, by=CAROL)

    assert (await execute(world, approved)).state is State.SUCCEEDED
    assert await alert_kinds(world) == set()


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_way_the_clock_steps_between_decisions_what_was_approved_is_sent_once(
    world: World, seed: int
) -> None:
    _two_approvals(world)
    drawn = random.Random(seed)
    for nth in range(8):
        request = await world.top_up("1", card=nth % len(world.cards), approved=False)
        for person in drawn.sample([BOB, CAROL], 2):
            world.clock.advance(drawn.choice(STEPS_S))
            request, _ = await world.approve(request, by=person)
        world.clock.advance(drawn.choice(STEPS_S))
        world.clock.advance(120)  # whatever the steps were, it is due

        assert (await execute(world, request)).state is State.SUCCEEDED
        assert keys_sent(world).count(request.key) == 1
    assert await alert_kinds(world) == set()


async def test_rows_of_a_batch_are_sent_when_the_clock_stepped_back_between_its_approvals(
    world: World,
) -> None:
    _two_approvals(world)
    batch = await ask_bulk(world, a_list(world, "1", "2"))
    await world.approve(batch, by=BOB)
    world.clock.advance(-5)
    await world.approve(batch, by=CAROL)
    await world.run(10)

    assert await states_of(world, batch) == {State.SUCCEEDED: 2}


@pytest.mark.parametrize("fast_s", [600, 3600, 86_400])
@pytest.mark.parametrize("cut_off", [False, True], ids=["refused", "cut off"])
@pytest.mark.parametrize("at_once", [False, True], ids=["tried again then", "first tried then"])
async def test_messages_that_a_fast_clock_put_off_arrive_soon_after_it_is_set_right(
    world: World, fast_s: int, cut_off: bool, at_once: bool
) -> None:
    slack = ScriptedSlack(all_closed=SlackTrouble("no answer", maybe_sent=cut_off))
    outbox = Outbox(world.core, slack)
    if at_once:
        world.clock.set_wrong(fast_s)
    await world.top_up(approved=False)
    await outbox.deliver_due()
    if not at_once:
        world.clock.set_wrong(fast_s)
        world.clock.advance(10)
        await outbox.heal()
        await outbox.deliver_due()

    world.clock.set_wrong(-fast_s)
    slack.all_closed = None
    for _ in range(30):
        world.clock.advance(5)
        await waiting.watch(world.core)
        await outbox.heal()
        await outbox.deliver_due()

    shown = [message.shows for message in slack.messages if message.channel == "C0APPROVALS"]
    assert len(shown) == 1, shown


async def test_what_waits_for_the_end_of_the_quiet_hours_goes_on_waiting(world: World) -> None:
    """It is due hours ahead by a clock that is right, and was not tried."""
    async with world.store.begin() as tx:
        due_at = tx.now + timedelta(hours=8)
        await rows.put(
            tx, channel="C0ALERTS", kind="alert", subject="alert:A1", body={}, dedupe="A1", due_at=due_at
        )

    await waiting.watch(world.core)

    async with world.store.read() as tx:
        assert await rows.next_due(tx) == []


@pytest.mark.parametrize(
    ("kind", "fast_s"),
    # Rows of a list may be due minutes later by themselves.
    [*product(["card_topup", "card_freeze"], [1, 300, 3600]), ("a list", 1), ("a list", 3600)],
)
async def test_what_was_approved_by_a_fast_clock_is_sent_soon_after_it_is_set_right(
    world: World, kind: str, fast_s: int
) -> None:
    """And not when the clock gets there again: who does not see it go requests it once more."""
    watch = ghost_leases.Look(world.core)
    if kind == "a list":
        request = await ask_bulk(world, a_list(world, "1", "2"))
    else:
        amount = {"amount_usd": "5"} if kind == "card_topup" else {}
        request = await world.ask(kind, {"card": world.cards[0]["id"], **amount})
    world.clock.set_wrong(fast_s)
    await world.approve(request)
    world.clock.set_wrong(-fast_s)

    for _ in range(18):
        await world.run(10)
        await watch.run()

    assert (await world.request(request.id)).state is State.SUCCEEDED
    assert await alert_kinds(world) == set()
