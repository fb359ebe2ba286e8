"""Who stopped sending to a program, since when and why. Ended by deleting the row; the audit keeps both.

Rows are signed, and so is that there is none. Where what is stored is not as we left it, or cannot be read, sending
stays stopped until two people resume it: whoever can write to the database can stop the bot, and cannot let it go on.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import LargeBinary, Text, bindparam, delete, literal, select

from storage import tables as t
from storage.protection import PAUSE, RowRead, signed_rows, unreadable_rows
from storage.set_aside import as_stored
from storage.transaction import Tx
from storage.upsert import insert_new

_OF = select(t.pause).where(t.pause.c.program == bindparam("program"))
_LOCKED = select(t.program.c.name).where(t.program.c.name == bindparam("program"))
_BY, _BY_NAME = "system:storage", "Countersign"
_REASON = "what is stored of a pause was changed outside Countersign"
_UNREADABLE = "what is stored of a pause cannot be read"
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
    """False when it is paused already, by whomever; that pause then stands. What cannot be read, or is not as we left
    it, makes way for it."""
    await _lock(tx, program, shared=False)
    if await _cannot_be_read(tx, program):
        await _take_out(tx, program)
    there = (await tx.run(_OF, {"program": program})).mappings().one_or_none()
    if await is_as_left(tx, program, there) and there is not None:
        return False
    if there is not None:
        await _take_out(tx, program)
    row = {"program": program, "by": by, "by_name": by_name, "reason": reason, "since": tx.now}
    if not await insert_new(tx, t.pause, row):
        raise signed_rows.undone(PAUSE, program)
    await signed_rows.sign_as(tx, PAUSE, program, row)
    return True


async def of(tx: Tx, program: str) -> Pause | None:
    """The pause in force. Where the caller writes, none begins before its transaction ends."""
    if tx.writes:
        await _lock(tx, program, shared=True)
    if tx.set_aside.has(t.pause.name, program):
        return Pause(program, _BY, _BY_NAME, _UNREADABLE, tx.now)
    row = (await tx.run(_OF, {"program": program})).mappings().one_or_none()
    if await is_as_left(tx, program, row):
        return None if row is None else Pause(**row)
    return Pause(program, _BY, _BY_NAME, _REASON, tx.now if row is None else row["since"])


async def is_as_left(tx: Tx, program: str, row: RowRead | None) -> bool:
    """Is the row, or that there is none, signed by us? For a program that there is, one of both always is."""
    if not await signed_rows.is_ours(tx, PAUSE, program, row):
        return False
    if row is not None or await signed_rows.is_signed(tx, PAUSE, program):
        return True
    return (await tx.run(_LOCKED, {"program": program})).one_or_none() is None


async def is_changed(tx: Tx, program: str) -> bool:
    """Is what is stored not as we left it? What cannot be read is such."""
    if tx.set_aside.has(t.pause.name, program):
        return True
    row = (await tx.run(_OF, {"program": program})).mappings().one_or_none()
    return not await is_as_left(tx, program, row)


async def all(tx: Tx) -> list[Pause]:  # noqa: A001  read as `pauses.all`
    """Those in force, by program."""
    known = (await tx.run(select(t.program.c.name).union(select(t.pause.c.program)))).scalars()
    changed = await signed_rows.changed_outside(tx, PAUSE)  # of programs whose rows were taken out, too
    found = [await of(tx, program) for program in sorted({*known, *changed})]
    return [pause for pause in found if pause is not None]


async def drop(tx: Tx, program: str) -> bool:
    """False when it was not paused."""
    before = await of(tx, program)
    await _take_out(tx, program)
    await signed_rows.sign_as(tx, PAUSE, program, None)
    return before is not None


async def _cannot_be_read(tx: Tx, program: str) -> bool:
    """Also where this process has not met it yet."""
    if tx.set_aside.has(t.pause.name, program):
        return True
    try:
        (await tx.run(_OF, {"program": program})).all()
    except Exception as error:
        if not unreadable_rows.may_be_unreadable(error):
            raise
        return True
    return False


async def _take_out(tx: Tx, program: str) -> None:
    """Whatever is there in its name, with what cannot be read."""
    stored = as_stored(t.pause.c.program, is_postgres=tx.is_postgres)
    mine = stored == (
        literal(program, Text()) if tx.is_postgres else literal(program.encode(), LargeBinary())
    )
    await tx.run_with_all(delete(t.pause).where(mine))
    for key in ((program,), (program.encode(),)):
        tx.set_aside.gone(t.pause.name, key)


async def _lock(tx: Tx, program: str, *, shared: bool) -> None:
    """A claim and a pause of one program meet here, one after the other; SQLite has one writer anyway."""
    await tx.run(_SHARED if shared else _ALONE, {"program": program})
