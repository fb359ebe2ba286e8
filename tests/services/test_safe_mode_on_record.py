"""Safe mode is in force until two people left it, by the audit log."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.domain.errors import NotFound
from bot.domain.requests import State
from bot.partner.secret import Secret
from bot.services.operators import pausing, safe_mode
from storage import audit
from storage.log_record import on_record
from storage.operators import SafeMode, pauses, programs
from storage.operators import safe_mode as rows
from tests.support.databases import BACKENDS
from tests.support.world import BOB, CAROL, World, a_world
from tests.thief.edits import insert, opened
from tests.thief.programme import place_of

pytestmark = pytest.mark.by_turns(2)


@pytest.fixture
async def world(url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=url) as made:
        yield made


async def restored(world: World) -> SafeMode:
    """An older copy is in place."""
    async with world.store.read() as tx:
        end = await audit.head(tx)
    at = world.clock.now()
    head, anchor = (end.seq, at - timedelta(minutes=5)), (end.seq + 5, at - timedelta(minutes=1))
    await safe_mode.enter(world.core, head, anchor)
    await safe_mode.at_start(world.core)
    return await current(world)


async def current(world: World) -> SafeMode:
    async with world.store.read() as tx:
        found = await rows.current(tx)
    assert found is not None
    return found


async def left_by_two(world: World) -> None:
    # Nothing reads the ledger here: after an hour it holds nobody any more.
    await world.advance(3700)
    await pausing.resume(world.core, BOB, ["main"])
    await pausing.resume(world.core, CAROL, ["main"])


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_another_process_goes_on_with_what_the_one_that_began_it_has_not_done(world: World) -> None:
    request = await world.top_up("5.00")
    async with world.store.read() as tx:
        end = await audit.head(tx)
    await safe_mode.enter(world.core, (end.seq, world.clock.now()), (end.seq, world.clock.now()))

    await safe_mode.review(world.core)
    await world.run(20, step=10)

    assert (await current(world)).voided == 1
    assert (await world.request(request.id)).state is State.CANCELLED
    await left_by_two(world)
    async with world.store.read() as tx:
        assert await rows.current(tx) is None


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_a_safe_mode_that_two_people_left_stays_left_after_each_start(world: World) -> None:
    await restored(world)
    await left_by_two(world)

    for _ in range(3):
        world.rebuild()
        await safe_mode.at_start(world.core)
        await safe_mode.review(world.core)

    async with world.store.read() as tx:
        assert await rows.current(tx) is None
        assert len(await rows.all(tx)) == 1
    request = await world.top_up("5.00")
    await world.run(20, step=10)
    assert (await world.request(request.id)).state is State.SUCCEEDED


async def _with_another_program(world: World) -> World:
    async with world.store.begin() as tx:
        await programs.put(tx, "other", base_url=world.simulator.base_url, key=Secret(world.simulator.key))
    return world


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_nobody_leaves_it_while_the_rows_of_another_program_are_out(world: World) -> None:
    await _with_another_program(world)
    await restored(world)
    with opened(place_of(world)) as database:
        for table, column in (("program", "name"), ("pause", "program"), ("row_signature", "row_key")):
            database.write(f"DELETE FROM {table} WHERE {column} = 'other'")

    with pytest.raises(NotFound, match=r"Not read yet: main, other\."):
        await pausing.resume(world.core, BOB, ["main"])
    await left_by_two(world)

    await current(world)
    async with world.store.read() as tx:
        assert (await on_record.of(tx)).restored is not None


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_it_holds_a_program_whose_row_is_out_while_it_begins(world: World) -> None:
    with opened(place_of(world)) as database:
        kept = database.read("program")
        database.write("DELETE FROM program")
    await restored(world)
    with opened(place_of(world)) as database:
        insert(database, "program", kept[0])

    async with world.store.read() as tx:
        assert await pauses.of(tx, "main") is not None


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_it_ends_once_the_last_program_that_it_holds_was_removed(world: World) -> None:
    await _with_another_program(world)
    await restored(world)
    await left_by_two(world)
    await current(world)

    async with world.store.begin() as tx:
        await programs.remove(tx, "other")
    await safe_mode.review(world.core)

    async with world.store.read() as tx:
        assert await rows.current(tx) is None
