"""How many open cards there are, by program and status: kept by triggers of the table of cards, not counted.

A change of a card adds rows to `card_count`; a sum over them is how many there are now. `put_together` makes one row
of those of a program and status, so that there is never much to sum up.
"""

from __future__ import annotations

from collections import Counter

from sqlalchemy import bindparam, delete, func, insert, select

from storage import columns
from storage import tables as t
from storage.transaction import Tx

# So many rows are summed up in no time; of more, so many are made one at a time.
FEW = 200
_AT_ONCE = 5_000

_C = t.card_count.c
# What is more was written by somebody else, and its sum may be more than the database can tell.
_IS_OURS = _C.more.between(-columns.MOST, columns.MOST)
_OF_ALL = select(_C.status, func.sum(_C.more).label("kept")).where(_IS_OURS).group_by(_C.status)
_OF_PROGRAM = _OF_ALL.where(_C.program == bindparam("program"))
_MARK = select(func.max(_C.id).label("newest"), func.count().label("rows"))
# The newest row stays: its number is part of the mark, and SQLite would give it to another one. What another
# transaction puts together now is left to it.
_OLD = (
    select(_C.id)
    .where(_C.id < select(func.max(_C.id)).scalar_subquery())
    .order_by(_C.id)
    .limit(_AT_ONCE)
    .with_for_update(skip_locked=True)
)
_TAKEN = delete(t.card_count).where(_C.id.in_(_OLD)).returning(_C.program, _C.status, _C.more)


async def by_status(tx: Tx, program: str | None = None) -> Counter[str]:
    """Open cards by status, "" = none reported yet; of all programs where none is named."""
    asked, given = (_OF_ALL, {}) if program is None else (_OF_PROGRAM, {"program": program})
    return Counter({row.status: int(row.kept) for row in await tx.run(asked, given) if row.kept})


async def mark(tx: Tx) -> tuple[int | None, int]:
    """The same as long as no open card came, went, or changed in what people see of it."""
    row = (await tx.run(_MARK)).one()
    return row.newest, int(row.rows)


async def put_together(tx: Tx) -> None:
    """Make one row of the older ones of each program and status, once there are more than a few."""
    if (await mark(tx))[1] <= FEW:
        return
    kept = Counter[tuple[str, str]]()
    for row in (await tx.run(_TAKEN)).all():
        kept[row.program, row.status] += row.more if abs(row.more) <= columns.MOST else 0
    rows = [{"program": p, "status": s, "more": more} for (p, s), more in sorted(kept.items()) if more]
    if rows:
        await tx.run(insert(t.card_count), rows)
