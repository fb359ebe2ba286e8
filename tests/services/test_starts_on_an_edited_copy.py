"""A start on an older copy does what has to be done before anything is sent, whatever one row of it was changed to."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from bot.domain.requests import State
from bot.services.alerts import put_back_rules
from bot.services.operators import changed_rows, safe_mode
from storage import audit
from storage.errors import ChangedOutside
from storage.tables import metadata
from tests.services.outcome_steps import TOPUP, open_alerts, status, top_ups
from tests.services.test_stops_by_the_log import Changed, while_it_waits
from tests.support.databases import BACKENDS
from tests.support.world import World, a_world

pytestmark = pytest.mark.by_turns(20)

CELLS = [
    (table, column.name, was_sent)
    for table, was_sent in (("request", True), ("request", False), ("attempt", True))
    for column in metadata.tables[table].columns
]


async def _start_on_an_older_copy(world: World) -> None:
    async with world.store.read() as tx:
        end = await audit.head(tx)
    await safe_mode.enter(world.core, (end.seq, world.clock.now()), (end.seq + 5, world.clock.now()))
    await safe_mode.at_start(world.core)


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize(("table", "column", "was_sent"), CELLS)
async def test_no_row_of_a_copy_keeps_a_start_from_going_on(
    url: str, tmp_path: Path, table: str, column: str, *, was_sent: bool
) -> None:
    async with a_world(tmp_path, url=url) as world:
        if was_sent:
            await status(429, "RATE_LIMITED").set(world, TOPUP, times=2)
        edited, other = await world.top_up("50"), await world.top_up("20", card=1)
        if was_sent:
            await while_it_waits(world)
        sent = len(top_ups(world))
        Changed(world, table, column, edited.id)

        await _start_on_an_older_copy(world)
        expected = State.UNRESOLVED if was_sent else State.CANCELLED
        assert (await world.request(other.id)).state is expected
        for _ in range(2):
            await world.advance(30)
            with suppress(ChangedOutside):  # that one goes no further
                await while_it_waits(world)
        await changed_rows.watch(world.core)
        await put_back_rules.tell(world.core)

        assert len(top_ups(world)) == sent
        if column == "program" and was_sent:
            assert edited.id in " ".join(f"{one.title} {one.text}" for one in await open_alerts(world))
