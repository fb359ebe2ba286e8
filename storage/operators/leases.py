"""Leases: which of several processes does what only one may do, until it stops renewing or gives it back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import delete, func, literal, or_
from sqlalchemy.dialects import postgresql, sqlite

from storage import tables as t
from storage.columns import UtcDateTime
from storage.transaction import Tx


async def take(tx: Tx, name: str, owner: str, *, lasts: timedelta) -> bool:
    """Take or renew it for `lasts` from now; False while somebody else has it."""
    now = _now(tx)
    statement: Any = (postgresql if tx.is_postgres else sqlite).insert(t.lease)
    until = now + lasts if tx.is_postgres else literal(tx.now + lasts, UtcDateTime())
    mine = or_(t.lease.c.owner == owner, t.lease.c.until <= now)
    taken = statement.values(name=name, owner=owner, until=until).on_conflict_do_update(
        index_elements=["name"],
        set_={"owner": statement.excluded.owner, "until": statement.excluded.until},
        where=mine,
    )
    return (await tx.run(taken.returning(t.lease.c.name))).first() is not None


async def give_back(tx: Tx, name: str, owner: str) -> None:
    """Free for the next to ask; nothing happens where it is somebody else's."""
    await tx.run(delete(t.lease).where(t.lease.c.name == name, t.lease.c.owner == owner))


def _now(tx: Tx) -> Any:
    """The clock that all who ask share: PostgreSQL's own; on SQLite they are on one machine."""
    return func.now() if tx.is_postgres else literal(tx.now, UtcDateTime())
