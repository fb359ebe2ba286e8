"""A row of an approved list whose state somebody changed in the database: none of the rest is sent, and people know."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.domain.errors import CountersignError, Stale
from bot.domain.requests import OPEN, State
from bot.services.alerts import put_back_rules
from bot.services.operators import changed_rows, deep_check
from tests.services.bulk_requests import a_list, ask_bulk, rows_of, run_to_the_end, states_of
from tests.services.outcome_steps import alert_kinds, top_ups
from tests.support.databases import BACKENDS
from tests.support.world import World, a_world
from tests.thief.edits import insert, opened
from tests.thief.programme import place_of

# Each says of a row that nothing is sent for it, or not now.
_NOT_SENT = ("cancelled", "rejected", "expired", "failed", "succeeded", "pending", "unresolved", "executing")


async def _moved(world: World, row_id: str, state: str) -> None:
    async with world.store.begin() as tx:
        await tx.run(text(f"UPDATE request SET state = '{state}' WHERE id = '{row_id}'"))


@pytest.mark.parametrize("state", _NOT_SENT)
async def test_a_row_that_somebody_left_out_stops_the_whole_list(world: World, state: str) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20", "30"))
    await world.approve(batch)
    *_, last = await rows_of(world, batch)
    await _moved(world, last.id, state)

    await world.run(60, step=10)

    assert top_ups(world) == []
    assert "tampered" in await alert_kinds(world)


async def test_a_row_that_was_left_out_before_the_approval_has_the_list_approved_by_nobody(
    world: World,
) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20", "30"))
    first, *_ = await rows_of(world, batch)
    await _moved(world, first.id, "cancelled")

    with pytest.raises(Stale, match="not what was requested"):
        await world.approve(batch)
    await world.run(60, step=10)

    assert top_ups(world) == []


async def test_the_last_row_left_out_after_the_others_were_sent_is_reported(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    await world.approve(batch)
    await world.run_due()
    first, last = await rows_of(world, batch)
    assert (first.state, last.state) == (State.SUCCEEDED, State.APPROVED)
    await _moved(world, last.id, "cancelled")

    await world.run(60, step=10)
    await changed_rows.watch(world.core)
    await world.run(60, step=10)

    assert len(top_ups(world)) == 1
    assert "ended_put_back" in await alert_kinds(world)
    async with world.store.read() as tx:
        assert await deep_check.differences(tx) == []


@pytest.mark.parametrize("state", ["cancelled", "failed", "succeeded", "pending"])
async def test_a_request_that_somebody_ended_in_the_database_is_reported_and_ends(
    world: World, state: str
) -> None:
    request = await world.top_up("50")
    await _moved(world, request.id, state)

    await changed_rows.watch(world.core)

    assert "ended_put_back" in await alert_kinds(world)
    assert (await world.request(request.id)).state is State.CANCELLED
    await world.run(60, step=10)
    assert top_ups(world) == []
    async with world.store.read() as tx:
        assert await deep_check.differences(tx) == []


async def test_an_honest_list_raises_nothing(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20", "30"))
    await world.approve(batch)

    await world.run_due()
    await changed_rows.watch(world.core)
    await run_to_the_end(world, batch)
    await changed_rows.watch(world.core)

    assert await states_of(world, batch) == {State.SUCCEEDED: 3}
    assert not {"ended_put_back", "tampered"} & await alert_kinds(world)


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_a_row_that_was_out_while_its_list_ended_is_not_sent_and_its_list_says_so(
    url: str, tmp_path: Path
) -> None:
    async with a_world(tmp_path, url=url) as world:
        batch = await ask_bulk(world, a_list(world, "10", "20", "30"))
        await world.approve(batch)
        hidden = (await rows_of(world, batch))[1].id
        with opened(place_of(world)) as database:
            (kept,) = [row for row in database.read("request") if row["id"] == hidden]
            database.write("DELETE FROM request WHERE id = ?", hidden)
        await world.run(30)
        with opened(place_of(world)) as database:
            insert(database, "request", kept)
        await world.run(60)

        assert top_ups(world) == []
        assert (await world.request(hidden)).state is State.CANCELLED
        said = (await world.request(batch.id)).outcome_text
        assert "1 more row is not counted here" in said
        assert "look in the ledger" in said


_EDITS = {
    "the list is deleted": ("list", "DELETE FROM request WHERE id = ?"),
    "a row is deleted": ("row", "DELETE FROM request WHERE id = ?"),
    "another kind of the list": ("list", "UPDATE request SET kind = 'card_freeze' WHERE id = ?"),
    "another kind of a row": ("row", "UPDATE request SET kind = 'card_freeze' WHERE id = ?"),
    "other terms of the list": ("list", "UPDATE request SET reason = 'another' WHERE id = ?"),
    "another program of the list": ("list", "UPDATE request SET program = 'other' WHERE id = ?"),
    "a row of no list": ("row", "UPDATE request SET parent_id = NULL WHERE id = ?"),
    "the list ended": ("list", "UPDATE request SET state = 'cancelled' WHERE id = ?"),
    "the list is pending": ("list", "UPDATE request SET state = 'pending' WHERE id = ?"),
    "a row ended": ("row", "UPDATE request SET state = 'cancelled' WHERE id = ?"),
}


@pytest.mark.by_turns(6)
@pytest.mark.parametrize("for_good", [False, True])
@pytest.mark.parametrize("stage", ["pending", "approved"])
@pytest.mark.parametrize("edit", _EDITS)
async def test_a_list_ends_with_its_rows_and_they_with_it_whatever_somebody_changed_for_a_while(
    world: World, edit: str, stage: str, for_good: bool
) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20", "30"))
    if stage == "approved":
        await world.approve(batch)
    which, statement = _EDITS[edit]
    one = batch.id if which == "list" else (await rows_of(world, batch))[1].id
    with opened(place_of(world)) as database:
        (kept,) = [row for row in database.read("request") if row["id"] == one]
        database.write(statement, one)
    await _watched(world, seconds=24)
    if not for_good:
        with opened(place_of(world)) as database:
            now = [row["version"] for row in database.read("request") if row["id"] == one]
            if now in ([], [kept["version"]]):  # else it was put right already
                database.write("DELETE FROM request WHERE id = ?", one)
                insert(database, "request", kept)
    await _watched(world, seconds=180)

    with opened(place_of(world)) as database:
        rows = [row for row in database.read("request") if row["rows"] is None]
        of_list = {row["state"] for row in database.read("request") if row["rows"] is not None}
    are_open = {row["id"]: row["state"] for row in rows if row["state"] in OPEN}
    assert not (of_list - OPEN and are_open), "its list has ended"
    assert not (of_list & {"approved", "executing"} and not are_open), "its rows have all ended"


async def _watched(world: World, *, seconds: int) -> None:
    for _ in range(seconds // 12):
        await world.advance(12)
        with suppress(CountersignError):
            await world.run_due()
        await put_back_rules.tell(world.core)
        await changed_rows.watch(world.core)
