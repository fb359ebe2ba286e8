"""Facts about this installation, kept in the database: its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from storage import tables as t

if TYPE_CHECKING:
    from storage.transaction import Tx

INSTANCE = "instance"


async def instance(tx: Tx) -> str:
    """Six letters and digits, drawn when the database was made; part of every idempotency key."""
    found = (await tx.run(select(t.meta.c.value).where(t.meta.c.name == INSTANCE))).scalar_one()
    return str(found)
