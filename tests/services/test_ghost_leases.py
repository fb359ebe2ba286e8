"""A lease that somebody wrote into the database, for longer than any of ours, stops nothing and nobody who watches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from sqlalchemy import text

from bot.domain import shared_work
from bot.domain.requests import State
from bot.services.processes.locks import Locks
from bot.services.processes.stored_looks import StoredLooks
from tests.support.world import World

pytestmark = pytest.mark.by_turns(2)

FAR = "2099-01-01T00:00:00.000000Z"


async def _ghost(world: World, *names: str) -> None:
    async with world.store.begin() as tx:
        for name in names:
            row = {"name": name, "far": FAR}
            await tx.run(text("INSERT INTO lease (name, owner, until) VALUES (:name, 'ghost', :far)"), row)


async def test_those_who_watch_take_their_work_from_a_ghost(world: World) -> None:
    names = [shared_work.job(name) for name in ("signed-rows", "audit-check", "put-back", "alerts", "anchor")]
    await _ghost(world, *names)
    locks = Locks(world.store, "ours", world.clock)

    await locks.keep(names)

    assert locks.held() == set(names)


async def test_what_is_shared_is_looked_at_although_a_ghost_does(world: World) -> None:
    await _ghost(world, "look:group")

    async def ask() -> Mapping[str, Any]:
        return {"members": ["U0BOB"]}

    seen = await StoredLooks(world.store, "ours", world.clock).at("group", ask, within_s=15)

    assert seen.value == {"members": ["U0BOB"]}


@pytest.mark.parametrize("kind", ["card_topup", "card_freeze"])
async def test_what_was_approved_is_sent_although_a_ghost_holds_it(world: World, kind: str) -> None:
    given = {"card": world.cards[0]["id"]} | ({"amount_usd": "50"} if kind == "card_topup" else {})
    request = await world.ask(kind, given)
    await world.approve(request)
    async with world.store.begin() as tx:
        await tx.run(text(f"UPDATE request SET lease_owner = 'ghost', lease_until = '{FAR}'"))

    await world.run(10)

    assert (await world.request(request.id)).state is State.SUCCEEDED
