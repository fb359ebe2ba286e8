"""How far something that is read in pieces has been read: a value for each program and name."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, select

from storage import tables as t
from storage.transaction import Tx
from storage.upsert import upsert

_C = t.cursor.c
_NAMED = (_C.program == bindparam("program"), _C.name == bindparam("name"))
_VALUE, _MOVED_AT = select(_C.value).where(*_NAMED), select(_C.updated_at).where(*_NAMED)


async def get(tx: Tx, program: str, name: str) -> str | None:
    return (await tx.run(_VALUE, {"program": program, "name": name})).scalar_one_or_none()


async def moved_at(tx: Tx, program: str, name: str) -> datetime | None:
    """When it was last read, found something or not; None before the first time."""
    return (await tx.run(_MOVED_AT, {"program": program, "name": name})).scalar_one_or_none()


async def put(tx: Tx, program: str, name: str, value: str) -> None:
    row = {"program": program, "name": name, "value": value, "updated_at": tx.now}
    await upsert(tx, t.cursor, [row], key=("program", "name"))
