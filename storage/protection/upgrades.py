"""What a database from before rows were signed is given once, when the master key is there: signatures.

The migration makes the columns, and cannot sign: it has no key. So the first opening after it signs what it finds. It
is on record in the audit chain, and never happens again: a database in which somebody takes the signatures away, or
puts an old mark back, is not signed again but refused.
"""

from __future__ import annotations

import logging

from sqlalchemy import select, update

from storage import audit, master_keys
from storage import tables as t
from storage.cards import api_snapshots
from storage.errors import CannotOpen, ChangedOutside
from storage.log_record import OrphanDebit, on_record
from storage.operators import restored_copies, safe_mode
from storage.protection import PAUSE, signed_rows
from storage.sealed_columns import PROGRAM_KEY
from storage.transaction import Tx
from storage.vault import Ref

log = logging.getLogger("countersign.storage")

SIGNED, READINGS_SIGNED = restored_copies.ROWS_SIGNED, restored_copies.READINGS_SIGNED
_SUBJECT = "database"
_D = t.orphan_debit.c


async def sign_once(tx: Tx) -> int:
    """Sign every row as it is now, and bind each key to its address; returns how many there were.

    Raises `ChangedOutside` when the audit chain tells that this was done before, and `LogNotWhole`.
    """
    if signed_at := (await on_record.of(tx)).rows_signed:
        raise ChangedOutside(
            "The database says that its rows were never signed, and its audit chain says that they were, at entry"
            f" {signed_at}: somebody put an older part of it back. Nothing was started. Keep a copy of the"
            " database, and restore a backup."
        )
    names = list((await tx.run(select(t.program.c.name).order_by(t.program.c.name))).scalars())
    for name in names:
        await _bind_key(tx, name)
    count = await signed_rows.sign_all_unsigned(tx)
    for name in names:
        if not await signed_rows.is_signed(tx, PAUSE, name):
            await signed_rows.sign(tx, PAUSE, name)
    await master_keys.mark_signed(tx)
    body = {"rows": count, "programs": names}
    await audit.append(tx, actor="system:storage", action=SIGNED, subject=_SUBJECT, body=body)
    log.info("storage.rows_signed", extra={"rows": count})
    return count


async def _bind_key(tx: Tx, name: str) -> None:
    p = t.program.c
    asked = select(p.sealed_key, p.key_version, p.base_url).where(p.name == name)
    row = (await tx.run(asked)).one()
    before = Ref(PROGRAM_KEY.purpose, t.program.name, PROGRAM_KEY.column, name, row.key_version)
    try:
        key = tx.vault.open(row.sealed_key, before)
    except CannotOpen:
        return  # bound already, or changed: then it is refused where it is used
    bound = PROGRAM_KEY.ref(name, row.key_version, row.base_url)
    await tx.run(update(t.program).where(p.name == name).values(sealed_key=tx.vault.seal(key, bound)))


async def are_readings_unsigned(tx: Tx) -> bool:
    """Is there a reading without the signature that it is to have, or a debit in the table of before they were on
    record?"""
    is_any = (await tx.run(select(_D.reference).limit(1))).first() is not None
    return is_any or await api_snapshots.is_any_unsigned(tx)


async def sign_readings_once(tx: Tx) -> int | None:
    """Sign the readings that are signed since this version, and put the debits of which no request knows on record;
    returns how many there were, None where that was done before: what has no signature then counts for nothing.

    Raises `LogNotWhole`.
    """
    said = await on_record.of(tx)
    if said.readings_signed:
        return None
    count = await api_snapshots.sign_unsigned(tx)
    rows = (await tx.run(select(t.orphan_debit).order_by(_D.found_at, _D.reference, _D.kind))).all()
    found = [OrphanDebit(**row._mapping) for row in rows]
    mode = await safe_mode.current(tx)
    before = [one for one in found if mode is not None and one.found_at < mode.entered_at]
    await safe_mode.add_orphans(tx, before, are_of_before=True)
    await safe_mode.add_orphans(tx, [one for one in found if one not in before])
    body = {"readings": count, "debits": len(found)}
    await audit.append(tx, actor="system:storage", action=READINGS_SIGNED, subject=_SUBJECT, body=body)
    log.info("storage.readings_signed", extra={"rows": count + len(found)})
    return count + len(found)
