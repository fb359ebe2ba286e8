"""Tiers that look at sums of 24 hours: an amount above a tier is not passed by asking for less several times."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bot.domain.people import KindPolicy, Per, Policy, Tier
from bot.domain.requests import Decision, State
from bot.services import people, requests
from bot.services.operators import deep_check
from bot.services.overview import policy_lookups
from bot.services.requests import drafts, request_lookups
from handlers.views import help_text
from handlers.views.requests import request_card
from storage.requests import decisions
from tests.services.bulk_requests import a_list, ask_bulk
from tests.services.outcome_steps import alert_kinds, execute, keys_sent
from tests.support.world import ALICE, BOB, CAROL, World, a_policy, a_world

DAY = 24 * 3600


def policy(per: Per = Per.CARD, *, above: int = 500, version: str = "sums") -> Policy:
    kind = KindPolicy(tiers=(Tier(Decimal(above), 2, per=per),))
    return replace(a_policy(), kinds={"card_topup": kind}, version=version)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """Two people approve a top-up once its requester was granted more than 500 USD for its card in 24 hours."""
    async with a_world(tmp_path, policy=policy()) as made:
        yield made


def by_hand(world: World, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(world.database)) as connection:
        connection.execute(statement, values)
        connection.commit()


async def decisions_on(world: World, request_id: str) -> list[Decision]:
    async with world.store.read() as tx:
        return await decisions.of(tx, request_id)


async def test_the_second_of_two_below_the_tier_needs_two_people(world: World) -> None:
    await world.top_up("499")

    second = await world.top_up("2", approved=False)
    first_word, verdict = await world.approve(second)

    assert (first_word.state, first_word.approvals_needed, verdict.approvals) == (State.PENDING, 2, 1)
    assert (await world.approve(second, by=CAROL))[0].state is State.APPROVED
    assert (await execute(world, second)).state is State.SUCCEEDED


async def test_nine_that_were_asked_before_any_was_granted_do_not_pass_one_by_one(world: World) -> None:
    asked = [await world.top_up("499", approved=False) for _ in range(9)]

    states = [(await world.approve(request))[0].state for request in asked]

    assert states == [State.APPROVED, *[State.PENDING] * 8]


async def test_two_that_are_approved_together_do_not_both_pass(world: World) -> None:
    asked = [await world.top_up("400", approved=False) for _ in range(2)]

    done = await asyncio.gather(*(world.approve(request) for request in asked))

    assert sorted(request.state for request, _ in done) == [State.APPROVED, State.PENDING]


async def test_another_card_another_requester_and_another_day_are_not_in_the_sum(world: World) -> None:
    await world.top_up("499")

    assert (await world.top_up("499", card=1)).state is State.APPROVED
    of_carol = await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "499"}, by=CAROL)
    assert (await world.approve(of_carol))[0].state is State.APPROVED
    await world.advance(DAY + 60)
    assert (await world.top_up("499")).state is State.APPROVED


async def test_per_requester_all_cards_count(world: World) -> None:
    world.rebuild(policy=policy(Per.REQUESTER))
    await world.top_up("499")

    assert (await world.top_up("2", card=1)).state is State.PENDING


async def test_what_was_rejected_or_cancelled_counts_nothing(world: World) -> None:
    request = await world.top_up("499", approved=False)
    await requests.cancel(world.core, request.id, ALICE)

    assert (await world.top_up("499")).state is State.APPROVED


async def test_an_amount_of_nothing_needs_no_more_for_what_was_granted_before(world: World) -> None:
    kind = KindPolicy(tiers=(Tier(Decimal(500), 2, per=Per.REQUESTER),))
    world.rebuild(policy=replace(a_policy(), kinds={}, default=kind))
    await world.approve(await world.top_up("600", approved=False))

    freeze = await world.ask("card_freeze", {"card": world.cards[1]["id"]})

    assert (await world.approve(freeze))[0].state is State.APPROVED


async def test_rows_of_a_list_on_one_card_count_together_with_what_was_granted(world: World) -> None:
    await world.top_up("495")
    fits = await ask_bulk(world, a_list(world, "5", "400"))
    assert (await world.approve(fits))[0].state is State.APPROVED

    too_much = await ask_bulk(world, a_list(world, "1", "1"))

    assert (await world.approve(too_much))[0].state is State.PENDING


async def test_the_form_the_message_and_who_say_the_sum(world: World) -> None:
    await world.top_up("499")
    await people.require_member(world.core, ALICE, action="test")
    texts = {"card": world.cards[0]["id"], "amount_usd": "2"}
    draft = await drafts.begin(world.core, owner=ALICE, kind="card_topup", texts=texts, reason="fuel")

    form = await drafts.preview(world.core, draft)
    request = await world.top_up("2", approved=False)
    message = request_card.card(await request_lookups.request_view(world.core, request.id))
    window = await request_lookups.confirmation(world.core, request.id, BOB)
    who = help_text.who(await policy_lookups.who(world.core, "card_topup", ALICE))

    said = ("This card in 24 hours", "501.00 USD with this one; 2 approvals above 500.00 USD")
    assert said in form.lines
    assert form.approvals_needed == 2
    assert said in window.lines
    assert said[1] in str(message)
    assert "0 of 2 approvals" in str(message)
    assert "2 above 500.00 USD for one card in 24 hours" in str(who)
    assert "was granted 499.00 USD in the last 24 hours" in str(who)


async def test_what_stands_in_the_thread_and_in_the_proof_is_how_many_it_needed(world: World) -> None:
    await world.top_up("499")
    second = await world.top_up("2", approved=False)
    await world.approve(second)
    await world.approve(second, by=CAROL)

    view = await request_lookups.request_view(world.core, second.id)
    assert view.request.approvals_needed == 2
    assert "2 of 2 approvals" in str(request_card.card(view))
    async with world.store.read() as tx:
        assert await deep_check.differences(tx) == []


@pytest.mark.parametrize("conditions", [None, '{"needed":1}', '"x"', "[]", '{"needed":"two"}'])
async def test_one_word_is_not_made_to_settle_by_hand(world: World, conditions: Any) -> None:
    await world.top_up("499")
    second = await world.top_up("2", approved=False)
    await world.approve(second)
    sent = keys_sent(world)
    decided_at = (await decisions_on(world, second.id))[0].decided_at
    at = decided_at.isoformat(timespec="microseconds").replace("+00:00", "Z")
    until = (decided_at + timedelta(minutes=15)).isoformat(timespec="microseconds").replace("+00:00", "Z")
    by_hand(
        world,
        "UPDATE request SET state = 'approved', approved_at = ?, valid_until = ?, due_at = ? WHERE id = ?",
        *(at, until, at, second.id),
    )
    if conditions is not None:
        by_hand(world, "UPDATE decision SET conditions = ? WHERE request_id = ?", conditions, second.id)

    await execute(world, second)

    assert keys_sent(world) == sent
    assert "tampered" in await alert_kinds(world)


async def test_what_an_earlier_policy_let_pass_is_judged_by_the_one_of_now(world: World) -> None:
    await world.top_up("499")
    world.rebuild(policy=replace(policy(above=2000), version="lenient"))
    await world.advance(1)
    second = await world.top_up("499")
    assert second.state is State.APPROVED
    sent = keys_sent(world)
    world.rebuild(policy=policy(version="strict"))

    ended = await execute(world, second)

    assert ended.state is State.CANCELLED
    assert keys_sent(world) == sent
    assert "now asks for 2 approvals" in ended.outcome_text
