"""Master keys and the database: does the key fit, which keys are in use, and moving to a new one.

Rotation: add the new key as the second line everywhere, make it the first line, `rewrap`, check with
`kids_in_use`, then take the old line out. Audit links and decisions signed under the old key can be
checked only while it is in the keyring, so keep it there as long as their proof is wanted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, ColumnElement, Table, Text, delete, insert, literal, select, update

from storage import tables as t
from storage.errors import CannotOpen, WrongMasterKey
from storage.vault import Ref, Sealed

if TYPE_CHECKING:
    from storage.store import Store, Tx

_CONSTANT = b"countersign keycheck"
_BATCH = 100


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """A column of sealed values: its table and row key, its purpose, and where its version is kept."""

    table: Table
    column: str
    key: str
    purpose: str
    version: str | None = None

    @property
    def cell(self) -> Column[Sealed | None]:
        return self.table.c[self.column]

    def ref(self, row_id: str, version: int = 1) -> Ref:
        return Ref(self.purpose, self.table.name, self.column, row_id, version)


PROGRAM_KEY = SealedColumn(t.program, "sealed_key", "name", "api_key", "key_version")
REQUEST_PRIVATE = SealedColumn(t.request, "sealed_private", "id", "pii")
REQUEST_BODY = SealedColumn(t.request, "sealed_body", "id", "pii")
INBOX_PAYLOAD = SealedColumn(t.inbox, "sealed_payload", "event_id", "pii")
DRAFT_CONTENT = SealedColumn(t.draft, "sealed_content", "id", "pii")
WEBHOOK_SECRET = SealedColumn(t.webhook_secret, "sealed_secret", "program", "wh_secret", "version")
RELAY_BODY = SealedColumn(t.relay_delivery, "sealed_body", "id", "pii")
DIALOG_SLOTS = SealedColumn(t.dialog, "sealed_slots", "id", "pii")
SEALED_COLUMNS = (
    PROGRAM_KEY,
    REQUEST_PRIVATE,
    REQUEST_BODY,
    INBOX_PAYLOAD,
    DRAFT_CONTENT,
    WEBHOOK_SECRET,
    RELAY_BODY,
    DIALOG_SLOTS,
)


def _canary(kid: str) -> Ref:
    return Ref("keycheck", "keycheck", "sealed", kid)


async def check_canary(tx: Tx) -> None:
    """Raise `WrongMasterKey` unless every key this database uses is in the keyring and is the true one."""
    rows = (await tx.run(select(t.keycheck))).all()
    wrong = []
    for row in rows:
        try:
            fits = tx.vault.open(row.sealed, _canary(row.kid)) == _CONSTANT
        except CannotOpen:
            fits = False
        if not fits:
            wrong.append(row.kid)
    if wrong:
        raise WrongMasterKey(
            f"The master key does not fit this database, so nothing was started and nothing was changed."
            f" It needs the key(s) {', '.join(sorted(wrong))}; given: {', '.join(tx.vault.kids)}."
            " Give the keyring that was used before."
        )


async def plant_canaries(tx: Tx) -> None:
    """A canary for the primary key if it has none, so that its loss is noticed at the next start."""
    known = set((await tx.run(select(t.keycheck.c.kid))).scalars())
    if tx.vault.primary_kid not in known:
        sealed = tx.vault.seal(_CONSTANT, _canary(tx.vault.primary_kid))
        await tx.run(insert(t.keycheck).values(kid=tx.vault.primary_kid, sealed=sealed))


async def kids_in_use(tx: Tx) -> dict[str, int]:
    """How many sealed values each master key holds, by key id."""
    counts: Counter[str] = Counter()
    for column in SEALED_COLUMNS:
        result = await tx.run(select(column.cell).where(column.cell.is_not(None)))
        counts.update(sealed.kid for sealed in result.scalars())
    return dict(counts)


async def rewrap(store: Store) -> int:
    """Seal everything anew under the primary key; returns how many values moved.

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
    asked = select(key, column.cell, version).where(old).limit(_BATCH)
    rows: Sequence[Any] = (await tx.run(asked)).all()
    for row_id, sealed, version_now in rows:
        ref = column.ref(row_id, version_now)
        fresh = tx.vault.seal(tx.vault.open(sealed, ref), ref)
        unchanged = (key == row_id, column.cell == sealed)
        await tx.run(update(column.table).where(*unchanged).values({column.column: fresh}))
    return len(rows)
