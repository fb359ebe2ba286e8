"""What nothing shows to be stored is tried: a quiet bot beneath which the disk refuses every write says so in Slack."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress

import pytest
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from bot.services.messages.storage_watch import StorageWatch
from bot.services.operators import health
from storage import audit
from storage.maintenance import why_not_written
from storage.transaction import Tx
from tests.services.test_rolled_back_while_running import metric
from tests.support.disks import immutable
from tests.support.world import World

Work = Callable[[Tx], Awaitable[object]]


async def _nothing(_tx: Tx) -> None:
    return


async def _taken_back(tx: Tx) -> None:
    with suppress(KeyError):
        async with tx.savepoint():
            await _changed(tx)
            raise KeyError


async def _changed(tx: Tx) -> None:
    await audit.append(tx, actor="test", action="something", subject="test")


def _runs(statement: str) -> Work:
    async def run(tx: Tx) -> None:
        await tx.run(text(statement))

    return run


# What jobs do all the time on a quiet day.
CHANGES_NOTHING: dict[str, Work] = {
    "nothing": _nothing,
    "a reading": _runs("SELECT * FROM meta"),
    "a change of no row": _runs("UPDATE meta SET value = '' WHERE name = 'none'"),
    "no row to delete": _runs("DELETE FROM meta WHERE name = 'none'"),
}
# SQLite counts them, whatever is left of them at the end.
MAY_CHANGE: dict[str, Work] = {
    "the same value": _runs("UPDATE meta SET value = value"),
    "a change that is taken back": _taken_back,
    "a change": _changed,
}


async def begun(world: World, work: Work) -> bool:
    """Was it committed?"""
    with suppress(SQLAlchemyError):
        async with world.store.begin() as tx:
            await work(tx)
        return True
    return False


@pytest.mark.parametrize("work", [*CHANGES_NOTHING, *MAY_CHANGE])
async def test_whatever_jobs_do_a_disk_that_refuses_every_write_is_said_within_a_minute_and_its_end_only_when_it_ends(
    world: World, work: str, caplog: pytest.LogCaptureFixture
) -> None:
    said: list[str] = []

    async def say(words: str, _people: object) -> None:
        said.append(words)

    def logged() -> list[str]:
        return [record.message for record in caplog.records if record.message.startswith("storage.")]

    caplog.set_level("INFO", "countersign.storage")
    path, watch = world.store.database.path, StorageWatch(world.core, say)
    assert path is not None
    await begun(world, _changed)
    await watch.look()
    with immutable(path, path.with_name(f"{path.name}-wal")):
        for second in range(1, 61):
            await world.advance(1)
            committed = await begun(world, {**CHANGES_NOTHING, **MAY_CHANGE}[work])
            assert committed is (work in CHANGES_NOTHING)
            if second % 10 == 0:
                await watch.look()
        assert len(said) == 1
        assert "cannot store anything" in said[0]
        assert logged() == ["storage.not_written"]
        why = await health.database_is_written(world.core)
        assert why is not None
        assert why in said[0]
        assert not await metric(world, "storage_writable")

    await world.advance(10)
    await watch.look()
    assert logged() == ["storage.not_written", "storage.written_again"]
    assert len(said) == 2
    assert "stores everything again" in said[1]


async def test_a_lock_that_this_process_itself_keeps_taking_is_no_trouble(world: World) -> None:
    """A storm of events: whoever asks whether a row can be stored hardly gets between those that are."""
    is_over = asyncio.Event()

    async def write() -> None:
        while not is_over.is_set():
            async with world.store.begin() as tx:
                await _changed(tx)
                await asyncio.sleep(0.3)

    writers = [asyncio.create_task(write()) for _ in range(3)]
    await asyncio.sleep(0)
    assert await why_not_written(world.store) == ""
    is_over.set()
    await asyncio.gather(*writers)


@pytest.mark.parametrize("work", CHANGES_NOTHING)
async def test_a_lock_of_another_process_is_named_though_transactions_that_change_nothing_wait_for_it(
    world: World, work: str
) -> None:
    path = world.store.database.path
    assert path is not None
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        waits = asyncio.create_task(begun(world, CHANGES_NOTHING[work]))
        assert "Another process holds the write lock" in await why_not_written(world.store)
        other.rollback()
    assert await waits
