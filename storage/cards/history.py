"""Readings over time, for the rate at which money is spent and for charts: one row where a value changed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, delete, select

from storage import tables as t
from storage.cards.api_snapshots import Reading
from storage.transaction import Tx
from storage.upsert import insert_new

# An unchanged value is written again this often, so that the history shows that somebody looked.
AGAIN_AFTER = timedelta(minutes=30)
KEPT_FOR = timedelta(days=90)
# What is asked all the time is built once.
_H = t.reading_history.c
_OF = select(_H.value, _H.read_at).where(_H.program == bindparam("program"), _H.name == bindparam("name"))
_LAST = _OF.order_by(_H.read_at.desc()).limit(1)
_SINCE = _OF.where(_H.read_at >= bindparam("at")).order_by(_H.read_at)


async def put(tx: Tx, program: str, name: str, value: Any) -> bool:
    """Keep the value read just now; False when it is the last one, read a short while ago."""
    last = (await tx.run(_LAST, {"program": program, "name": name})).one_or_none()
    if last is not None and last.value == value and tx.now - last.read_at < AGAIN_AFTER:
        return False
    row = {"program": program, "name": name, "read_at": tx.now, "value": value}
    return await insert_new(tx, t.reading_history, row)


async def since(tx: Tx, program: str, name: str, at: datetime) -> list[Reading]:
    """What was read from then on, the oldest first."""
    rows = (await tx.run(_SINCE, {"program": program, "name": name, "at": at})).all()
    return [Reading(row.value, row.read_at) for row in rows]


async def drop_old(tx: Tx) -> int:
    """Forget what is older than `KEPT_FOR`; returns how many rows."""
    old = delete(t.reading_history).where(t.reading_history.c.read_at < tx.now - KEPT_FOR)
    return int((await tx.run(old)).rowcount)
