"""Alerts: one open alert per condition, however often it is seen."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any

from sqlalchemy import bindparam, func, literal_column, select, update

from storage import columns
from storage import tables as t
from storage.transaction import Tx, one_of
from storage.upsert import insert_new

_A = t.alert.c
# In the words of the index of open ones, so that the database may use it.
_IS_OPEN = _A.state != literal_column("'resolved'")
# What is asked all the time is built once.
_BY_ID = select(t.alert).where(_A.id == bindparam("id"))
_OPEN_ONE = select(t.alert).where(_A.dedupe == bindparam("dedupe"), _IS_OPEN)
_OPEN_AMONG = one_of(select(_A.dedupe).where(_IS_OPEN), _A.dedupe)
_OPEN_OF = select(t.alert).where(_A.kind == bindparam("kind"), _IS_OPEN).order_by(_A.raised_at, _A.id)
_OPEN_ONES = select(t.alert).where(_IS_OPEN).order_by(_A.raised_at.desc(), _A.id)
# An id may be that of an alert that cannot be read, or of one that somebody invented; nobody can tell the last one.
_TRIES = 10
_NOW = bindparam("now", type_=_A.updated_at.type)
_WAKE = (
    update(t.alert)
    .where(_IS_OPEN, _A.state.in_(("snoozed", "acknowledged")), _A.snoozed_until <= _NOW)
    .values(state="raised", snoozed_until=None, updated_at=_NOW)
    .returning(t.alert)
)


@dataclass(frozen=True, slots=True)
class Alert:
    """A fact someone should look at. `state`: raised, acknowledged, snoozed or resolved.

    `program`: the one it belongs to; nothing for all, and for one of an older version.
    `snoozed_until` is when a snooze, or an acknowledgement, runs out.
    """

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
    program: str | None


async def raise_(
    tx: Tx, *, dedupe: str, kind: str, subject: str, severity: str, title: str, text: str, program: str = ""
) -> tuple[Alert, bool]:
    """Raise an alert, or count it on the open one of the same `dedupe`; True when it is new.

    An open one takes the newest words; what people did with it (acknowledged, snoozed) stands.
    """
    said = {"severity": severity, "title": title, "text": text, "updated_at": tx.now}
    known = await _count(tx, dedupe, said)
    if known is not None:
        return known, False
    row = {
        "dedupe": dedupe,
        "kind": kind,
        "subject": subject,
        "program": program,
        "state": "raised",
        "count": 1,
        "raised_at": tx.now,
    }
    before = await _raised_before(tx, dedupe)
    for tried in range(_TRIES):
        alert_id = id_of(dedupe, before)
        if tried == _TRIES - 1:
            alert_id = id_of(tx.vault.mac("row_mac", f"alert:{before}:{dedupe}".encode()))
        if await insert_new(tx, t.alert, {"id": alert_id, **row, **said}):
            break
        known = await _count(tx, dedupe, said)  # another process was first
        if known is not None:
            return known, False
        if not await _let_go(tx, dedupe):
            before += 1
    found = (await tx.run(select(t.alert).where(t.alert.c.dedupe == dedupe, _IS_OPEN))).one()
    return Alert(**found._mapping), True


async def _count(tx: Tx, dedupe: str, said: dict[str, Any]) -> Alert | None:
    """One more occurrence of what is open; None when nothing is."""
    a = t.alert.c
    counted = (
        update(t.alert).where(a.dedupe == dedupe, _IS_OPEN).values(count=columns.one_more(a.count), **said)
    )
    row = (await tx.run(counted.returning(t.alert))).one_or_none()
    return None if row is None else Alert(**row._mapping)


async def was_raised(tx: Tx, dedupe: str) -> bool:
    """Was there ever an alert of this condition, open or over?"""
    return bool(await _raised_before(tx, dedupe))


async def _raised_before(tx: Tx, dedupe: str) -> int:
    """How often, from which its id is made: the same history gives the same ids."""
    asked = select(func.count()).select_from(t.alert).where(t.alert.c.dedupe == dedupe)
    count: int = (await tx.run(asked)).scalar_one()
    return count


async def _let_go(tx: Tx, dedupe: str) -> bool:
    """An open alert of this condition that is set aside, as it cannot be read, is in the way of no other; True when
    there was one."""
    its = update(t.alert).where(t.alert.c.dedupe == dedupe, _IS_OPEN).values(state="resolved")
    changed = await tx.run_with_all(its.returning(literal_column("1")))
    return changed.first() is not None


def id_of(dedupe: str, before: int = 0) -> str:
    """The id of the alert of this condition that was raised so many times before."""
    return "A-" + hashlib.sha256(f"{before}:{dedupe}".encode()).hexdigest()[:12].upper()


async def newest(tx: Tx, kind: str, subject: str) -> Alert | None:
    """The alert of this kind about this subject that was raised last, open or over."""
    a = t.alert.c
    asked = select(t.alert).where(a.kind == kind, a.subject == subject)
    row = (await tx.run(asked.order_by(a.raised_at.desc(), a.id).limit(1))).first()
    return None if row is None else Alert(**row._mapping)


async def acknowledge(tx: Tx, alert_id: str, *, by: str, until: datetime | None = None) -> Alert | None:
    """Somebody is on it, `until` then unless they say so again; None when it is not open."""
    return await _change(tx, alert_id, state="acknowledged", acknowledged_by=by, snoozed_until=until)


async def snooze(tx: Tx, alert_id: str, *, until: datetime) -> Alert | None:
    """Keep quiet about it until then; None when it is not open."""
    return await _change(tx, alert_id, state="snoozed", snoozed_until=until)


async def assign(tx: Tx, alert_id: str, *, to: str | None) -> Alert | None:
    return await _change(tx, alert_id, assigned_to=to)


async def wake(tx: Tx) -> list[Alert]:
    """Snoozed and acknowledged alerts whose time is up are raised again."""
    rows = (await tx.run(_WAKE, {"now": tx.now})).all()
    return [Alert(**row._mapping) for row in rows]


async def reword(
    tx: Tx, alert_id: str, *, severity: str, title: str, text: str, again: bool = False
) -> Alert | None:
    """The newest words for a condition that goes on; how often it was seen stays.

    `again`: what people did with it (acknowledged, snoozed) was about the old words, and ends.
    """
    raised = {"state": "raised", "snoozed_until": None} if again else {}
    return await _change(tx, alert_id, severity=severity, title=title, text=text, **raised)


async def resolve(tx: Tx, dedupe: str, *, title: str = "", text: str = "") -> Alert | None:
    """The condition is over; None when no alert of it is open.

    `title` and `text`: how it ended; those of the alarm stay where they are not given.
    """
    texts = {name: words for name, words in (("title", title), ("text", text)) if words}
    row = await tx.run(
        update(t.alert)
        .where(t.alert.c.dedupe == dedupe, _IS_OPEN)
        .values(state="resolved", **texts, resolved_at=tx.now, updated_at=tx.now)
        .returning(t.alert)
    )
    found = row.one_or_none()
    return None if found is None else Alert(**found._mapping)


async def get(tx: Tx, alert_id: str) -> Alert | None:
    row = (await tx.run(_BY_ID, {"id": alert_id})).one_or_none()
    return None if row is None else Alert(**row._mapping)


async def open_one(tx: Tx, dedupe: str) -> Alert | None:
    """The open alert of this condition."""
    row = (await tx.run(_OPEN_ONE, {"dedupe": dedupe})).one_or_none()
    return None if row is None else Alert(**row._mapping)


async def open_among(tx: Tx, dedupes: Collection[str]) -> frozenset[str]:
    """Those of these conditions that have an open alert."""
    return frozenset(row.dedupe for row in await tx.run_among(_OPEN_AMONG, dedupes))


async def ids_of(tx: Tx, kind: str) -> list[str]:
    """The ids of all alerts of a kind that there ever were."""
    return list((await tx.run(select(t.alert.c.id).where(t.alert.c.kind == kind))).scalars())


async def open_of(tx: Tx, kind: str) -> list[Alert]:
    """The open alerts of a kind, the oldest first."""
    rows = (await tx.run(_OPEN_OF, {"kind": kind})).all()
    return [Alert(**row._mapping) for row in rows]


async def raised_since(tx: Tx, since: datetime) -> list[Alert]:
    """Everything raised since then, over or not, the oldest first."""
    a = t.alert.c
    rows = (await tx.run(select(t.alert).where(a.raised_at >= since).order_by(a.raised_at, a.id))).all()
    return [Alert(**row._mapping) for row in rows]


async def open_ones(tx: Tx) -> list[Alert]:
    """Everything not resolved, the newest first."""
    rows = (await tx.run(_OPEN_ONES)).all()
    return [Alert(**row._mapping) for row in rows]


async def add_thread_line(tx: Tx, alert_id: str, *, actor: str, text: str) -> int:
    """Add a line to the alert's history; returns its number."""
    n = t.alert_thread_line.c
    ours = (n.alert_id == alert_id, n.n.between(0, columns.MOST - 1))
    last = (await tx.run_with_all(select(func.max(n.n)).where(*ours))).scalar_one()
    number = int(last or 0) + 1
    row = {"alert_id": alert_id, "n": number, "at": tx.now, "actor": actor, "text": text}
    if not await insert_new(tx, t.alert_thread_line, row):
        tx.chain.rows_met.add(t.alert_thread_line.name)
        taken = set((await tx.run_with_all(select(n.n).where(n.alert_id == alert_id))).scalars())
        number = next(one for one in count(1) if one not in taken)
        await tx.run(t.alert_thread_line.insert().values({**row, "n": number}))
    return number


async def _change(tx: Tx, alert_id: str, **values: Any) -> Alert | None:
    changed = update(t.alert).where(t.alert.c.id == alert_id, _IS_OPEN)
    row = (await tx.run(changed.values(**values, updated_at=tx.now).returning(t.alert))).one_or_none()
    return None if row is None else Alert(**row._mapping)
