"""What waits for a second person's yes. One open asking for each kind and subject; an answer is given once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select, update

from storage import tables as t
from storage.protection import CONSENT, signed_rows
from storage.transaction import Tx
from storage.upsert import insert_new

_C = t.consent.c
_OPEN = select(t.consent).where(_C.state == "open").order_by(_C.asked_at, _C.id)


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
    if not await insert_new(tx, t.consent, row):
        return None
    await signed_rows.sign(tx, CONSENT, consent_id)
    return Consent(**row)


async def get(tx: Tx, consent_id: str) -> Consent | None:
    """Raises `ChangedOutside` for one that is not as we left it: who asked, for what and until when, or that it was."""
    row = (await tx.run(select(t.consent).where(t.consent.c.id == consent_id))).one_or_none()
    await signed_rows.require(tx, CONSENT, consent_id)
    return None if row is None else Consent(**row._mapping)


async def open_one(tx: Tx, kind: str, subject: str) -> Consent | None:
    c = t.consent.c
    asked = select(t.consent).where(c.kind == kind, c.subject == subject, c.state == "open")
    row = (await tx.run(asked)).one_or_none()
    return None if row is None else Consent(**row._mapping)


async def in_the_way(tx: Tx, kind: str, subject: str) -> Consent | None:
    """The open one, where it is not as we left it, so that nobody can answer it."""
    found = await open_one(tx, kind, subject)
    if found is None or await signed_rows.is_as_left(tx, CONSENT, found.id):
        return None
    return found


async def open_ones(tx: Tx) -> list[Consent]:
    """The one asked first first."""
    return [Consent(**row) for row in (await tx.run(_OPEN)).mappings()]


async def end(tx: Tx, consent_id: str, state: str, *, by: str | None = None) -> bool:
    """Give, decline or let expire what is open; False when somebody was quicker.

    Raises `ChangedOutside` where somebody answers what is not as we left it.
    """
    mine = update(t.consent).where(t.consent.c.id == consent_id, t.consent.c.state == "open")
    values = {"state": state, "answered_by": by, "answered_at": tx.now}
    if state != "expired":
        await signed_rows.require(tx, CONSENT, consent_id)
    ended = bool((await tx.run(mine.values(values))).rowcount)
    if ended:
        await signed_rows.sign(tx, CONSENT, consent_id)
    return ended


async def overdue(tx: Tx) -> list[Consent]:
    """Open ones whose time is over, and those that are not as we left them: nobody can answer these."""
    rows = (await tx.run(_OPEN)).mappings().all()
    return [
        Consent(**row)
        for row in rows
        if row["expires_at"] <= tx.now or not await signed_rows.is_ours(tx, CONSENT, row["id"], row)
    ]
