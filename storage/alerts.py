"""Alerts: one open alert per condition, however often it is seen."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update

from storage import tables as t
from storage.store import Tx
from storage.writing import insert_new


@dataclass(frozen=True, slots=True)
class Alert:
    """A fact someone should look at. `state`: raised, acknowledged, snoozed or resolved."""

    id: str
    dedupe: str
    kind: str
    subject: str
    severity: str
    title: str
    text: str
    state: str
    count: int
    raised_at: datetime
    updated_at: datetime
    acknowledged_by: str | None
    snoozed_until: datetime | None
    assigned_to: str | None
    resolved_at: datetime | None


async def raise_(
    tx: Tx, *, dedupe: str, kind: str, subject: str, severity: str, title: str, text: str
) -> tuple[Alert, bool]:
    """Raise an alert, or count it on the open one of the same `dedupe`; True when it is new.

    An open one takes the newest words; what people did with it (acknowledged, snoozed) stands.
    """
    said = {"severity": severity, "title": title, "text": text, "updated_at": tx.now}
    row = {
        "dedupe": dedupe,
        "kind": kind,
        "subject": subject,
        "state": "raised",
        "count": 1,
        "raised_at": tx.now,
    }
    is_new = await insert_new(tx, t.alert, {"id": await _new_id(tx, dedupe), **row, **said})
    if not is_new:
        a = t.alert.c
        await tx.run(update(t.alert).where(a.dedupe == dedupe, _open()).values(count=a.count + 1, **said))
    found = (await tx.run(select(t.alert).where(t.alert.c.dedupe == dedupe, _open()))).one()
    return Alert(**found._mapping), is_new


async def _new_id(tx: Tx, dedupe: str) -> str:
    """From the condition and how often it was raised before: the same history gives the same ids."""
    before = (
        await tx.run(select(func.count()).select_from(t.alert).where(t.alert.c.dedupe == dedupe))
    ).scalar_one()
    return "A-" + hashlib.sha256(f"{before}:{dedupe}".encode()).hexdigest()[:12].upper()


async def acknowledge(tx: Tx, alert_id: str, *, by: str) -> Alert | None:
    """Somebody looks after it; None when it is not open."""
    return await _change(tx, alert_id, state="acknowledged", acknowledged_by=by, snoozed_until=None)


async def snooze(tx: Tx, alert_id: str, *, until: datetime) -> Alert | None:
    """Keep quiet about it until then; None when it is not open."""
    return await _change(tx, alert_id, state="snoozed", snoozed_until=until)


async def assign(tx: Tx, alert_id: str, *, to: str | None) -> Alert | None:
    return await _change(tx, alert_id, assigned_to=to)


async def wake(tx: Tx) -> list[Alert]:
    """Snoozed alerts whose time is up are raised again."""
    a = t.alert.c
    over = update(t.alert).where(a.state == "snoozed", a.snoozed_until <= tx.now)
    values = {"state": "raised", "snoozed_until": None, "updated_at": tx.now}
    rows = (await tx.run(over.values(values).returning(t.alert))).all()
    return [Alert(**row._mapping) for row in rows]


async def resolve(tx: Tx, dedupe: str) -> Alert | None:
    """The condition is over; None when no alert of it is open."""
    row = await tx.run(
        update(t.alert)
        .where(t.alert.c.dedupe == dedupe, _open())
        .values(state="resolved", resolved_at=tx.now, updated_at=tx.now)
        .returning(t.alert)
    )
    found = row.one_or_none()
    return None if found is None else Alert(**found._mapping)


async def get(tx: Tx, alert_id: str) -> Alert | None:
    row = (await tx.run(select(t.alert).where(t.alert.c.id == alert_id))).one_or_none()
    return None if row is None else Alert(**row._mapping)


async def open_ones(tx: Tx) -> list[Alert]:
    """Everything not resolved, the newest first."""
    rows = (
        await tx.run(select(t.alert).where(_open()).order_by(t.alert.c.raised_at.desc(), t.alert.c.id))
    ).all()
    return [Alert(**row._mapping) for row in rows]


def _open() -> Any:
    return t.alert.c.state != "resolved"


async def _change(tx: Tx, alert_id: str, **values: Any) -> Alert | None:
    changed = update(t.alert).where(t.alert.c.id == alert_id, _open())
    row = (await tx.run(changed.values(**values, updated_at=tx.now).returning(t.alert))).one_or_none()
    return None if row is None else Alert(**row._mapping)
