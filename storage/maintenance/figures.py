"""How much there is of what, for whoever watches from outside: counted in one reading."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, case, func, select

from storage import audit
from storage import tables as t
from storage.cards import api_snapshots
from storage.events import cursors
from storage.operators import safe_mode
from storage.transaction import Tx


@dataclass(frozen=True, slots=True)
class OutboxFigures:
    """Messages that wait to be sent to one channel: how many, and since when the oldest of those due is due.

    One that was tried counts from when it was written: each try puts off when it is due next.
    """

    waiting: int
    oldest_due_at: datetime | None


@dataclass(frozen=True, slots=True)
class Figures:
    """`read_at` is the time of the reading. A batch counts as one request."""

    read_at: datetime
    requests: Mapping[tuple[str, str], int]  # by kind and state
    outbox: Mapping[str, OutboxFigures]  # by channel id; empty text for direct messages
    inbox_waiting: int
    inbox_oldest_at: datetime | None
    alerts: Mapping[str, int]  # open ones, by severity
    audit_entries: int
    is_safe_mode: bool
    done_at: Mapping[str, datetime]  # by job: the oldest of its programs' last times


async def figures(tx: Tx, *, programs: Collection[str], job_prefix: str, events: str) -> Figures:
    """Count. `job_prefix` begins the names of the readings that say when a job was last done for a program; `events`
    is the name of the cursor of the event log."""
    r, o, i, a = t.request.c, t.outbox.c, t.inbox.c, t.alert.c
    by_kind = select(r.kind, r.state, func.count().label("n")).where(r.parent_id.is_(None))
    since = case((o.last_error != "", o.created_at), else_=o.due_at)
    waiting = select(
        o.channel, o.user, func.count().label("n"), func.min(since, type_=o.due_at.type).label("oldest")
    ).where(o.state.in_(("owed", "sending")))
    received = select(
        func.count().label("n"), func.min(i.received_at, type_=i.received_at.type).label("oldest")
    ).where(i.state == "received")
    open_alerts = select(a.severity, func.count().label("n")).where(a.state != "resolved")
    kinds = (await tx.run(by_kind.group_by(r.kind, r.state))).all()
    channels = (await tx.run(waiting.group_by(o.channel, o.user))).all()
    inbox = (await tx.run(received)).one()
    alerts = (await tx.run(open_alerts.group_by(a.severity))).all()
    return Figures(
        tx.now,
        {(row.kind, row.state.value): row.n for row in kinds},
        _by_channel(channels),
        inbox.n,
        inbox.oldest,
        {row.severity: row.n for row in alerts},
        (await audit.head(tx)).seq,
        await safe_mode.current(tx) is not None,
        await _done_at(tx, programs, job_prefix, events),
    )


def _by_channel(rows: Sequence[Row[Any]]) -> dict[str, OutboxFigures]:
    found: dict[str, OutboxFigures] = {}
    for row in rows:
        name = "" if row.user else row.channel
        known = found.get(name)
        since = (
            row.oldest
            if known is None or known.oldest_due_at is None
            else min(row.oldest, known.oldest_due_at)
        )
        found[name] = OutboxFigures((known.waiting if known else 0) + row.n, since)
    return found


async def _done_at(tx: Tx, programs: Collection[str], prefix: str, events: str) -> dict[str, datetime]:
    found: dict[str, datetime] = {}
    for program in programs:
        readings = await api_snapshots.named(tx, program, prefix)
        times = {job: reading.read_at for job, reading in readings.items()}
        if (moved_at := await cursors.moved_at(tx, program, events)) is not None:
            times["events"] = moved_at
        for job, read_at in times.items():
            found[job] = min(read_at, found.get(job, read_at))
    return found
