"""`cool_off`: what was approved is sent later, and any approver can stop it until then."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from bot.domain.errors import NotAllowed, Stale
from bot.domain.people import Actor, KindPolicy, Policy, Tier
from bot.domain.requests import State
from bot.services import requests
from bot.services.operators import changed_rows, deep_check, pausing
from bot.services.requests import approvals, request_lookups
from handlers.views.requests import approval_modals, request_card
from storage.columns import time_text
from storage.requests import decisions
from storage.requests import requests as request_rows
from tests.services.bulk_requests import a_list, ask_bulk, states_of
from tests.services.outcome_steps import alert_kinds, keys_sent
from tests.support.situations import card_status
from tests.support.world import ALICE, BOB, CAROL, HOME, World, a_policy, a_world

pytestmark = pytest.mark.by_turns(2)

WAITS = timedelta(minutes=10)


def policy(waits: timedelta = WAITS, version: str = "waits") -> Policy:
    kinds = {
        "card_topup": KindPolicy(cool_off=waits),
        "card_close": KindPolicy(tiers=()),
        "card_freeze": KindPolicy(cool_off=waits),
    }
    return replace(a_policy(), kinds=kinds, version=version)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """Ten minutes are between the approval of a top-up and its sending."""
    async with a_world(tmp_path, policy=policy()) as made:
        yield made


def by_hand(world: World, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(world.database)) as connection:
        connection.execute(statement, values)
        connection.commit()


async def test_it_is_sent_after_the_wait_and_not_before(world: World) -> None:
    request = await world.top_up("50")
    await world.run(590)
    assert keys_sent(world) == []
    assert (await world.request(request.id)).state is State.APPROVED

    await world.run(30)

    assert keys_sent(world) == [request.key]
    assert (await world.request(request.id)).state is State.SUCCEEDED


async def test_it_may_still_be_sent_for_a_quarter_of_an_hour_after_the_wait(world: World) -> None:
    request = await world.top_up("50")
    await pausing.pause(world.core, BOB, ["main"], "a look at the ledger")
    await world.run(24 * 60, step=30)
    assert await requests.expire_due(world.core) == 0
    await world.run(120, step=30)
    assert await requests.expire_due(world.core) == 1

    assert (await world.request(request.id)).state is State.EXPIRED
    assert keys_sent(world) == []


@pytest.mark.parametrize("by", [BOB, CAROL])
async def test_any_approver_can_stop_it_until_then_also_who_approved_it(world: World, by: str) -> None:
    request = await world.top_up("50")
    await world.run(300)

    stopped = await approvals.reject(world.core, request.id, by, reason="wrong card")
    await world.run(900, step=30)

    assert stopped.state is State.CANCELLED
    assert "wrong card" in stopped.outcome_text
    assert "before it was sent" in stopped.outcome_text
    assert keys_sent(world) == []
    async with world.store.read() as tx:
        assert await deep_check.differences(tx) == []


async def test_nobody_else_stops_it_and_nobody_stops_what_was_sent(world: World) -> None:
    request = await world.top_up("50")
    world.people.actors["U0DAVE"] = Actor("U0DAVE", "Dave", team_id=HOME)
    with pytest.raises(NotAllowed):
        await approvals.reject(world.core, request.id, "U0DAVE", reason="no")
    with pytest.raises(NotAllowed, match="cancel it"):
        await approvals.reject(world.core, request.id, ALICE, reason="no")
    await world.run(630, step=30)

    with pytest.raises(Stale):
        await approvals.reject(world.core, request.id, BOB, reason="too late")


async def test_a_list_waits_and_is_stopped_as_a_whole(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    await world.approve(batch)
    await world.run(300)
    assert keys_sent(world) == []

    await approvals.reject(world.core, batch.id, BOB, reason="the wrong list")
    await world.run(900, step=30)

    assert keys_sent(world) == []
    assert await states_of(world, batch) == {State.CANCELLED: 2}


async def test_a_list_is_sent_after_the_wait(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    await world.approve(batch)
    await world.run(720, step=10)

    assert await states_of(world, batch) == {State.SUCCEEDED: 2}


async def test_a_tier_may_wait_where_smaller_amounts_do_not(world: World) -> None:
    tier = Tier(Decimal(100), 1, cool_off=WAITS)
    world.rebuild(policy=replace(a_policy(), kinds={"card_topup": KindPolicy(tiers=(tier,))}))
    small, large = await world.top_up("50"), await world.top_up("101", card=1)

    await world.run(60)

    assert keys_sent(world) == [small.key]
    assert (await world.request(large.id)).state is State.APPROVED


async def test_what_is_done_at_once_does_not_wait(world: World) -> None:
    freeze = await world.ask("card_freeze", {"card": world.cards[0]["id"]}, now=True)
    await world.run(10)

    assert (await world.request(freeze.id)).state is State.SUCCEEDED


@pytest.mark.parametrize("is_stopped", [False, True])
async def test_a_freeze_now_does_not_give_way_to_an_unfreeze_that_may_still_be_stopped(
    world: World, *, is_stopped: bool
) -> None:
    """Seed 9526 of the simulation: it was cancelled, and nothing was done for as long as the unfreeze waited."""
    kinds = {"card_unfreeze": KindPolicy(cool_off=WAITS)}
    world.rebuild(policy=replace(a_policy(), kinds=kinds, version="waits to unfreeze"))
    card = world.cards[0]["id"]
    await world.tell(f"cards/{card}", {"status": "FROZEN"})
    unfreeze = await world.ask("card_unfreeze", {"card": card})
    await world.tell(f"cards/{card}", {"status": "ACTIVE"})
    freeze = await world.ask("card_freeze", {"card": card}, now=True)
    await world.advance(1)
    await world.approve(unfreeze)
    await world.run(30)

    assert (await world.request(freeze.id)).state is State.SUCCEEDED
    assert await card_status(world) == "FROZEN"
    if is_stopped:
        await approvals.reject(world.core, unfreeze.id, CAROL, reason="it is stolen")
    await world.run(WAITS.total_seconds() + 30, step=10)

    assert await card_status(world) == ("FROZEN" if is_stopped else "ACTIVE")


async def test_no_edit_of_when_it_is_due_has_it_sent_sooner(world: World) -> None:
    request = await world.top_up("50")
    by_hand(world, "UPDATE request SET due_at = approved_at")
    await world.run(300)
    assert keys_sent(world) == []
    async with world.store.begin() as tx:
        await request_rows.due_at_once(tx, "main")
    await world.run(200)
    assert keys_sent(world) == []

    await world.run(150)
    assert keys_sent(world) == [request.key]


async def test_a_wait_that_is_taken_out_of_the_approval_stops_it_with_an_alarm(world: World) -> None:
    request = await world.top_up("50")
    by_hand(world, "UPDATE decision SET conditions = NULL")
    by_hand(world, "UPDATE request SET due_at = approved_at")
    await world.run(30)

    assert keys_sent(world) == []
    assert (await world.request(request.id)).state is State.CANCELLED
    assert "tampered" in await alert_kinds(world)


async def test_a_wait_that_the_policy_asks_for_by_now_has_to_be_approved_again(world: World) -> None:
    world.rebuild(policy=policy(timedelta(0), "before"))
    request = await world.top_up("50")
    world.rebuild(policy=policy())
    await world.run(30)

    ended = await world.request(request.id)
    assert ended.state is State.CANCELLED
    assert "10 minutes" in ended.outcome_text
    assert keys_sent(world) == []


async def test_the_requester_cancels_it_while_it_waits(world: World) -> None:
    request = await world.top_up("50")
    await requests.cancel(world.core, request.id, ALICE)
    await world.run(900, step=30)

    assert keys_sent(world) == []


async def test_the_window_and_the_message_say_when_and_offer_to_stop_it(world: World) -> None:
    request = await world.top_up("50", approved=False)
    window = approval_modals.confirmation(await request_lookups.confirmation(world.core, request.id, BOB))
    await world.approve(request)
    view = await request_lookups.request_view(world.core, request.id)
    message = str(request_card.card(view))

    assert "It is sent 10 minutes later, unless an approver stops it" in str(window)
    assert view.sent_from == view.request.approved_at + WAITS  # type: ignore[operator]
    assert "Until then any approver can stop it" in message
    assert "'Stop'" in message
    await world.run(630, step=30)
    assert "'Stop'" not in str(request_card.card(await request_lookups.request_view(world.core, request.id)))


SOONER = {
    "approved_at": "approved_at = '{first}'",
    "valid_until": "valid_until = '{valid}'",
    "due_at": "due_at = '{first}'",
}


@pytest.mark.parametrize(
    "edited", [("approved_at",), ("valid_until",), ("due_at",), ("approved_at", "valid_until"), tuple(SOONER)]
)
async def test_the_wait_begins_with_the_approval_that_decides_and_not_with_an_earlier_one(
    tmp_path: Path, edited: tuple[str, ...]
) -> None:
    """Two approvals, ten minutes apart: the row is edited to say that the first one was enough."""
    kinds = {"card_topup": KindPolicy(tiers=(Tier(Decimal(10), 2),), cool_off=WAITS)}
    async with a_world(tmp_path, policy=replace(a_policy(), kinds=kinds)) as world:
        request = await world.top_up("50", approved=False)
        await world.approve(request, by=BOB)
        await world.advance(601)
        await world.approve(await world.request(request.id), by=CAROL)
        request = await world.request(request.id)
        async with world.store.read() as tx:
            first = min(one.decided_at for one in await decisions.of(tx, request.id))
        assert request.approved_at is not None
        assert request.valid_until is not None
        valid = first + (request.valid_until - request.approved_at)
        for name in edited:
            value = SOONER[name].format(first=time_text(first), valid=time_text(valid))
            by_hand(world, f"UPDATE request SET {value}")

        await world.run(560, step=20)

        assert keys_sent(world) == []
        if "approved_at" in edited:
            await changed_rows.watch(world.core)
            assert "ended_put_back" in await alert_kinds(world)
            await world.run(60, step=30)
            assert keys_sent(world) == []
