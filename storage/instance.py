"""Facts about this installation, kept in the database: its name, and when it was last tried to write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from storage import tables as t
from storage.columns import time_text
from storage.upsert import upsert

if TYPE_CHECKING:
    from storage.transaction import Tx

INSTANCE = "instance"
_PROBED = "probed_at"


async def instance(tx: Tx) -> str:
    """Six letters and digits, drawn when the database was made; part of every idempotency key."""
    found = (await tx.run(select(t.meta.c.value).where(t.meta.c.name == INSTANCE))).scalar_one()
    return str(found)


async def note_probe(tx: Tx) -> None:
    """Store something, to see that it can be stored. What every change of the product has to lock is locked, too."""
    if tx.is_postgres:
        await tx.run(select(t.audit_head.c.seq).with_for_update())
    await upsert(tx, t.meta, [{"name": _PROBED, "value": time_text(tx.now)}], key=("name",))
