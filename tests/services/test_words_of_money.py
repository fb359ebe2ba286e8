"""What is said of money is said only of kinds that can move it: for every kind, where it can have failed.

A lapsed approval, a list of rows and what two people say go past the words of each kind, so they are walked over here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from bot import operations
from bot.domain.requests import Event, State
from bot.operations import urgency
from bot.services import audit
from bot.services.requests import approvals, request_lookups
from handlers.views.requests import batch, request_card
from storage.requests import requests as rows
from tests.services.bulk_requests import ask_bulk
from tests.services.outcome_steps import execute, status
from tests.support.kinds import CALLING, PATH, asked, kind_class
from tests.support.situations import everything_said
from tests.support.view_text import view_text
from tests.support.world import BOB, CAROL, World

pytestmark = [pytest.mark.usefixtures("deposits_are_set_up"), pytest.mark.by_turns(4)]

OF_MONEY = ("nothing moved", "nothing has moved", "it came back", "money moved")


LISTS = {
    "card_topup": "card,amount\n{0},5\n{1},5\n{2},5",
    "card_freeze": "card\n{0}\n{1}\n{2}",
    "card_order": "card_holder_name,phone_country_code,phone,email\n"
    "Nora Quist,46,701234567,nora@example.com\nTom Baker,46,701234568,tom@example.com",
}


def says_nothing_of_money(text: str) -> bool:
    return not any(words in text.lower() for words in OF_MONEY)


@CALLING
async def test_a_lapsed_approval_says_of_money_only_what_is_true_of_the_kind(world: World, kind: str) -> None:
    request = await asked(world, kind)
    await world.approve(request)
    await status(429, "RATE_LIMITED").set(world, PATH[kind], times=1)
    await execute(world, request)
    await world.advance(3600)
    await status(429, "RATE_LIMITED").set(world, PATH[kind], times=1)

    ended = await execute(world, request)

    if operations.kinds()[kind].handling.is_urgent:  # no time ends it
        assert ended.state is State.EXECUTING
        return
    assert ended.state is State.FAILED
    if not kind_class(kind).moves_money:
        for text in [ended.outcome_text, *await everything_said(world, ended)]:
            assert says_nothing_of_money(text), text


@CALLING
async def test_what_two_people_call_failed_says_of_money_only_what_is_true_of_the_kind(
    world: World, kind: str
) -> None:
    request = await asked(world, kind)
    await world.approve(request)
    with world.dies_at("execution.claimed"):
        await execute(world, request)
    async with world.store.begin() as tx:
        lost = await rows.get(tx, request.id)
        assert lost is not None
        lost = await rows.touch(tx, lost, outcome_unknown=True)
        lost = await rows.move(tx, lost, Event.LOSE_SIGHT, lease_owner=None, lease_until=None)
        await audit.of_request(tx, world.core, lost, "system:test", "request.unresolved")

    for person in (BOB, CAROL):
        await approvals.resolve(
            world.core, request.id, person, verdict="failed", evidence="The provider said so."
        )

    ended = await world.request(request.id)
    assert ended.state is State.FAILED
    assert kind_class(kind).moves_money or says_nothing_of_money(ended.outcome_text), ended.outcome_text


@pytest.mark.parametrize("kind", [kind for kind, cls in operations.kinds().items() if cls.batch])
async def test_a_list_says_of_its_failed_rows_only_what_is_true_of_the_kind(world: World, kind: str) -> None:
    asked_for = await ask_bulk(world, LISTS[kind].format(*(card["id"] for card in world.cards)), kind=kind)
    view = await request_lookups.request_view(world.core, asked_for.id)
    assert view.batch is not None
    counts = Counter({State.FAILED: 1, State.SUCCEEDED: 1, State.EXECUTING: 1})
    underway = replace(
        view,
        request=replace(view.request, state=State.EXECUTING),
        batch=replace(view.batch, states=counts),
    )
    for text in (view_text(batch.rows(underway)), view_text(request_card.card(underway))):
        assert urgency.failed_how(kind) in text
        assert kind_class(kind).moves_money or says_nothing_of_money(text), text
