"""The inbox: events accepted, each once and never again, and not yet handled. Payloads are sealed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, bindparam, exists, false, func, or_, select, true, update

from bot.domain.errors import NotFound
from storage import columns
from storage import tables as t
from storage.sealed_columns import INBOX_PAYLOAD
from storage.transaction import Tx
from storage.upsert import insert_new


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
_I = t.inbox.c
_DUE = or_(_I.retry_at.is_(None), _I.retry_at <= bindparam("now"))
_LAST_RECEIVED = (
    select(_I.received_at)
    .where(_I.program == bindparam("program"), _I.source == bindparam("source"))
    .order_by(_I.received_at.desc())
    .limit(1)
)
_ANY_WAITING = select(exists().where(_I.state == "received", _DUE))


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


@dataclass(frozen=True, slots=True)
class Share:
    """What one process takes up: the events of some programs. Those of the type `coded` wait for whoever has the code.

    `programs`: whose events are this process's; None = those of all. `others_but`: those of all programs but these,
    too. `codes`: the ids of events whose code this process has. After `patience` nobody has it: they are handled like
    the others.
    """

    programs: Collection[str] | None
    others_but: Collection[str] | None
    coded: str
    codes: Collection[str]
    patience: timedelta

    def mine(self, tx: Tx) -> ColumnElement[bool]:
        i = t.inbox.c
        too_late = tx.now - self.patience
        waited = or_(i.type != self.coded, i.received_at <= too_late, i.created_at <= too_late)
        has_code = i.event_id.in_(self.codes) if self.codes else false()
        return or_(and_(i.type == self.coded, has_code), and_(waited, self._of_programs()))

    def _of_programs(self) -> ColumnElement[bool]:
        if self.programs is None:
            return true()
        others = false() if self.others_but is None else t.inbox.c.program.not_in(self.others_but)
        return or_(t.inbox.c.program.in_(self.programs), others)


async def any_waiting(tx: Tx) -> bool:
    """Is there an event to be handled now, whoever has to?"""
    return bool((await tx.run(_ANY_WAITING, {"now": tx.now})).scalar_one())


async def waiting(tx: Tx, *, limit: int = 50, share: Share | None = None) -> list[InboxEvent]:
    """Events to be handled now, in the order they came; not those that another process has in hand.

    Without a `share` it takes all there is.
    """
    i = t.inbox.c
    due = and_(or_(i.retry_at.is_(None), i.retry_at <= tx.now), share.mine(tx) if share else true())
    asked = select(*_COLUMNS).where(i.state == "received", due).order_by(i.received_at, i.event_id)
    if tx.writes:
        asked = asked.with_for_update(skip_locked=True)  # PostgreSQL only; SQLite has one writer
    return [InboxEvent(**row._mapping) for row in (await tx.run(asked.limit(limit))).all()]


async def get(tx: Tx, event_id: str) -> InboxEvent | None:
    row = (await tx.run(select(*_COLUMNS).where(t.inbox.c.event_id == event_id))).one_or_none()
    return None if row is None else InboxEvent(**row._mapping)


async def last_received(tx: Tx, program: str, source: str) -> datetime | None:
    """When the newest event came by this way; None before the first."""
    given = {"program": program, "source": source}
    return (await tx.run(_LAST_RECEIVED, given)).scalar_one_or_none()


async def first_received(tx: Tx, program: str, source: str, *, since: datetime) -> datetime | None:
    """When the first event from `since` on came by this way; None where none did."""
    i = t.inbox.c
    asked = select(func.min(i.received_at)).where(
        i.program == program, i.source == source, i.received_at >= since
    )
    return (await tx.run(asked)).scalar_one_or_none()


async def payload(tx: Tx, event_id: str) -> bytes:
    """The event's body; raises `CannotOpen` when it was tampered with, `NotFound` when it was purged."""
    asked = select(t.inbox.c.sealed_payload).where(t.inbox.c.event_id == event_id)
    sealed = (await tx.run(asked)).scalar_one()
    if sealed is None:
        raise NotFound("What this event said is no longer kept.")
    return tx.vault.open(sealed, INBOX_PAYLOAD.ref(event_id))


async def purge_payloads(tx: Tx, *, before: datetime, limit: int) -> int:
    """Forget what events said that were handled before then, so many at most; returns how many.

    The events themselves stay, so that one which comes again is known.
    """
    i = t.inbox.c
    old = select(i.event_id).where(i.sealed_payload.is_not(None), i.processed_at < before)
    emptied = update(t.inbox).where(i.event_id.in_(old.order_by(i.processed_at).limit(limit)))
    return int((await tx.run(emptied.values(sealed_payload=None))).rowcount)


async def processed(tx: Tx, event_id: str) -> bool:
    """Mark as handled, in the transaction of what it caused; False when it was handled already."""
    mine = update(t.inbox).where(t.inbox.c.event_id == event_id, t.inbox.c.state == "received")
    return bool((await tx.run(mine.values(state="processed", processed_at=tx.now))).rowcount)


async def put_off(tx: Tx, event_id: str, *, until: datetime) -> int:
    """Count a failed attempt to handle it, and leave it alone until then; returns how many there were."""
    counted = update(t.inbox).where(t.inbox.c.event_id == event_id)
    changed = counted.values(attempts=columns.one_more(t.inbox.c.attempts), retry_at=until)
    return int((await tx.run(changed.returning(t.inbox.c.attempts))).scalar_one())
