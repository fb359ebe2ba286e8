"""Who stopped sending to a program, since when and why. Ended by deleting the row; the audit keeps both."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, delete, select

from storage import tables as t
from storage.transaction import Tx
from storage.upsert import insert_new

_OF = select(t.pause).where(t.pause.c.program == bindparam("program"))
_LOCKED = select(t.program.c.name).where(t.program.c.name == bindparam("program"))
_SHARED, _ALONE = _LOCKED.with_for_update(read=True), _LOCKED.with_for_update()


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing is sent to `program`; `by` is a Slack id."""

    program: str
    by: str
    by_name: str
    reason: str
    since: datetime


async def put(tx: Tx, program: str, *, by: str, by_name: str, reason: str) -> bool:
    """False when it is paused already, by whomever; that pause then stands."""
    await _lock(tx, program, shared=False)
    row = {"program": program, "by": by, "by_name": by_name, "reason": reason, "since": tx.now}
    return await insert_new(tx, t.pause, row)


async def of(tx: Tx, program: str) -> Pause | None:
    """The pause in force. Where the caller writes, none begins before its transaction ends."""
    if tx.writes:
        await _lock(tx, program, shared=True)
    row = (await tx.run(_OF, {"program": program})).one_or_none()
    return None if row is None else Pause(**row._mapping)


async def all(tx: Tx) -> list[Pause]:  # noqa: A001  read as `pauses.all`
    rows = (await tx.run(select(t.pause).order_by(t.pause.c.program))).all()
    return [Pause(**row._mapping) for row in rows]


async def drop(tx: Tx, program: str) -> bool:
    """False when it was not paused."""
    return bool((await tx.run(delete(t.pause).where(t.pause.c.program == program))).rowcount)


async def _lock(tx: Tx, program: str, *, shared: bool) -> None:
    """A claim and a pause of one program meet here, one after the other; SQLite has one writer anyway."""
    await tx.run(_SHARED if shared else _ALONE, {"program": program})
