"""The private values of a request are opened only for those whose decision it waits for."""

from __future__ import annotations

import pytest

from bot.domain.errors import NotAllowed
from bot.domain.requests import Request
from bot.operations import Line
from bot.services import people
from bot.services.requests import request_lookups
from tests.services.bulk_requests import ask_bulk
from tests.support.kinds import NORA
from tests.support.world import ALICE, BOB, CAROL, World


async def in_full(world: World, request: Request, person: str) -> tuple[Line, ...]:
    return await request_lookups.in_full(world.core, request.id, person, await people.standing(world.core))


async def test_the_details_of_a_request_are_shown_to_who_may_decide_and_nobody_else(world: World) -> None:
    request = await world.ask("card_order", NORA)

    for person in (BOB, CAROL):
        assert ("Phone", "701234567") in await in_full(world, request, person)
    for person in (ALICE, "U0DORA"):
        with pytest.raises(NotAllowed, match="shown in full only to approvers"):
            await in_full(world, request, person)


async def test_they_are_shown_no_longer_once_it_is_decided(world: World) -> None:
    request = await world.ask("card_order", NORA)
    await world.approve(request)

    with pytest.raises(NotAllowed):
        await in_full(world, request, CAROL)


async def test_the_rows_of_a_batch_are_shown_in_full_to_the_same_people(world: World) -> None:
    batch = await ask_bulk(
        world, "name,country,phone,email\nNora Quist,46,701234567,nora@example.com", kind="card_order"
    )

    standing = await people.standing(world.core)

    shown = await request_lookups.confirmation_of_batch(world.core, batch.id, BOB, standing, 1)
    assert "701234567" in str(shown.rows)
    with pytest.raises(NotAllowed):
        await request_lookups.confirmation_of_batch(world.core, batch.id, ALICE, standing, 1)


async def test_the_inbox_has_what_waits_for_a_person(world: World) -> None:
    await world.tell("float", {"amount_usd": "100000"})
    first = await world.top_up("501", approved=False)  # two approvals
    await world.approve(first)
    second = await world.ask("card_freeze", {"card": world.cards[1]["id"]}, by=CAROL)

    waiting = {
        person: {r.id for r in (await request_lookups.inbox_of(world.core, person)).waiting}
        for person in (ALICE, BOB, CAROL)
    }

    assert waiting == {ALICE: set(), BOB: {second.id}, CAROL: {first.id}}
