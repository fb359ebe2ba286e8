"""Moving a database to a new master key, and which keys it still needs.

Rotation: add the new key as the second line everywhere, make it the first line, `rewrap`, check with
`kids_in_use`, then take the old line out. Audit links and decisions signed under the old key can be
checked only while it is in the keyring, so keep it there as long as their proof is wanted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Text, delete, literal, select, update

from storage import tables as t
from storage.master_keys import plant_canaries
from storage.sealed_columns import SEALED_COLUMNS, SealedColumn
from storage.store import Store
from storage.transaction import Tx

_BATCH = 100


async def kids_in_use(tx: Tx) -> dict[str, int]:
    """How many sealed values each master key holds, by key id."""
    counts: Counter[str] = Counter()
    for column in SEALED_COLUMNS:
        result = await tx.run(select(column.cell).where(column.cell.is_not(None)))
        counts.update(sealed.kid for sealed in result.scalars())
    return dict(counts)


async def rewrap(store: Store) -> int:
    """Seal everything again under the primary key; returns how many values moved.

    Runs in small transactions and writes only over the value it read, so it may be killed and run
    again, beside a running bot. Canaries of keys that hold nothing any more are taken out at the end.
    """
    moved = 0
    for column in SEALED_COLUMNS:
        while True:
            async with store.begin() as tx:
                batch = await _rewrap_batch(tx, column)
            moved += batch
            if batch < _BATCH:
                break
    async with store.begin() as tx:
        await plant_canaries(tx)
        used = {*await kids_in_use(tx), tx.vault.primary_kid}
        await tx.run(delete(t.keycheck).where(t.keycheck.c.kid.not_in(used)))
    return moved


async def _rewrap_batch(tx: Tx, column: SealedColumn) -> int:
    current = f"v1.{tx.vault.primary_kid}."
    key = column.table.c[column.key]
    version: ColumnElement[int] = column.table.c[column.version] if column.version else literal(1)
    old = column.cell.is_not(None) & column.cell.cast(Text).not_like(f"{current}%")
    bound_to = [column.table.c[name] for name in column.bound]
    asked = select(key, column.cell, version, *bound_to).where(old).limit(_BATCH)
    rows: Sequence[Any] = (await tx.run(asked)).all()
    for row_id, sealed, version_now, *bound in rows:
        ref = column.ref(row_id, version_now, *bound)
        fresh = tx.vault.seal(tx.vault.open(sealed, ref), ref)
        unchanged = (key == row_id, column.cell == sealed)
        await tx.run(update(column.table).where(*unchanged).values({column.column: fresh}))
    return len(rows)
