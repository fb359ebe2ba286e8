"""Until when a request may be approved, and an approval be sent, is known by what is signed and on record.

The walk writes the far future into each time that a request or a decision has, alone and together, while sending is
stopped; then it is over when it was to be over, people are notified, and nothing is sent when sending goes on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.domain.errors import CountersignError
from bot.domain.people import KindPolicy
from bot.domain.requests import OPEN, Request
from bot.services import requests
from bot.services.operators import changed_rows, pausing
from bot.services.processes import ghost_leases
from storage.columns import UtcDateTime
from storage.tables import metadata
from tests.services.bulk_requests import a_list, ask_bulk, rows_of
from tests.services.outcome_steps import open_alerts, top_ups
from tests.support.databases import BACKENDS
from tests.support.world import BOB, CAROL, World, a_policy, a_world
from tests.thief.edits import FAR, opened
from tests.thief.programme import place_of

pytestmark = pytest.mark.by_turns(8)

WAITS = timedelta(minutes=10)


async def _pending(world: World) -> Request:
    return await world.top_up("50", approved=False)


async def _approved(world: World) -> Request:
    return await world.top_up("50")


async def _row(world: World) -> Request:
    batch = await ask_bulk(world, a_list(world, "5", "6"))
    await world.approve(batch)
    return (await rows_of(world, batch))[0]


async def _waits(world: World) -> Request:
    kinds = {"card_topup": KindPolicy(cool_off=WAITS)}
    world.rebuild(policy=replace(a_policy(), kinds=kinds))
    return await world.top_up("50")


#: What there is, and after how long it is over.
MOMENTS: Mapping[str, tuple[Callable[[World], Awaitable[Request]], timedelta]] = {
    "pending": (_pending, timedelta(hours=8)),
    "approved": (_approved, timedelta(minutes=15)),
    "a row of a list": (_row, timedelta(minutes=15)),
    "waits for its cool_off": (_waits, timedelta(minutes=25)),
}
TIMES = {
    table: [column.name for column in metadata.tables[table].c if isinstance(column.type, UtcDateTime)]
    for table in ("request", "decision")
}
#: What says until when something is good, or from when on: people are notified of a change. Of a request that nobody
#: has approved, the first two.
ENDS = ("created_at", "expires_at", "approved_at", "valid_until")
EDITS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    **{f"{table}.{column}": {table: (column,)} for table, columns in TIMES.items() for column in columns},
    "its end and when it is due": {"request": ("valid_until", "expires_at", "due_at")},
    "each end": {
        "request": ("approved_at", "valid_until", "expires_at", "due_at"),
        "decision": ("decided_at",),
    },
}


def _edit(world: World, request_id: str, edit: str) -> int:
    with opened(place_of(world)) as database:
        return sum(
            database.write(
                f"UPDATE {table} SET {', '.join(f'{one} = ?' for one in columns)} WHERE {_key(table)} = ?",
                *[FAR] * len(columns),
                request_id,
            )
            for table, columns in EDITS[edit].items()
        )


def _key(table: str) -> str:
    return "id" if table == "request" else "request_id"


@pytest.mark.parametrize(
    ("url", "moment", "edit"),
    [
        (url, moment, edit)
        for url in BACKENDS
        for moment in MOMENTS
        for edit in EDITS
        if url == BACKENDS[0] or " " in edit
    ],
    indirect=["url"],
)
async def test_nothing_lasts_longer_than_it_was_made_for(
    url: str, tmp_path: Path, moment: str, edit: str
) -> None:
    async with a_world(tmp_path, url=url) as world:
        await pausing.pause(world.core, BOB, ["main"], "a look")
        make, lasts = MOMENTS[moment]
        request = await make(world)
        begun_at = world.clock.now()
        if not _edit(world, request.id, edit):
            return  # nobody has decided on it so far
        look = ghost_leases.Look(world.core)

        while world.clock.now() < begun_at + lasts + timedelta(minutes=2):
            left_s = (begun_at + lasts - world.clock.now()).total_seconds()
            await world.advance(60 if left_s < 1800 else 1800)
            await requests.expire_due(world.core)
            await changed_rows.watch(world.core)
            await look.run()
            with suppress(CountersignError):
                await world.run_due()
        said = " ".join(f"{alert.title} {alert.text}" for alert in await open_alerts(world))
        await _resumed(world)
        if moment == "pending":
            with suppress(CountersignError):
                await world.approve(await world.request(request.id))
        await world.run(120, step=10)

        assert top_ups(world) == []
        assert (await world.request(request.id)).state not in OPEN
        ends = ENDS[:2] if moment == "pending" else ENDS
        if set(ends).intersection(EDITS[edit].get("request", ())):
            assert request.id in said


async def _resumed(world: World) -> None:
    for person in (BOB, CAROL):
        await pausing.resume(world.core, person, ["main"])
