"""Texts that nobody understood, masked before they come here and sealed as well. Forgotten after a month."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select

from storage import tables as t
from storage.sealed_columns import UNREAD_TEXT
from storage.transaction import Tx

KEPT_FOR = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class UnreadText:
    """One text without its values, and when it was said."""

    text: str
    said_at: datetime


async def add(tx: Tx, text_id: str, masked: str) -> None:
    """Keep a text that has been masked."""
    sealed = tx.vault.seal(masked.encode(), UNREAD_TEXT.ref(text_id))
    row = {"id": text_id, "sealed_text": sealed, "said_at": tx.now}
    await tx.run(t.unread_text.insert(), [row])


async def kept(tx: Tx) -> list[UnreadText]:
    """Every text that is kept and not yet too old, the oldest first."""
    row = t.unread_text.c
    asked = select(row.id, row.sealed_text, row.said_at).where(row.said_at > tx.now - KEPT_FOR)
    found = (await tx.run(asked.order_by(row.said_at, row.id))).all()
    return [
        UnreadText(tx.vault.open(one.sealed_text, UNREAD_TEXT.ref(one.id)).decode(), one.said_at)
        for one in found
    ]


async def drop_old(tx: Tx) -> int:
    """Delete what is older than `KEPT_FOR`; how many there were."""
    old = t.unread_text.c.said_at <= tx.now - KEPT_FOR
    return int((await tx.run(delete(t.unread_text).where(old))).rowcount)
