"""A call that somebody invented in the database holds nothing up, nothing goes by it, and people are notified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.domain.requests import State
from bot.services.operators import changed_rows, deep_check
from tests.services.outcome_steps import TOPUP, alert_kinds, top_ups
from tests.support.databases import BACKENDS
from tests.support.processes import WHO, who_goes_on
from tests.support.situations import card_status
from tests.support.world import ALICE, BOB, CAROL, a_world
from tests.thief.edits import insert, opened
from tests.thief.programme import place_of

FREEZE = "POST /cards/{cardId}/freeze"

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
@pytest.mark.parametrize("who", WHO)
async def test_an_invented_call_neither_stops_a_request_nor_speaks_for_it(
    url: str, tmp_path: Path, who: str, kind: str, answer: str, number: int
) -> None:
    async with a_world(tmp_path, url=url) as world, who_goes_on(world, who) as hand_over:
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
        hand_over()
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


#: Where the id that the next call would have stands already.
TAKEN = ("at a request that has ended", "at no request")


def in_the_way(how: str, request_id: str, ended_id: str, *, is_postgres: bool) -> list[dict[str, Any]]:
    if how in TAKEN:
        at = ended_id if how == TAKEN[0] else "R-ZZZZ"
        return [{"id": f"{request_id}.{n}", "request_id": at, "number": 77 + n} for n in range(1, 9)]
    last = 2**31 - 1 if is_postgres else 2**63 - 1
    numbers = {"the first and the last number": (1, last), "the first numbers": range(1, 40)}[how]
    return [{"id": f"{request_id}-{n}", "request_id": request_id, "number": n} for n in numbers]


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("how", [*TAKEN, "the first and the last number", "the first numbers"])
@pytest.mark.parametrize("step", ["send", "look"])
@pytest.mark.parametrize("kind", ["card_topup", "Freeze now"])
async def test_no_invented_call_is_in_the_way_of_one_that_is_made(
    url: str, tmp_path: Path, kind: str, step: str, how: str
) -> None:
    async with a_world(tmp_path, url=url) as world:
        ended = await world.top_up("5", card=1)
        await world.run(10)
        card = {"card": world.cards[0]["id"]}
        if kind == "card_topup":
            request = await world.ask(kind, {**card, "amount_usd": "50"})
            await world.approve(request, by=CAROL)
        else:
            request = await world.ask("card_freeze", card, now=True, by=BOB)
        if step == "look":  # it was sent, its answer was lost, and it is looked up next
            await world.fault("drop_after_commit", TOPUP if kind == "card_topup" else FREEZE, times=1)
            await world.run_due()
            assert (await world.request(request.id)).state is State.EXECUTING
        place = place_of(world)
        with opened(place) as database:
            (pattern, *_) = (row for row in database.read("attempt") if row["request_id"] == ended.id)
            there = [row["number"] for row in database.read("attempt") if row["request_id"] == request.id]
            for one in in_the_way(how, request.id, ended.id, is_postgres=place.startswith("postgresql")):
                if one["request_id"] != request.id or one["number"] not in there:
                    insert(database, "attempt", {**pattern, **one})

        await world.run(120 if step == "look" else 20, step=5)
        await changed_rows.tell_of_those_met(world.core)

        assert (await world.request(request.id)).state is State.SUCCEEDED
        assert how in TAKEN or "changed_outside" in await alert_kinds(world)
        made = sorted(await world.attempts(request.id), key=lambda one: one.sent_at)
        assert len({one.id for one in made}) == len(made)


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
