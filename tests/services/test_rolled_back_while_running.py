"""A database that is set back to an older copy beneath a running process: a snapshot, a standby that was behind."""

from __future__ import annotations

import asyncio
import os
import shutil

import pytest
from sqlalchemy import text

from bot.metrics import exposition
from bot.metrics.sources import Sources
from bot.services import audit_anchors
from bot.services.messages.storage_watch import StorageWatch
from bot.services.operators import changed_rows, health
from storage import audit
from storage.messages import alerts as alert_rows
from tests.support.world import World


async def set_back(world: World) -> None:
    """The last entry of the log is gone, and the log ends before it."""
    async with world.store.begin() as tx:
        before = await audit.head(tx)
    async with world.store.begin() as tx:
        await audit.append(tx, actor="test", action="something", subject="test")
    async with world.store.begin() as tx:
        await tx.run(text("DROP TRIGGER audit_no_delete"))
        await tx.run(text("DELETE FROM audit WHERE seq > :seq"), {"seq": before.seq})
        given = {"seq": before.seq, "hash": before.hash}
        await tx.run(text("UPDATE audit_head SET seq = :seq, hash = :hash"), given)


async def metric(world: World, name: str) -> float:
    async def connected() -> bool:
        return True

    sources = Sources(world.core, connected, database="sqlite", began_at=world.core.clock.now())
    text_ = (await exposition.text(sources, asyncio.Lock())).decode()
    (line,) = [one for one in text_.splitlines() if one.startswith(f"countersign_{name} ")]
    return float(line.split()[1])


async def test_people_and_monitors_read_that_it_may_be_an_older_copy_and_what_to_do(world: World) -> None:
    said: list[str] = []

    async def say(words: str, _people: object) -> None:
        said.append(words)

    assert await health.database_is_written(world.core) is None
    await set_back(world)

    why = await health.database_is_written(world.core)
    assert why is not None
    assert "older copy" in why
    assert "restart every process" in why
    await StorageWatch(world.core, say).look()
    assert not await metric(world, "storage_writable"), "what the rule CountersignCannotStore looks at"
    await changed_rows.watch(world.core)
    async with world.store.read() as tx:
        (alert,) = [one for one in await alert_rows.open_ones(tx) if one.kind == "changed_outside"]
    assert "older copy" in alert.text
    assert "restart every process" in alert.text.lower()
    assert said == []


@pytest.mark.parametrize("is_gone", [True, False], ids=["deleted", "renamed over"])
async def test_a_file_that_is_replaced_or_deleted_is_said_at_once_and_once_and_monitors_agree(
    world: World, *, is_gone: bool
) -> None:
    said: list[str] = []

    async def say(words: str, _people: object) -> None:
        said.append(words)

    path = world.store.database.path
    assert path is not None
    watch = StorageWatch(world.core, say)
    async with world.store.begin() as tx:
        await audit.append(tx, actor="test", action="something", subject="test")
    async with world.store.read() as tx:
        anchor = await audit.anchor(tx)
    assert anchor is not None
    if is_gone:
        path.unlink()
    else:
        shutil.copy(path, path.with_name("other"))
        os.rename(path.with_name("other"), path)

    why = await health.database_is_written(world.core)
    assert await metric(world, "storage_writable") == await metric(world, "database_up") == 0
    for _ in range(3):
        await watch.look()

    assert why is not None
    assert "while Countersign ran" in why
    (text_,) = said
    assert why in text_
    assert "continues by itself" not in text_
    kept = await world.core.anchors.read()
    assert kept[-1].seq >= anchor.seq, "the next start knows that what it finds is older"
    await audit_anchors.drop_last(world.core, within_s=1)
