"""The small world of the tests: it is the same at its start whatever was done in the one before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import text

from storage import audit
from storage.tables import metadata
from tests.support.databases import Databases
from tests.support.world import World, a_world

#: The address of the simulator, another in each world, and what is signed with it.
OF_ITS_OWN = {"program", "row_signature"}


async def everything(world: World) -> dict[str, Any]:
    """What the database and the simulator hold, and the time."""
    async with world.store.read() as tx:
        rows = {
            table: sorted(map(str, (await tx.run(text(f"SELECT * FROM {table}"))).all()))
            for table in metadata.tables
            if table not in OF_ITS_OWN
        }
    held = await world.state()
    return {**rows, "cards held": held["cards"], "cards known": world.cards, "time": world.clock.now()}


async def leave_rubbish(world: World) -> None:
    await world.top_up("50")
    await world.run(60)
    world.cards.pop()["status"] = "CLOSED"
    async with world.store._writer.begin() as connection:
        await connection.execute(text("DELETE FROM alert"))
        await connection.execute(text("DELETE FROM card_word"))


async def test_what_is_left_behind_in_one_world_is_in_no_other(databases: Databases, tmp_path: Path) -> None:
    begun = []
    for number in range(3):
        folder, url = tmp_path / str(number), databases.migrated()
        folder.mkdir()
        async with a_world(folder, url=url) as world:
            begun.append(await everything(world))
            await leave_rubbish(world)
            assert await everything(world) != begun[0]
        databases.drop(url)

    first, *others = begun
    assert first["card"]
    for other in others:
        assert {what: held for what, held in other.items() if held != first[what]} == {}


async def test_a_database_that_was_worked_with_is_left_as_it_is(databases: Databases, tmp_path: Path) -> None:
    url = databases.migrated()
    async with a_world(tmp_path, url=url) as world:
        await world.top_up("50")
        recorded = (await everything(world))["audit"]
    async with a_world(tmp_path, url=url) as world:
        assert (await everything(world))["audit"][: len(recorded)] == recorded
        async with world.store.read() as tx:
            assert (await audit.verify(tx)).ok
    databases.drop(url)

    url = databases.migrated()
    async with a_world(tmp_path, url=url) as world, world.store.read() as tx:
        assert (await tx.run(text("SELECT count(*) FROM request"))).scalar_one() == 0
    databases.drop(url)
