"""Leases: which of several processes does what only one may do, until it stops renewing or gives it back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import delete, or_
from sqlalchemy.dialects import postgresql, sqlite

from storage import tables as t
from storage.transaction import Tx


async def take(tx: Tx, name: str, owner: str, *, lasts: timedelta) -> bool:
    """Take or renew it for `lasts` from now; False while somebody else has it."""
    statement: Any = (postgresql if tx.is_postgres else sqlite).insert(t.lease)
    until = tx.lease_end(lasts)
    mine = or_(t.lease.c.owner == owner, t.lease.c.until <= tx.lease_clock)
    taken = statement.values(name=name, owner=owner, until=until).on_conflict_do_update(
        index_elements=["name"],
        set_={"owner": statement.excluded.owner, "until": statement.excluded.until},
        where=mine,
    )
    return (await tx.run(taken.returning(t.lease.c.name))).first() is not None


async def give_back(tx: Tx, name: str, owner: str) -> None:
    """Free for the next to ask; nothing happens where it is somebody else's."""
    await tx.run(delete(t.lease).where(t.lease.c.name == name, t.lease.c.owner == owner))
