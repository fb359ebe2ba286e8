"""The inbox: events accepted, each once for ever, and not yet handled. Payloads are sealed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import or_, select, update

from storage import tables as t
from storage.keys import INBOX_PAYLOAD
from storage.store import Tx
from storage.writing import insert_new


@dataclass(frozen=True, slots=True)
class InboxEvent:
    """An event as accepted. `source`: webhook or poll; `state`: received or processed."""

    event_id: str
    program: str
    type: str
    created_at: datetime
    received_at: datetime
    source: str
    state: str
    processed_at: datetime | None
    attempts: int
    retry_at: datetime | None


_COLUMNS = tuple(t.inbox.c[name] for name in InboxEvent.__slots__)


async def receive(
    tx: Tx, *, event_id: str, program: str, event_type: str, created_at: datetime, source: str, payload: bytes
) -> bool:
    """Store an event; False when it is known, whichever way it came first.

    `payload` must be free of one-time codes: what is never stored cannot leak.
    """
    row = {
        "event_id": event_id,
        "program": program,
        "type": event_type,
        "created_at": created_at,
        "received_at": tx.now,
        "source": source,
        "sealed_payload": tx.vault.seal(payload, INBOX_PAYLOAD.ref(event_id)),
        "state": "received",
        "attempts": 0,
    }
    return await insert_new(tx, t.inbox, row)


async def waiting(tx: Tx, *, limit: int = 50) -> list[InboxEvent]:
    """Events to be handled now, in the order they came; not those that another process has in hand."""
    i = t.inbox.c
    due = or_(i.retry_at.is_(None), i.retry_at <= tx.now)
    asked = select(*_COLUMNS).where(i.state == "received", due).order_by(i.received_at, i.event_id)
    if tx.writes:
        asked = asked.with_for_update(skip_locked=True)  # PostgreSQL only; SQLite has one writer
    return [InboxEvent(**row._mapping) for row in (await tx.run(asked.limit(limit))).all()]


async def get(tx: Tx, event_id: str) -> InboxEvent | None:
    row = (await tx.run(select(*_COLUMNS).where(t.inbox.c.event_id == event_id))).one_or_none()
    return None if row is None else InboxEvent(**row._mapping)


async def last_received(tx: Tx, program: str, source: str) -> datetime | None:
    """When the newest event came by this way; None before the first."""
    i = t.inbox.c
    asked = select(i.received_at).where(i.program == program, i.source == source)
    return (await tx.run(asked.order_by(i.received_at.desc()).limit(1))).scalar_one_or_none()


async def payload(tx: Tx, event_id: str) -> bytes:
    """The event's body; raises `CannotOpen` when it was tampered with."""
    asked = select(t.inbox.c.sealed_payload).where(t.inbox.c.event_id == event_id)
    return tx.vault.open((await tx.run(asked)).scalar_one(), INBOX_PAYLOAD.ref(event_id))


async def processed(tx: Tx, event_id: str) -> bool:
    """Mark as handled, in the transaction of what it caused; False when it was handled already."""
    mine = update(t.inbox).where(t.inbox.c.event_id == event_id, t.inbox.c.state == "received")
    return bool((await tx.run(mine.values(state="processed", processed_at=tx.now))).rowcount)


async def put_off(tx: Tx, event_id: str, *, until: datetime) -> int:
    """Count a failed attempt to handle it, and leave it alone until then; returns how many there were."""
    counted = update(t.inbox).where(t.inbox.c.event_id == event_id)
    changed = counted.values(attempts=t.inbox.c.attempts + 1, retry_at=until)
    return int((await tx.run(changed.returning(t.inbox.c.attempts))).scalar_one())
