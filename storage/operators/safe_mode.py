"""An older copy of the database was put in place: since when, and the debits it has no request for.

All of it is in the audit log alone: whoever writes to the database begins no safe mode, and ends none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from storage import audit
from storage.errors import LogNotWhole
from storage.log_record import LogFacts, OrphanDebit, SafeMode, debits, on_record
from storage.transaction import Tx

#: The entries of the audit chain that say that it began, with where the copy ends; that what was open is void; and that
#: people went on with the copy.
RESTORED = "database.restored"
VOIDED = "database.voided"
ACCEPTED = "database.accepted"
ACTOR = "system:restore"
HOLD = "safe_mode"
_READS = "system:poller"


async def current(tx: Tx) -> SafeMode | None:
    """The one in force."""
    found = (await _said(tx)).restored
    return None if found is None else await _with_its_time(tx, found)


async def all(tx: Tx) -> Sequence[SafeMode]:  # noqa: A001  read as `safe_mode.all`
    """Every one there was, the first one first."""
    return [await _with_its_time(tx, one) for one in (await _said(tx)).safe_modes]


async def _with_its_time(tx: Tx, mode: SafeMode) -> SafeMode:
    """An entry of an older version does not say when the copy ended; its last entry does. A new database has none."""
    if mode.head_at is not None or not mode.head_seq:
        return mode
    return replace(mode, head_at=await audit.made_at(tx, mode.head_seq))


async def void(tx: Tx) -> frozenset[str]:
    """Ids of requests, and of rows of lists, that are not sent and were approved before the last one began."""
    return frozenset(one for one, known in (await _said(tx)).open.items() if known.counts_no_more)


async def _said(tx: Tx) -> LogFacts:
    """By the log. Where it is not whole, nothing is recorded or sent, and people are notified of that: until it is put
    right, what this process has read of it counts."""
    try:
        return await on_record.of(tx)
    except LogNotWhole:
        return tx.log if isinstance(tx.log, LogFacts) else LogFacts()


async def enter(
    tx: Tx,
    *,
    head_seq: int,
    head_at: datetime | None,
    anchor_seq: int,
    anchor_at: datetime | None,
    lost: Sequence[str] = (),
    policy_version: str = "",
) -> bool:
    """False where the one in force is of this copy. Of a copy that was made in safe mode it is of an earlier one, and
    says nothing of what came after it: that one ends, and what it found is found again.

    `lost`: the hashes of anchors beyond the end of the chain, which keeps them: what was lost is known by them,
    whatever a clock says.
    """
    await tx.hold(HOLD)
    earlier = await current(tx)
    if earlier is not None and head_seq <= earlier.head_seq:
        return False
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


async def note_voided(tx: Tx, mode: SafeMode, policy_version: str) -> bool:
    """All is void that is to be, by whichever process or version. False where that was noted, or it is over."""
    await tx.hold(HOLD)
    now = await current(tx)
    if now is None or now.seq != mode.seq or now.voided is not None:
        return False
    await audit.append(
        tx,
        actor=ACTOR,
        action=VOIDED,
        subject="database",
        body={"voided": now.ended},
        policy_version=policy_version,
    )
    return True


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
