"""A process that stands still and keeps its connections is reported by the others; one that is gone is not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from bot.domain.process_roles import ALL, Role
from bot.services.core import Core
from bot.services.processes import Replica, replicas
from storage.database import connections_named, process_name
from storage.messages import Alert, alerts
from storage.operators import replicas as rows
from tests.crash.outside import outside
from tests.crash.shared_database import SharedDatabase
from tests.support.clock import SteppedClock
from tests.support.databases import PostgresDatabases
from tests.support.waiting import eventually
from tests.support.world import a_world

STOOD_STILL = text("UPDATE replica SET beat_at = beat_at - :passed WHERE owner = :owner")


@pytest.fixture
async def core(postgres_databases: PostgresDatabases, tmp_path: Path) -> AsyncIterator[Core]:
    url = postgres_databases.migrated()
    async with a_world(tmp_path, url=url) as world:
        yield world.core
    postgres_databases.drop(url)


async def began(core: Core, owner: str, roles: str, *, silent_for_s: float) -> None:
    async with core.store.begin() as tx:
        await rows.beat(tx, owner, roles)
        await tx.run(STOOD_STILL, {"passed": timedelta(seconds=silent_for_s), "owner": owner})


async def reported(core: Core) -> list[Alert]:
    await replicas.look(core)
    async with core.store.read() as tx:
        return [alert for alert in await alerts.open_ones(tx) if alert.kind == "process_frozen"]


async def test_who_is_silent_for_ten_seconds_and_still_connected_is_reported_until_it_works_again(
    core: Core,
) -> None:
    owner = f"{process_name()}:here"
    await began(core, owner, "slack, worker", silent_for_s=9)
    assert await reported(core) == []

    await began(core, owner, "slack, worker", silent_for_s=11)
    for _ in range(2):
        (alert,) = await reported(core)
    assert process_name() in alert.title
    assert "clicks get no answer" in alert.text
    assert alert.severity == "critical"

    assert isinstance(core.clock, SteppedClock)
    core.clock.advance(30)
    await began(core, owner, "slack, worker", silent_for_s=0)
    assert await reported(core) == []
    async with core.store.read() as tx:
        shown = await alerts.get(tx, alert.id)
    assert shown is not None
    assert shown.title.startswith("Over: ")


async def test_of_one_that_does_not_answer_people_no_lost_clicks_are_reported(core: Core) -> None:
    await began(core, f"{process_name()}:here", "worker", silent_for_s=11)

    (alert,) = await reported(core)

    assert "clicks get no answer" not in alert.text


async def test_who_is_gone_is_forgotten_without_an_alert(core: Core) -> None:
    await began(core, "elsewhere:1:gone", "worker", silent_for_s=11)

    assert await reported(core) == []

    async with core.store.read() as tx:
        assert await rows.silent(tx, since=timedelta(0)) == []


async def test_who_is_connected_to_a_copy_on_the_same_server_is_not_on_this_database(
    core: Core, postgres_databases: PostgresDatabases
) -> None:
    """A dump that was put back beside the database it is of: the copy has the rows of those who work on the other."""
    copy = postgres_databases.migrated()
    with psycopg.connect(copy, application_name=connections_named("elsewhere:1")):
        await began(core, "elsewhere:1:works", "worker", silent_for_s=11)

        assert await reported(core) == []
    postgres_databases.drop(copy)


async def test_whoever_starts_with_the_same_name_has_taken_the_place_of_the_one_before(core: Core) -> None:
    await began(core, f"{process_name()}:before", "worker", silent_for_s=11)
    replica = Replica(core.store, f"{process_name()}:now", ALL)
    async with core.store.begin() as tx:
        await rows.begin(tx, f"{process_name()}:now", Role.WEB)

    assert await reported(core) == []

    await replica.end()
    async with core.store.read() as tx:
        assert await rows.silent(tx, since=timedelta(seconds=-1)) == []


async def test_a_file_has_one_process_and_nobody_to_notice(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        await replicas.look(world.core)


@pytest.mark.soak
@pytest.mark.timeout(180)
async def test_a_whole_bot_that_stands_still_is_reported_by_the_other(
    postgres_databases: PostgresDatabases, tmp_path: Path
) -> None:
    shared = SharedDatabase(postgres_databases.migrated())
    async with outside(tmp_path, shared=shared) as world, AsyncExitStack() as stack:
        frozen, other = [await world.bot.sibling(all_timers=True) for _ in range(2)]
        for bot in (frozen, other):
            stack.push_async_callback(bot.close)
            await bot.start()

        def said() -> list[str]:
            return [m["text"] for m in world.posts() if "stands still" in m["text"]]

        frozen.stand_still()
        await eventually("it is reported", said, within_s=30, every_s=0.2)
        frozen.go_on()
        await eventually("it works again", lambda: any("Over:" in text for text in said()), within_s=20)
    shared.forget()
    postgres_databases.drop(shared.url)
