"""While the minute of a key is short, what is shown is read once for several; what is sent never rests on it."""

from __future__ import annotations

import pytest

from bot.domain.requests import State
from bot.partner.ratelimit import Lane
from bot.services.requests import local_facts, request_lookups
from tests.support.world import ALICE, BOB, CAROL, World

A_MOMENT_S = 3.0


async def use_up(world: World) -> None:
    """Somebody else takes more than half of the minute."""
    for _ in range(round(world.limiter.per_minute * (1 - local_facts.SCARCE_SHARE)) + 1):
        await world.limiter.acquire(Lane.URGENT)


async def calls(world: World) -> dict[str, int]:
    return {what: len(await world.sent(what)) for what in ("GET /me", f"GET /{world.cards[0]['id']}")}


async def shown_to(world: World, *people: str) -> dict[str, int]:
    """How many calls it takes to show one request to these people, a moment apart."""
    request = await world.top_up("5", approved=False)
    before = await calls(world)
    for person in people:
        await world.advance(A_MOMENT_S)
        assert (await request_lookups.confirmation(world.core, request.id, person)).facts_read
    return {what: after - before[what] for what, after in (await calls(world)).items()}


async def test_each_window_is_read_for_itself_while_there_are_calls_enough(world: World) -> None:
    assert set((await shown_to(world, BOB, CAROL)).values()) == {2}


async def test_windows_and_previews_share_a_reading_while_the_minute_is_short(world: World) -> None:
    await use_up(world)

    # The preview of the request itself has read them.
    assert set((await shown_to(world, BOB, CAROL, ALICE)).values()) == {0}


async def test_a_shared_reading_is_seconds_old_at_most(world: World) -> None:
    request = await world.top_up("5", approved=False)
    await use_up(world)
    await request_lookups.confirmation(world.core, request.id, BOB)
    before = await calls(world)

    await world.advance(local_facts.SHOWN_FOR_S + 1)
    await request_lookups.confirmation(world.core, request.id, CAROL)

    assert {what: after - before[what] for what, after in (await calls(world)).items()} == dict.fromkeys(
        before, 1
    )


@pytest.mark.parametrize("status", ["EXPIRED", "BLOCKED"])
async def test_what_is_sent_is_compared_with_a_reading_of_its_own(world: World, status: str) -> None:
    await use_up(world)
    card = world.cards[0]["id"]
    request = await world.top_up("5", approved=False)
    await request_lookups.confirmation(world.core, request.id, BOB)
    await world.tell(f"cards/{card}", {"status": status})

    request, _ = await world.approve(request)
    await world.run_due()

    assert (await world.request(request.id)).state is State.CANCELLED
    assert not await world.sent("POST /topup")
