"""What was sent with a key in the last minute, by all processes that use it: a row a key, locked while it is read."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select

from storage import tables as t
from storage.transaction import Tx
from storage.upsert import inserting


async def held(tx: Tx, key_prefix: str) -> tuple[Any, float]:
    """What was kept, None where nothing was, and the time in seconds by the clock of leases.

    Nobody else gets it before the transaction ends. It is not waited for that the end reaches the disk: a crash of
    the database may forget what was sent in its last moment, which costs a refused call at most.
    """
    row = t.rate_minute.c
    columns: list[Any] = [row.minute, tx.lease_clock]
    if tx.is_postgres:
        columns.append(func.set_config("synchronous_commit", "off", True))
    asked = select(*columns).where(row.key_prefix == key_prefix).with_for_update()
    found: Any = (await tx.run(asked)).one_or_none()
    if found is None:
        new = _insert(tx).values(key_prefix=key_prefix, minute={})
        await tx.run(new.on_conflict_do_nothing())  # one that cannot be read makes way
        found = (await tx.run(asked)).one()
    return found[0] or None, found[1].timestamp()


async def keep(tx: Tx, key_prefix: str, minute: Any) -> None:
    """As it is after whoever held it."""
    row = t.rate_minute
    await tx.run(row.update().where(row.c.key_prefix == key_prefix).values(minute=minute))


def _insert(tx: Tx) -> Any:
    return inserting(t.rate_minute, is_postgres=tx.is_postgres)
