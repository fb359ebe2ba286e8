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
#: The entry of the audit chain that says so; its body has the number of the last entry before.
RESTORED = "database.restored"


@dataclass(frozen=True, slots=True)
class SafeMode:
    """`head_seq`: the last entry of the copy's audit chain, made at `head_at`; `anchor_seq`: the last one that is known
    to have been made, by `anchor_at`. Where the anchors say nothing, both are of the copy. `voided`: how many requests
    lost their approvals, None until that is done; `reported`: how many orphan debits people have read of."""

    id: str
    head_seq: int
    head_at: datetime | None
    anchor_seq: int
    anchor_at: datetime | None
    entered_at: datetime
    voided: int | None
    reported: int
    left_at: datetime | None


@dataclass(frozen=True, slots=True)
class OrphanDebit:
    """A row of the ledger whose key was made here and belongs to no request. `amount_usd` < 0 left the float."""

    program: str
    reference: str
    amount_usd: Decimal
    kind: str
    card_id: str | None
    booked_at: datetime
    found_at: datetime


async def current(tx: Tx) -> SafeMode | None:
    """The one in force."""
    row = (await tx.run(_CURRENT)).one_or_none()
    return None if row is None else SafeMode(**row._mapping)


async def all(tx: Tx) -> list[SafeMode]:  # noqa: A001  read as `safe_mode.all`
    """Every one there was, the first one first."""
    rows = (await tx.run(select(t.safe_mode).order_by(_COLUMNS.entered_at))).all()
    return [SafeMode(**row._mapping) for row in rows]


async def enter(
    tx: Tx,
    id_: str,
    *,
    head_seq: int,
    head_at: datetime | None,
    anchor_seq: int,
    anchor_at: datetime | None,
) -> bool:
    """False where one is in force already."""
    await tx.hold("safe_mode")
    if await current(tx) is not None:
        return False
    row = {
        "id": id_,
        "head_seq": head_seq,
        "head_at": head_at,
        "anchor_seq": anchor_seq,
        "anchor_at": anchor_at,
        "entered_at": tx.now,
        "voided": None,
        "reported": 0,
        "left_at": None,
    }
    await tx.run(insert(t.safe_mode).values(row))
    return True


async def note(tx: Tx, id_: str, *, voided: int | None = None, reported: int | None = None) -> None:
    values = {
        name: value for name, value in (("voided", voided), ("reported", reported)) if value is not None
    }
    await tx.run(update(t.safe_mode).where(_COLUMNS.id == id_).values(values))


async def leave(tx: Tx) -> SafeMode | None:
    """The one that was in force until now."""
    found = await current(tx)
    if found is not None:
        await tx.run(update(t.safe_mode).where(_COLUMNS.id == found.id).values(left_at=tx.now))
    return found


async def add_orphans(tx: Tx, orphans: Sequence[OrphanDebit]) -> None:
    """Those that are not known yet."""
    for orphan in orphans:
        row = {name: getattr(orphan, name) for name in OrphanDebit.__slots__}
        await insert_new(tx, t.orphan_debit, row)


async def orphans(tx: Tx, *, since: datetime) -> list[OrphanDebit]:
    """Those that were found from then on, in the order in which they were found: what comes later is at the end."""
    o = t.orphan_debit.c
    asked = select(t.orphan_debit).where(o.found_at >= since).order_by(o.found_at, o.booked_at, o.reference)
    return [OrphanDebit(**row._mapping) for row in (await tx.run(asked)).all()]
