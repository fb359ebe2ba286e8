"""The columns that hold sealed values: what each is bound to, so that a value is opened in its own cell only."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Column, Table

from storage import tables as t
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
