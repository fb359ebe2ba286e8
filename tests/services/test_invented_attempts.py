"""A call that somebody invented in the database holds nothing up, nothing goes by it, and people are notified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.domain.requests import State
from bot.services.operators import changed_rows, deep_check
from tests.services.outcome_steps import alert_kinds, top_ups
from tests.support.databases import BACKENDS
from tests.support.situations import card_status
from tests.support.world import ALICE, BOB, CAROL, a_world
from tests.thief.edits import insert, opened
from tests.thief.programme import place_of

pytestmark = pytest.mark.by_turns(8)

ANSWERS: dict[str, dict[str, Any]] = {
    "not answered": {"answered_at": None, "status": None, "code": None, "certainty": None, "finding": None},
    "as one that succeeded": {},
    "as one that was refused": {"status": 422, "code": "insufficient_funds", "finding": "refused"},
}


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("number", [1, 2, 7])
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("kind", ["card_topup", "card_freeze", "Freeze now"])
async def test_an_invented_call_neither_stops_a_request_nor_speaks_for_it(
    url: str, tmp_path: Path, kind: str, answer: str, number: int
) -> None:
    async with a_world(tmp_path, url=url) as world:
        await world.top_up("5", card=1)
        await world.run(10)
        card = {"card": world.cards[0]["id"]}
        if kind == "card_topup":
            request = await world.ask(kind, {**card, "amount_usd": "50"})
        else:
            is_now = kind == "Freeze now"
            request = await world.ask("card_freeze", card, now=is_now, by=BOB if is_now else ALICE)
        if kind != "Freeze now":
            await world.approve(request, by=CAROL)
        with opened(place_of(world)) as database:
            (pattern,) = database.read("attempt")
            made_up = {"id": f"{request.id}.{number}", "request_id": request.id, "number": number}
            insert(database, "attempt", {**pattern, **made_up, **ANSWERS[answer]})

        await world.run(20, step=5)
        await changed_rows.tell_of_those_met(world.core)

        assert (await world.request(request.id)).state is State.SUCCEEDED
        assert len(top_ups(world)) == (2 if kind == "card_topup" else 1)
        assert kind == "card_topup" or await card_status(world, 0) == "FROZEN"
        # One whose number was free is met by nobody here; while its request is open, the minute's look finds it.
        assert number != 1 or "changed_outside" in await alert_kinds(world)
        async with world.store.read() as tx:
            _, found = await deep_check.compared(tx)
        assert any(request.id in str(one) for one in found)


async def test_one_that_nobody_meets_is_found_within_a_minute(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        await world.top_up("5", card=1)
        await world.run(10)
        waits = await world.top_up("50", approved=False)
        with opened(place_of(world)) as database:
            (pattern,) = database.read("attempt")
            insert(database, "attempt", {**pattern, "id": "x", "request_id": waits.id})

        await changed_rows.watch(world.core)

        assert "changed_outside" in await alert_kinds(world)
