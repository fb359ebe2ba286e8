"""The columns that hold sealed values: what each is bound to, so that a value is opened in its own cell only; and
looking through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Table, Text, literal, select, tuple_

from storage import tables as t
from storage.errors import CannotOpen
from storage.transaction import Tx
from storage.vault import Ref, Sealed


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """A column of sealed values: its table and row key, its purpose, and where its version is kept.

    `bound`: other columns of the row, whose values are bound to the sealed one.
    """

    table: Table
    column: str
    key: str
    purpose: str
    version: str | None = None
    bound: tuple[str, ...] = ()

    @property
    def cell(self) -> Column[Sealed | None]:
        return self.table.c[self.column]

    def ref(self, row_id: str, version: int = 1, *bound: str) -> Ref:
        """The cell of a row; `bound` are the values of the columns that this one is bound to, in their order."""
        if len(bound) != len(self.bound):
            raise ValueError(f"{self.table.name}.{self.column} is bound to {len(self.bound)} other column(s)")
        return Ref(self.purpose, self.table.name, self.column, row_id, version, bound)


PROGRAM_KEY = SealedColumn(t.program, "sealed_key", "name", "api_key", "key_version", ("base_url",))
REQUEST_PRIVATE = SealedColumn(t.request, "sealed_private", "id", "pii")
REQUEST_BODY = SealedColumn(t.request, "sealed_body", "id", "pii")
INBOX_PAYLOAD = SealedColumn(t.inbox, "sealed_payload", "event_id", "pii")
DRAFT_CONTENT = SealedColumn(t.draft, "sealed_content", "id", "pii")
WEBHOOK_SECRET = SealedColumn(t.webhook_secret, "sealed_secret", "program", "wh_secret", "version")
RELAY_BODY = SealedColumn(t.relay_delivery, "sealed_body", "id", "pii")
DIALOG_SLOTS = SealedColumn(t.dialog, "sealed_slots", "id", "pii")
UNREAD_TEXT = SealedColumn(t.unread_text, "sealed_text", "id", "pii")
PASSKEY = SealedColumn(t.passkey, "sealed_key", "id", "passkey", "version")
SEALED_COLUMNS = (
    PROGRAM_KEY,
    REQUEST_PRIVATE,
    REQUEST_BODY,
    INBOX_PAYLOAD,
    DRAFT_CONTENT,
    WEBHOOK_SECRET,
    RELAY_BODY,
    DIALOG_SLOTS,
    UNREAD_TEXT,
    PASSKEY,
)
BATCH: Final = 100
"""So many rows are read at a time."""
DOES_NOT_OPEN = (CannotOpen, ValueError, TypeError, AttributeError)
"""What opening a value raises that nobody of us has sealed for its cell."""


async def opens_any(tx: Tx) -> bool:
    """Does one value open under this keyring, in this installation?"""
    for column in SEALED_COLUMNS:
        for rows in (await older(tx, column, None), await older(tx, column, None, is_current=True)):
            if any(opened(tx, column, one) is not None for one in rows):
                return True
    return False


async def older(tx: Tx, column: SealedColumn, after: Any, *, is_current: bool = False) -> Sequence[Any]:
    """The next rows whose value is not under the first master key, or those whose is, in the order of their keys."""
    names, its = list(column.table.primary_key), column.table.c
    version: ColumnElement[Any] = its[column.version] if column.version else literal(1)
    like = column.cell.cast(Text).like(f"v1.{tx.vault.primary_kid}.%")
    asked = select(
        its[column.key].label("key_of_row"),
        column.cell.label("sealed"),
        version.label("version_of_row"),
        *(its[name].label(f"bound_{name}") for name in column.bound),
        *(part.label(f"place_{part.name}") for part in names),
    ).where(column.cell.is_not(None), like if is_current else ~like)
    if after is not None:
        last = [literal(value, part.type) for value, part in zip(after, names, strict=True)]
        asked = asked.where(tuple_(*names) > tuple_(*last))
    return (await tx.run(asked.order_by(*names).limit(BATCH))).all()


def place(column: SealedColumn, one: Any) -> tuple[Any, ...]:
    """The key of a row that `older` returned."""
    return tuple(getattr(one, f"place_{part.name}") for part in column.table.primary_key)


def ref(column: SealedColumn, one: Any) -> Ref:
    """The cell to which the value of a row that `older` returned is bound."""
    bound = (getattr(one, f"bound_{name}") for name in column.bound)
    return column.ref(one.key_of_row, one.version_of_row, *bound)


def opened(tx: Tx, column: SealedColumn, one: Any) -> bytes | None:
    """The value of a row that `older` returned; None where it does not open in its cell."""
    try:
        return tx.vault.open(one.sealed, ref(column, one))
    except DOES_NOT_OPEN:
        return None
