"""Somebody makes a single request look like a row of a list, or of another request, in the database.

Nothing leaves that was not approved as it is, what else is due goes on, and people are notified: never an error that
stops each turn.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from bot.domain.errors import CountersignError
from bot.domain.requests import Request
from bot.services.alerts import put_back_rules
from bot.services.requests import lifecycle
from tests.services.outcome_steps import keys_sent, open_alerts
from tests.services.test_noes_put_back import a_pending_list, an_approved_list
from tests.support.databases import BACKENDS
from tests.support.world import BOB, CAROL, World, a_world
from tests.thief.edits import opened
from tests.thief.programme import place_of


@pytest.fixture
async def world(url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=url) as made:
        yield made


async def a_request(world: World) -> Request:
    return await world.top_up("40", card=1)


async def nobody(_world: World) -> None: ...


PARENTS: dict[str, Callable[[World], Awaitable[Request | None]]] = {
    "a pending list": a_pending_list,
    "an approved list": an_approved_list,
    "a request": a_request,
    "no request": nobody,
}


@pytest.mark.walk
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("approved", [True, False], ids=["approved", "pending"])
@pytest.mark.parametrize("parent", PARENTS)
async def test_what_looks_like_a_row_and_is_none_is_not_sent_and_stops_nothing_else(
    world: World, parent: str, *, approved: bool
) -> None:
    found = await PARENTS[parent](world)
    single = await world.top_up("50", approved=approved)
    other = await world.top_up("30", card=2)
    with opened(place_of(world)) as database:
        written = found.id if found is not None else "R-NONE"
        assert database.write("UPDATE request SET parent_id = ? WHERE id = ?", written, single.id) == 1

    for person in (BOB, CAROL):
        with suppress(CountersignError):
            await world.approve(single, by=person)
    await world.run(1200, step=40)
    await lifecycle.expire_due(world.core)
    await put_back_rules.tell(world.core)

    assert single.key not in keys_sent(world)
    assert other.key in keys_sent(world)
    tampered = {a.subject for a in await open_alerts(world) if a.kind == "tampered"}
    assert (single.id in tampered) is approved  # else the click was refused, which says so
    if found is not None and found.is_batch:
        assert keys_sent(world) == [other.key], "nothing of a list that is another than people read"
