"""A database that is set back to an older copy beneath a running process: a snapshot, a standby that was behind."""

from __future__ import annotations

from sqlalchemy import text

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
    assert not world.core.measures.can_store, "what the rule CountersignCannotStore looks at"
    await changed_rows.watch(world.core)
    async with world.store.read() as tx:
        (alert,) = [one for one in await alert_rows.open_ones(tx) if one.kind == "changed_outside"]
    assert "older copy" in alert.text
    assert "restart every process" in alert.text.lower()
    assert said == []
