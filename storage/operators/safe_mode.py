"""An older copy of the database was put in place: since when, and the debits it has no request for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import insert, select, update

from storage import audit
from storage import tables as t
from storage.log_record import OrphanDebit, debits, on_record
from storage.transaction import Tx

_COLUMNS = t.safe_mode.c
_CURRENT = select(t.safe_mode).where(_COLUMNS.left_at.is_(None)).limit(1)
_ALL = select(t.safe_mode).order_by(_COLUMNS.entered_at)
#: The entries of the audit chain that say that it began, with where the copy ends, and that people went on with it.
RESTORED = "database.restored"
ACCEPTED = "database.accepted"
ACTOR = "system:restore"
HOLD = "safe_mode"
_READS = "system:poller"


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
    lost: Sequence[str] = (),
    policy_version: str = "",
    entered_at: datetime | None = None,
) -> bool:
    """False where the one in force is of this copy. Of a copy that was made in safe mode it is of an earlier one, and
    says nothing of what came after it: that one ends, and what it found is found again.

    It goes on record as it begins. `lost`: the hashes of anchors beyond the end of the chain, which keeps them: what
    was lost is known by them, whatever a clock says. `entered_at`: where it began before now, and is on record already.
    """
    await tx.hold(HOLD)
    earlier = await current(tx)
    if earlier is not None and head_seq <= earlier.head_seq:
        return False
    if earlier is not None:
        await leave(tx)
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
    if entered_at is None:
        body = {
            "head": head_seq,
            "head_at": _iso(head_at),
            "anchor": anchor_seq,
            "anchor_at": _iso(anchor_at),
            "lost": list(lost),
        }
        await audit.append(
            tx,
            actor=ACTOR,
            action=RESTORED,
            subject="database",
            body=body,
            policy_version=policy_version,
        )
    return True


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


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


async def add_orphans(tx: Tx, found: Sequence[OrphanDebit], *, are_of_before: bool = False) -> None:
    """Put those that are not known yet on record, late in the transaction. They are found now, or by an older version
    before the safe mode in force (`are_of_before`), and listed now if they say that they are."""
    known = (await on_record.of(tx)).debits if found else {}
    new = list({one.key: one for one in found if one.key not in known}.values())
    order = [(one.program, one.listed_at is not None) for one in new]
    for program, are_listed in dict.fromkeys(order):
        mine = [one for one, of in zip(new, order, strict=True) if of == (program, are_listed)]
        for start in range(0, len(mine), debits.A_PIECE):
            body = debits.as_recorded(
                mine[start : start + debits.A_PIECE], are_listed=are_listed, are_of_before=are_of_before
            )
            subject = f"program:{program}"
            await audit.append(tx, actor=_READS, action=debits.FOUND, subject=subject, body=body)


async def orphans(tx: Tx) -> list[OrphanDebit]:
    """Those that were found in the safe mode in force, as they were booked."""
    said = await on_record.of(tx)
    mode = said.restored
    return debits.in_order(one for one in said.debits.values() if mode is not None and one.mode == mode.seq)


async def references(tx: Tx, program: str) -> frozenset[str]:
    """What the ledger calls those of a program that are known."""
    return frozenset(reference for name, reference, _ in (await on_record.of(tx)).debits if name == program)


async def unlisted(tx: Tx) -> list[OrphanDebit]:
    """Those of which nobody can read yet, as they were booked."""
    said = await on_record.of(tx)
    return debits.in_order(one for one in said.debits.values() if one.debit.listed_at is None)


async def note_listed(tx: Tx) -> None:
    """People can read of all of them from now on. Hold `HOLD` from before they were asked for, so that each is listed
    once, and do this late in the transaction."""
    known = (await on_record.of(tx)).debits.values()
    upto = max((one.seq for one in known if one.debit.listed_at is None), default=0)
    if upto:
        await audit.append(tx, actor=_READS, action=debits.LISTED, subject="database", body={"upto": upto})
