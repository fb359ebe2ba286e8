"""What waits for a second person's yes. One open asking for each kind and subject; an answer is given once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select, update

from storage import tables as t
from storage.transaction import Tx
from storage.upsert import insert_new


@dataclass(frozen=True, slots=True)
class Consent:
    """`asked_by` wants `kind` done to `subject`. `state`: open, given, declined or expired."""

    id: str
    kind: str
    subject: str
    terms: Mapping[str, Any]
    asked_by: str
    asked_by_name: str
    asked_at: datetime
    expires_at: datetime
    state: str
    answered_by: str | None = None
    answered_at: datetime | None = None


async def ask(
    tx: Tx,
    *,
    consent_id: str,
    kind: str,
    subject: str,
    terms: Mapping[str, Any],
    by: str,
    by_name: str,
    expires_at: datetime,
) -> Consent | None:
    """None when the same is asked for already."""
    row: dict[str, Any] = {
        "id": consent_id,
        "kind": kind,
        "subject": subject,
        "terms": dict(terms),
        "asked_by": by,
        "asked_by_name": by_name,
        "asked_at": tx.now,
        "expires_at": expires_at,
        "state": "open",
    }
    return Consent(**row) if await insert_new(tx, t.consent, row) else None


async def get(tx: Tx, consent_id: str) -> Consent | None:
    row = (await tx.run(select(t.consent).where(t.consent.c.id == consent_id))).one_or_none()
    return None if row is None else Consent(**row._mapping)


async def open_one(tx: Tx, kind: str, subject: str) -> Consent | None:
    c = t.consent.c
    asked = select(t.consent).where(c.kind == kind, c.subject == subject, c.state == "open")
    row = (await tx.run(asked)).one_or_none()
    return None if row is None else Consent(**row._mapping)


async def end(tx: Tx, consent_id: str, state: str, *, by: str | None = None) -> bool:
    """Give, decline or let expire what is open; False when somebody was quicker."""
    mine = update(t.consent).where(t.consent.c.id == consent_id, t.consent.c.state == "open")
    values = {"state": state, "answered_by": by, "answered_at": tx.now}
    return bool((await tx.run(mine.values(values))).rowcount)


async def overdue(tx: Tx) -> list[Consent]:
    """Open ones whose time is over."""
    c = t.consent.c
    asked = select(t.consent).where(c.state == "open", c.expires_at <= tx.now).order_by(c.asked_at, c.id)
    return [Consent(**row._mapping) for row in (await tx.run(asked)).all()]
