"""Events to send to other systems: each once for a destination, its bytes sealed until they were taken."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import bindparam, delete, func, select, update

from storage import columns
from storage import tables as t
from storage.errors import CannotOpen, Purged
from storage.sealed_columns import RELAY_BODY
from storage.transaction import Tx
from storage.upsert import insert_new

SENT_KEPT_FOR = timedelta(days=30)
UNREADABLE = "what is stored does not open"
# What is asked all the time is built once.
_R = t.relay_delivery.c
_DUE = (
    select(_R.id)
    .where(_R.destination == bindparam("destination"), _R.state == "owed", _R.due_at <= bindparam("now"))
    .limit(1)
)
_OLD = delete(t.relay_delivery).where(_R.state == "sent", _R.sent_at < bindparam("before"))


@dataclass(frozen=True, slots=True)
class RelayDelivery:
    """A message to be sent now. `body` is the same at every attempt; `attempts` counts this one."""

    id: str
    destination: str
    event_id: str
    body: bytes
    attempts: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Failed:
    """What became of an attempt that was not taken; `due_at` None = given up."""

    id: str
    error: str
    due_at: datetime | None


def row_id_of(destination: str, event_id: str) -> str:
    """The id of the row of an event for a destination. The bytes are sealed for it, so they are for these two alone.

    The name of a destination has no space in it.
    """
    return hashlib.sha256(f"{destination} {event_id}".encode()).hexdigest()[:32]


async def put(tx: Tx, *, destination: str, event_id: str, body: bytes) -> bool:
    """Put an event for a destination into the outbox; False when it waits or was sent."""
    row_id = row_id_of(destination, event_id)
    row = {
        "id": row_id,
        "destination": destination,
        "event_id": event_id,
        "sealed_body": tx.vault.seal(body, RELAY_BODY.ref(row_id)),
        "state": "owed",
        "attempts": 0,
        "due_at": tx.now,
        "last_error": "",
        "created_at": tx.now,
    }
    return await insert_new(tx, t.relay_delivery, row)


@dataclass(frozen=True, slots=True)
class Taken:
    """What to send now; and the ids of events whose bytes did not open, set aside with what was given up."""

    deliveries: list[RelayDelivery]
    unreadable: list[str]


async def take(tx: Tx, destination: str, *, limit: int, lease: timedelta) -> Taken:
    """What is due, the oldest first, each counted as tried and left alone by others for `lease`.

    Commit before sending: what a dead process has taken is due again after the lease. One row whose bytes do not
    open holds up no other: it is set aside.
    """
    r = t.relay_delivery.c
    asked = select(r.id, r.event_id, r.sealed_body, r.attempts, r.created_at).where(
        r.destination == destination, r.state == "owed", r.due_at <= tx.now
    )
    asked = asked.order_by(r.due_at, r.id).limit(limit).with_for_update(skip_locked=True)
    rows = (await tx.run(asked)).all()
    if rows:
        mine = update(t.relay_delivery).where(r.id.in_([row.id for row in rows]))
        await tx.run(mine.values(attempts=columns.one_more(r.attempts), due_at=tx.now + lease))
    deliveries, closed = [], {}
    for row in rows:
        try:
            # Not by what the row says its id is: who moves it to another destination, or another event, opens nothing.
            bound_to = row_id_of(destination, row.event_id)
            body = tx.vault.open(row.sealed_body, RELAY_BODY.ref(bound_to))
        except (CannotOpen, Purged):
            closed[row.id] = row.event_id
            continue
        deliveries.append(
            RelayDelivery(
                row.id, destination, row.event_id, body, columns.counted(row.attempts) + 1, row.created_at
            )
        )
    await failed(tx, [Failed(row_id, UNREADABLE, None) for row_id in closed])
    return Taken(deliveries, list(closed.values()))


async def is_due(tx: Tx, destination: str) -> bool:
    """Is there anything to take? For a look without the write lock."""
    return (await tx.run(_DUE, {"destination": destination, "now": tx.now})).first() is not None


async def sent(tx: Tx, ids: Collection[str]) -> None:
    """Taken by the destination: the bytes are not needed any more."""
    if ids:
        done = update(t.relay_delivery).where(t.relay_delivery.c.id.in_(ids))
        await tx.run(done.values(state="sent", sent_at=tx.now, sealed_body=None, last_error=""))


async def failed(tx: Tx, failures: Iterable[Failed]) -> None:
    """Due again later, or dead."""
    rows = [
        {
            "row": one.id,
            "now_state": "dead" if one.due_at is None else "owed",
            "error": one.error[:300],
            "due": one.due_at or tx.now,
        }
        for one in failures
    ]
    if rows:
        r = t.relay_delivery.c
        changed = update(t.relay_delivery).where(r.id == bindparam("row"), r.state == "owed")
        changed = changed.values(
            state=bindparam("now_state"), last_error=bindparam("error"), due_at=bindparam("due")
        )
        await tx.run(changed, rows)


async def dead(tx: Tx, destination: str) -> int:
    """How many were given up and not sent again since; those that do not open are not among them."""
    r = t.relay_delivery.c
    mine = (r.destination == destination, r.state == "dead", r.last_error != UNREADABLE)
    return int((await tx.run(select(func.count()).where(*mine))).scalar_one())


async def unreadable(tx: Tx, destination: str) -> list[str]:
    """Ids of the events that were set aside because their bytes do not open, the oldest first."""
    r = t.relay_delivery.c
    mine = (r.destination == destination, r.state == "dead", r.last_error == UNREADABLE)
    return list((await tx.run(select(r.event_id).where(*mine).order_by(r.created_at, r.id))).scalars())


async def revive(tx: Tx, destination: str) -> int:
    """Send the dead ones again, with the same ids and bytes and all their attempts; returns how many."""
    r = t.relay_delivery.c
    mine = update(t.relay_delivery).where(r.destination == destination, r.state == "dead")
    again = mine.values(state="owed", attempts=0, due_at=tx.now, created_at=tx.now)
    return int((await tx.run(again)).rowcount)


async def drop_destinations(tx: Tx, known: Collection[str]) -> int:
    """Nothing waits for a destination that is one no more; returns how many messages were dropped."""
    r = t.relay_delivery.c
    gone = delete(t.relay_delivery).where(r.destination.not_in(known), r.state != "sent")
    return int((await tx.run(gone)).rowcount)


async def drop_old(tx: Tx) -> int:
    """Forget what was sent long ago; returns how many rows."""
    return int((await tx.run(_OLD, {"before": tx.now - SENT_KEPT_FOR})).rowcount)


async def drop_dead(tx: Tx, *, before: datetime) -> dict[str, int]:
    """Forget what was given up, and what waits since before then; how many messages, by destination."""
    r = t.relay_delivery.c
    old = delete(t.relay_delivery).where(r.state == "dead", r.created_at < before)
    return dict(Counter((await tx.run(old.returning(r.destination))).scalars()))
