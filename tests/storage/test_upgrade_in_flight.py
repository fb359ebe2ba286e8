"""A database of an earlier version, with a request in every state, is upgraded, and each request goes on.

Each of `data/schema-*.db.gz` was written by the version of that schema, by `python -m tests.storage.upgrade_data` since
0012: its requests are named in the file beside it.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

import pytest

from bot import startup
from bot.domain.requests import State
from bot.services.anchor_places import AnchorPlaces
from storage import audit
from storage.database import Database
from storage.maintenance import copies
from storage.migrate import migrate, newest
from tests.support.databases import Databases
from tests.support.world import BOB, CAROL, World, a_world

pytestmark = pytest.mark.by_turns(2)

DATA = Path(__file__).parent / "data"
SCHEMAS = sorted(path.stem for path in DATA.glob("schema-*.json"))
ENDED = {
    "expired": State.EXPIRED,
    "succeeded": State.SUCCEEDED,
    "failed": State.FAILED,
    "rejected": State.REJECTED,
    "cancelled": State.CANCELLED,
}


@pytest.fixture(params=SCHEMAS)
def schema(request: pytest.FixtureRequest) -> str:
    """Each that was kept, as the name of its files."""
    return str(request.param)


@pytest.fixture
def made(schema: str) -> dict[str, str]:
    """The ids of its requests, by their state, and when that version stopped."""
    found: dict[str, str] = json.loads((DATA / f"{schema}.json").read_text())
    return found


@pytest.fixture
async def world(
    tmp_path: Path, databases: Databases, schema: str, made: dict[str, str]
) -> AsyncIterator[World]:
    """Started on the upgraded database, at the time at which the earlier version stopped."""
    old = tmp_path / "old.db"
    old.write_bytes(gzip.decompress((DATA / f"{schema}.db.gz").read_bytes()))
    assert await migrate(f"sqlite:///{old}") == newest()
    url = f"sqlite:///{old}"
    if databases.empty().startswith("postgresql"):
        url = databases.empty()
        await migrate(url)
        copies._copy_rows(Database.parse(f"sqlite:///{old}"), Database.parse(url))
    async with a_world(tmp_path, url=url) as world:
        stopped_at = datetime.fromisoformat(made["at"])
        await world.advance((stopped_at - world.clock.now()).total_seconds())
        yield world
        await world.store.close()
    databases.drop(url)


def test_the_schemas_that_were_kept_are_there() -> None:
    assert {"schema-0009", "schema-0012"} <= set(SCHEMAS)


async def test_requests_of_every_state_go_on_after_an_upgrade(world: World, made: dict[str, str]) -> None:
    async def state(world: World, name: str) -> State:
        return (await world.request(made[name])).state

    assert await startup.check_audit(world.store, AnchorPlaces()) is None
    for name, expected in ENDED.items():
        assert await state(world, name) is expected
    for name in ("pending", "approved", "executing", "unresolved"):
        assert await state(world, name) is State(name)

    await world.run(120)

    assert await state(world, "approved") is State.SUCCEEDED, "what was approved is sent"
    assert await state(world, "executing") is State.SUCCEEDED, (
        "a lost answer is asked for again, with its key"
    )
    assert await state(world, "unresolved") is State.UNRESOLVED, "a doubt is not dropped"
    for name in ("approved", "executing"):
        request = await world.request(made[name])
        assert await world.debits(request.key) == -request.exposure_usd, "once"

    await world.approve(await world.request(made["pending"]), by=BOB)
    await world.approve(await world.request(made["pending half approved"]), by=CAROL)
    await world.run(60)
    assert await state(world, "pending") is State.SUCCEEDED
    assert await state(world, "pending half approved") is not State.PENDING, "the first approval still counts"
    for name, expected in ENDED.items():
        assert await state(world, name) is expected
    async with world.store.read() as tx:
        assert (await audit.verify(tx)).ok
