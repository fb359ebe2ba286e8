"""Safe mode is what the audit log says, and nothing else: a row of the table that older versions kept it in neither
begins nor ends it, whatever it says and whenever it is put there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.domain.requests import State
from bot.services.anchor_places import AnchorPlaces
from bot.services.operators import changed_rows, health, safe_mode
from storage.log_record import on_record
from storage.operators import pauses
from storage.store import Store
from tests.services.outcome_steps import open_alerts, top_ups
from tests.storage.restores import VAULT, restart_on
from tests.storage.test_restores_at_odd_times import (
    PutInPlace,
    as_a_volume,
    by_restore,
    copied,
    in_force,
    leave,
    read_ledger,
)
from tests.support.databases import Databases
from tests.support.world import World, a_world
from tests.thief.edits import opened
from tests.thief.programme import place_of

pytestmark = [pytest.mark.walk(turns="databases"), pytest.mark.by_turns(15)]

LONG_AGO, FAR = "2026-03-02T08:00:00.000000Z", "2099-01-01T00:00:00.000000Z"
_FIRST = 10**9, LONG_AGO, 10**9, LONG_AGO, LONG_AGO, 0, None
_COLUMNS = ("head_seq", "head_at", "anchor_seq", "anchor_at", "entered_at", "voided", "left_at")
#: What a thief writes: a row that stands in the way of each later one, and the same with another value of one column.
ROWS = {"as if all was done": _FIRST} | {
    f"{column} {value}": tuple(
        value if one == column else was for one, was in zip(_COLUMNS, _FIRST, strict=True)
    )
    for column, value in {
        "head_seq": 5,
        "head_at": None,
        "anchor_seq": 0,
        "anchor_at": None,
        "entered_at": FAR,
        "voided": None,
        "left_at": LONG_AGO,
    }.items()
}
_TABLE = (
    "CREATE TABLE IF NOT EXISTS safe_mode (id TEXT PRIMARY KEY, head_seq BIGINT NOT NULL, head_at {when},"
    " anchor_seq BIGINT NOT NULL, anchor_at {when}, entered_at {when} NOT NULL, voided INTEGER, left_at {when})"
)


def invented(place: str, row: str) -> None:
    """The table, where there is none, with a row of its own beside those that are there."""
    when = "timestamptz" if place.startswith("postgresql") else "TEXT"
    with opened(place) as database:
        database.write(_TABLE.format(when=when))
        database.write("DELETE FROM safe_mode WHERE id = '0'")
        database.write(
            f"INSERT INTO safe_mode (id, {', '.join(_COLUMNS)}) VALUES ('0', ?, ?, ?, ?, ?, ?, ?)", *ROWS[row]
        )


@pytest.fixture
async def world(tmp_path: Path, own_url: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=own_url) as world:
        world.rebuild(anchors=AnchorPlaces([tmp_path / "anchors"]))
        await world.tell("float", {"amount_usd": "5000"})
        yield world
        await world.store.close()


async def some_rounds(world: World) -> None:
    """As what watches does, and what sends."""
    for _ in range(3):
        await world.advance(10)
        await safe_mode.review(world.core)
        await changed_rows.watch(world.core)
        await world.run_due()


async def on_the_log(world: World) -> list[str]:
    async with world.store.read() as tx:
        asked = text("SELECT action FROM audit WHERE action LIKE 'database.%' ORDER BY seq")
        return [*(await tx.run(asked)).scalars()]


async def titles(world: World) -> str:
    return " ".join(one.title for one in await open_alerts(world))


@pytest.mark.parametrize("row", ROWS)
async def test_it_begins_nothing_where_all_is_well(world: World, row: str) -> None:
    approved = await world.top_up("5")
    waits = await world.top_up("3", approved=False)

    invented(place_of(world), row)
    await some_rounds(world)
    await world.approve(waits)
    await some_rounds(world)
    world.rebuild()
    await safe_mode.at_start(world.core)
    await some_rounds(world)

    assert await health.sends(world.core) is None
    assert not await in_force(world)
    assert "Safe mode" not in await titles(world)
    for request in (approved, waits):
        assert (await world.request(request.id)).state is State.SUCCEEDED
    assert await on_the_log(world) == []


@pytest.mark.parametrize("when", ["in the copy", "before the start", "since the start"])
@pytest.mark.parametrize("put", [as_a_volume, by_restore])
@pytest.mark.parametrize("row", ROWS)
async def test_an_older_copy_with_it_sends_nothing_of_what_was_approved_until_two_people_leave_safe_mode(
    world: World, databases: Databases, tmp_path: Path, row: str, put: PutInPlace, when: str
) -> None:
    await read_ledger(world)
    approved = await world.top_up("5")
    copy = await copied(world, tmp_path / "copy.db")
    if when == "in the copy":
        invented(str(copy), row)
    url = await put(world, copy, databases)
    await world.advance(60)

    await world.store.close()
    world.store = await Store.open(url, vault=VAULT, clock=world.clock)
    if when == "before the start":
        invented(place_of(world), row)
    await restart_on(world, url)
    if when == "since the start":
        invented(place_of(world), row)
    await some_rounds(world)

    assert await in_force(world)
    assert (await health.sends(world.core) or "").startswith("Safe mode")
    assert "Safe mode" in await titles(world)
    assert (await world.request(approved.id)).state is State.CANCELLED
    assert top_ups(world) == []
    assert "database.restored" in await on_the_log(world)
    assert "database.accepted" not in await on_the_log(world)
    async with world.store.read() as tx:
        assert await pauses.of(tx, "main") is not None

    await read_ledger(world)
    await some_rounds(world)
    assert (await leave(world)).startswith("Sending to main has resumed")
    await some_rounds(world)

    assert not await in_force(world)
    assert (await on_the_log(world)).count("database.accepted") == 1
    async with world.store.read() as tx:
        assert (await on_record.of(tx)).restored is None
    later = await world.top_up("2")
    await some_rounds(world)
    assert (await world.request(later.id)).state is State.SUCCEEDED
