"""Whoever decides on a request whose row somebody changed for that moment reads that, and people are notified."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from bot.domain.requests import Request, State
from bot.services.execution import try_now
from bot.services.requests import approvals, lifecycle
from storage.errors import NotAsOnRecord
from tests.services.outcome_steps import alert_kinds, top_ups
from tests.services.test_cool_off import policy
from tests.support.databases import BACKENDS
from tests.support.world import ALICE, BOB, CAROL, World, a_world
from tests.thief.edits import insert, opened
from tests.thief.programme import place_of

pytestmark = pytest.mark.by_turns(20)

GONE = "gone"
Deed = Callable[[World, Request], Awaitable[object]]
DEEDS: dict[str, Deed] = {
    "reject": lambda w, r: approvals.reject(w.core, r.id, CAROL, reason="no"),
    "look at it to reject": lambda w, r: approvals.require_may_reject(w.core, r.id, CAROL),
    "cancel": lambda w, r: lifecycle.cancel(w.core, r.id, ALICE),
    "approve": lambda w, r: approvals.approve(w.core, r.id, BOB, shown_digest=r.digest),
    "look at it to approve": lambda w, r: approvals.require_may_approve(w.core, r.id, BOB),
    "confirm": lambda w, r: approvals.confirm(w.core, r.id, BOB),
    "resolve": lambda w, r: approvals.resolve(
        w.core, r.id, BOB, verdict="succeeded", evidence="I looked in the ledger"
    ),
    "try now": lambda w, r: try_now.try_now(w.core, r.id, ALICE),
}
STAGES = (State.PENDING, State.APPROVED, State.SUCCEEDED)


def cells() -> Iterator[tuple[str, State, str]]:
    for deed in DEEDS:
        for stage in STAGES:
            for state in [*map(str, State), GONE]:
                # What has ended may be deleted.
                if state != stage and not (state == GONE and stage is State.SUCCEEDED):
                    yield deed, stage, state


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize(("deed", "stage", "state"), list(cells()))
async def test_who_decides_on_what_somebody_changed_reads_that(
    url: str, tmp_path: Path, deed: str, stage: State, state: str
) -> None:
    async with a_world(tmp_path, url=url, policy=policy() if stage is State.APPROVED else None) as world:
        request = await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "50"})
        if stage is not State.PENDING:
            await world.approve(request)
            await world.run(30)
        request = await world.request(request.id)
        assert request.state is stage
        sent = len(top_ups(world))
        with opened(place_of(world)) as database:
            (kept,) = database.read("request")
            if state == GONE:
                database.write("DELETE FROM request WHERE id = ?", request.id)
            else:
                database.write("UPDATE request SET state = ? WHERE id = ?", state, request.id)

        with pytest.raises(NotAsOnRecord, match=f"{request.id} is {stage} by the audit log"):
            await DEEDS[deed](world, request)

        assert {"ended_put_back"} & await alert_kinds(world)
        with opened(place_of(world)) as database:
            if state == GONE:
                insert(database, "request", kept)
        await world.run(5)
        assert len(top_ups(world)) == sent


@pytest.mark.parametrize("deed", DEEDS)
async def test_what_is_as_on_record_is_never_said_to_be_changed(world: World, deed: str) -> None:
    request = await world.top_up("50")
    for _ in range(2):
        with suppress(Exception):
            await DEEDS[deed](world, await world.request(request.id))

    assert "ended_put_back" not in await alert_kinds(world)
