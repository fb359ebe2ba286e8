"""Requests that somebody holds with a lease, for whoever frees what no process that works holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import or_, select, update

from bot.domain.requests import Event, State, moves_of
from storage import tables as t
from storage.transaction import Tx

_EVER = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Held:
    """A request that was due and that a lease of `owner` holds. `is_unsent`: it was approved, and no call was begun."""

    id: str
    owner: str
    fence: int
    kind: str
    is_unsent: bool


async def due(tx: Tx, *, unsent_due_by: datetime, due_before: datetime) -> list[Held]:
    """Requests that somebody holds now: those not sent so far that were due by `unsent_due_by`, and those sent
    that were due before `due_before`."""
    row = t.request.c
    is_due = or_((row.state == State.APPROVED) & (row.due_at <= unsent_due_by), row.due_at < due_before)
    states = row.state.in_(list(moves_of(Event.CLAIM)))
    wanted = (states, row.due_at > _EVER, is_due, tx.lease_holds(row.lease_until))
    asked = select(row.id, row.lease_owner, row.fence, row.kind, row.state).where(*wanted)
    return [
        Held(one.id, one.lease_owner or "", one.fence, one.kind, one.state == State.APPROVED)
        for one in await tx.run(asked)
    ]


async def free(tx: Tx, held: Held) -> None:
    """Let others take up what this owner holds: it is no process that works. Nothing where it was taken up since."""
    row = t.request.c
    mine = (row.id == held.id, row.lease_owner == held.owner, row.fence == held.fence)
    await tx.run(update(t.request).where(*mine).values(lease_owner=None, lease_until=None))
