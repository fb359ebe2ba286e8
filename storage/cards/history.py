"""Readings over time, for the rate at which money is spent and for charts: one row where a value changed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, select

from storage import tables as t
from storage.cards.api_snapshots import Reading
from storage.transaction import Tx
from storage.upsert import insert_new

# An unchanged value is written again this often, so that the history shows that somebody looked.
AGAIN_AFTER = timedelta(minutes=30)
KEPT_FOR = timedelta(days=90)


async def put(tx: Tx, program: str, name: str, value: Any) -> bool:
    """Keep the value read just now; False when it is the last one, read a short while ago."""
    h = t.reading_history.c
    asked = select(h.value, h.read_at).where(h.program == program, h.name == name)
    last = (await tx.run(asked.order_by(h.read_at.desc()).limit(1))).one_or_none()
    if last is not None and last.value == value and tx.now - last.read_at < AGAIN_AFTER:
        return False
    row = {"program": program, "name": name, "read_at": tx.now, "value": value}
    return await insert_new(tx, t.reading_history, row)


async def since(tx: Tx, program: str, name: str, at: datetime) -> list[Reading]:
    """What was read from then on, the oldest first."""
    h = t.reading_history.c
    asked = select(h.value, h.read_at).where(h.program == program, h.name == name, h.read_at >= at)
    return [Reading(row.value, row.read_at) for row in (await tx.run(asked.order_by(h.read_at))).all()]


async def drop_old(tx: Tx) -> int:
    """Forget what is older than `KEPT_FOR`; returns how many rows."""
    old = delete(t.reading_history).where(t.reading_history.c.read_at < tx.now - KEPT_FOR)
    return int((await tx.run(old)).rowcount)
