"""What is said of a list that ended is what the audit log has of its rows, whatever they said at that moment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.domain.requests import OPEN, State
from bot.services.operators import changed_rows, deep_check
from tests.services.bulk_requests import a_list, ask_bulk, rows_of, states_of
from tests.services.outcome_steps import alert_kinds
from tests.support.databases import BACKENDS
from tests.support.world import World, a_world
from tests.thief.edits import opened
from tests.thief.programme import place_of

pytestmark = pytest.mark.by_turns(12)

#: What somebody writes into the rows that are done: a column and its value.
EDITS = [
    *(("state", str(state)) for state in State if state is not State.SUCCEEDED),
    ("outcome", '{"returned_usd": "10.00"}'),
    ("outcome_text", "Nothing was sent."),
]


def cells() -> Iterator[tuple[str, str, bool]]:
    for column, value in EDITS:
        for is_taken_back in (True, False):
            yield column, value, is_taken_back


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize(("column", "value", "is_taken_back"), list(cells()))
async def test_a_list_says_what_moved_though_somebody_changed_its_done_rows_as_the_last_one_ended(
    url: str, tmp_path: Path, column: str, value: str, is_taken_back: bool
) -> None:
    async with a_world(tmp_path, url=url) as world:
        batch = await ask_bulk(world, a_list(world, "10", "20", "30"))
        await world.approve(batch)
        while (await states_of(world, batch))[State.SUCCEEDED] < 2:
            await world.run(1, step=1)
        done = [row for row in await rows_of(world, batch) if row.state is State.SUCCEEDED]
        with opened(place_of(world)) as database:
            were = {row["id"]: row[column] for row in database.read("request")}
            for row in done:
                database.write(f"UPDATE request SET {column} = ? WHERE id = ?", value, row.id)
        for _ in range(40):
            await world.run(5, step=5)
        with opened(place_of(world)) as database:
            for row in done if is_taken_back else ():
                database.write(f"UPDATE request SET {column} = ? WHERE id = ?", were[row.id], row.id)
        for _ in range(3):
            await changed_rows.watch(world.core)
            await world.run(30, step=15)

        whole = await world.request(batch.id)
        only_waited = is_taken_back and value in (State.APPROVED, State.EXECUTING)  # nothing was said
        assert only_waited or {"ended_put_back", "tampered"} & await alert_kinds(world)
        if is_taken_back:
            assert (whole.state, whole.outcome_text) == (
                State.SUCCEEDED,
                "3 of 3 rows succeeded. 60.00 USD of 60.00 USD moved.",
            )
            async with world.store.read() as tx:
                assert await deep_check.differences(tx) == []
        else:  # it waits for its row to be put right
            assert whole.state in OPEN or whole.outcome_text.startswith("3 of 3 rows succeeded")


async def test_an_honest_list_ends_with_its_last_row(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20", "30"))
    await world.approve(batch)

    await world.run(60, step=5)

    assert (await world.request(batch.id)).state is State.SUCCEEDED
    assert not {"ended_put_back", "tampered"} & await alert_kinds(world)
