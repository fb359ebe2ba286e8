"""An older copy of the database was put in place: since when, and the debits it has no request for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sqlalchemy import insert, select, update

from storage import tables as t
from storage.transaction import Tx
from storage.upsert import insert_new

_COLUMNS = t.safe_mode.c
_CURRENT = select(t.safe_mode).where(_COLUMNS.left_at.is_(None)).limit(1)
_ALL = select(t.safe_mode).order_by(_COLUMNS.entered_at)
#: The entries of the audit chain that say that it began, with where the copy ends, and that people went on with it.
RESTORED = "database.restored"
ACCEPTED = "database.accepted"


@dataclass(frozen=True, slots=True)
class SafeMode:
    """`head_seq`: the last entry of the copy's audit chain, made at `head_at`; `anchor_seq`: the last one that is known
    to have been made, by `anchor_at`. Where the anchors say nothing, both are of the copy. `voided`: how many requests
    lost their approvals, None until that is done."""

    id: str
    head_seq: int
    head_at: datetime | None
    anchor_seq: int
    anchor_at: datetime | None
    entered_at: datetime
    voided: int | None
    left_at: datetime | None


@dataclass(frozen=True, slots=True)
class OrphanDebit:
    """A row of the ledger whose key was made here and belongs to no request. `amount_usd` < 0 left the float.

    `listed_at`: since when people can read of it; None until then."""

    program: str
    reference: str
    amount_usd: Decimal
    kind: str
    card_id: str | None
    booked_at: datetime
    found_at: datetime
    listed_at: datetime | None = None


async def current(tx: Tx) -> SafeMode | None:
    """The one in force."""
    row = (await tx.run(_CURRENT)).one_or_none()
    return None if row is None else SafeMode(**row._mapping)


async def all(tx: Tx) -> list[SafeMode]:  # noqa: A001  read as `safe_mode.all`
    """Every one there was, the first one first."""
    rows = (await tx.run(_ALL)).all()
    return [SafeMode(**row._mapping) for row in rows]


async def enter(
    tx: Tx,
    id_: str,
    *,
    head_seq: int,
    head_at: datetime | None,
    anchor_seq: int,
    anchor_at: datetime | None,
    entered_at: datetime | None = None,
) -> bool:
    """False where the one in force is of this copy. Of a copy that was made in safe mode it is of an earlier one, and
    says nothing of what came after it: that one ends, and what it found is found again. `entered_at`: where it began
    before now.
    """
    await tx.hold("safe_mode")
    earlier = await current(tx)
    if earlier is not None and head_seq <= earlier.head_seq:
        return False
    if earlier is not None:
        await leave(tx)
        o = t.orphan_debit.c
        its_own = update(t.orphan_debit).where(o.found_at >= earlier.entered_at)
        await tx.run(its_own.values(found_at=tx.now, listed_at=None))
    row = {
        "id": id_,
        "head_seq": head_seq,
        "head_at": head_at,
        "anchor_seq": anchor_seq,
        "anchor_at": anchor_at,
        "entered_at": entered_at or tx.now,
        "voided": None,
        "left_at": None,
    }
    await tx.run(insert(t.safe_mode).values(row))
    return True


async def note_voided(tx: Tx, id_: str, voided: int) -> bool:
    """False where another process has done and noted it."""
    mine = update(t.safe_mode).where(_COLUMNS.id == id_, _COLUMNS.voided.is_(None))
    return (await tx.run(mine.values(voided=voided).returning(_COLUMNS.id))).first() is not None


async def leave(tx: Tx) -> SafeMode | None:
    """The one that was in force until now."""
    found = await current(tx)
    if found is not None:
        await tx.run(update(t.safe_mode).where(_COLUMNS.id == found.id).values(left_at=tx.now))
    return found


async def add_orphans(tx: Tx, orphans: Sequence[OrphanDebit]) -> None:
    """Those that are not known yet. What is found in safe mode counts as found since it began, whatever the clock of
    this process says."""
    mode = await current(tx)
    for orphan in orphans:
        row = {name: getattr(orphan, name) for name in OrphanDebit.__slots__}
        if mode is not None:
            row["found_at"] = max(orphan.found_at, mode.entered_at)
        await insert_new(tx, t.orphan_debit, row)


async def orphans(tx: Tx, *, since: datetime) -> list[OrphanDebit]:
    """Those that were found from then on, as they were booked."""
    o = t.orphan_debit.c
    asked = select(t.orphan_debit).where(o.found_at >= since).order_by(o.booked_at, o.reference)
    return [OrphanDebit(**row._mapping) for row in (await tx.run(asked)).all()]


async def references(tx: Tx, program: str) -> frozenset[str]:
    """What the ledger calls those of a program that are known."""
    asked = select(t.orphan_debit.c.reference).where(t.orphan_debit.c.program == program)
    return frozenset((await tx.run(asked)).scalars())


async def is_any_unlisted(tx: Tx) -> bool:
    """Is there one of which nobody can read yet?"""
    asked = select(t.orphan_debit.c.reference).where(t.orphan_debit.c.listed_at.is_(None)).limit(1)
    return (await tx.run(asked)).first() is not None


async def take_unlisted(tx: Tx) -> list[OrphanDebit]:
    """Those of which nobody can read yet, as they were booked; from now on they count as listed. Each is taken once,
    whichever process asks and whenever it was committed."""
    o = t.orphan_debit.c
    taken = update(t.orphan_debit).where(o.listed_at.is_(None)).values(listed_at=tx.now)
    found = [OrphanDebit(**row._mapping) for row in (await tx.run(taken.returning(t.orphan_debit))).all()]
    return sorted(found, key=lambda one: (one.booked_at, one.reference))
