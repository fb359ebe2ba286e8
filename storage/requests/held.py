"""Requests that somebody holds with a lease, or that are due later, for whoever frees what no process holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, case, or_, select, update

from bot.domain.requests import Event, State, moves_of
from storage import tables as t
from storage.columns import UtcDateTime
from storage.transaction import Tx, lease_holds

_R = t.request.c
# Each process asks every few seconds, so the statements are built once.
_FREE = (
    update(t.request)
    .where(_R.id == bindparam("request_id"), _R.fence == bindparam("fence_then"))
    .values(lease_owner=None, lease_until=None)
)
_FREE_NOW = _FREE.values(due_at=bindparam("now", type_=UtcDateTime()))


@dataclass(frozen=True, slots=True)
class Held:
    """A request that a lease of `owner` holds (None = of nobody), or that is due later or never (`due_at` None), with
    what tells for how long it may wait. `is_due`: it was due by the time that was asked for, and is held."""

    id: str
    owner: str | None
    fence: int
    kind: str
    state: State
    is_row: bool
    created_at: datetime
    valid_until: datetime | None
    first_sent_at: datetime | None
    key_expires_at: datetime | None
    due_at: datetime | None
    is_due: bool

    @property
    def is_unsent(self) -> bool:
        """It was approved, and no call was begun."""
        return self.state is State.APPROVED


async def due(tx: Tx, *, unsent_due_by: datetime, due_before: datetime, later_than: datetime) -> list[Held]:
    """Requests that somebody holds now: those not sent so far that were due by `unsent_due_by`, and those sent that
    were due before `due_before`; and those that are due after `later_than`, or never. A batch is not among them, as its
    rows are sent."""
    given = {"unsent_due_by": unsent_due_by, "due_before": due_before, "later_than": later_than}
    found = await tx.run(_due(tx.is_postgres), {**given, **tx.times})
    return [
        Held(
            one.id,
            one.owner,
            one.fence,
            one.kind,
            State(one.state),
            one.parent_id is not None,
            one.created_at,
            one.valid_until,
            one.first_sent_at,
            one.key_expires_at,
            one.due_at,
            bool(one.is_due),
        )
        for one in found
    ]


async def free(tx: Tx, held: Held, *, is_put_off: bool) -> None:
    """Let others take up what this owner holds: it is no process that works. `is_put_off`: and do so now, whatever its
    due time says. Nothing where it was taken up since, which makes its fence another."""
    given = {"request_id": held.id, "fence_then": held.fence}
    await (tx.run(_FREE_NOW, {**given, "now": tx.now}) if is_put_off else tx.run(_FREE, given))


@cache
def _due(is_postgres: bool) -> Select[Any]:
    is_due = or_(
        (_R.state == State.APPROVED) & (_R.due_at <= bindparam("unsent_due_by")),
        _R.due_at < bindparam("due_before"),
    )
    # Never NULL, as a lease without an end is none.
    is_held = _R.lease_until.is_not(None) & lease_holds(_R.lease_until, is_postgres=is_postgres)
    waits = or_(_R.due_at.is_(None), _R.due_at > bindparam("later_than"))
    # What no lease holds has no owner, whatever is written there.
    owner = case((is_held, _R.lease_owner), else_=None).label("owner")
    # Never NULL, as the due time may be.
    held_long = case((is_due & is_held, True), else_=False).label("is_due")
    times = (_R.created_at, _R.valid_until, _R.first_sent_at, _R.key_expires_at, _R.due_at)
    asked = select(_R.id, owner, _R.fence, _R.kind, _R.state, _R.parent_id, *times, held_long)
    states = _R.state.in_(list(moves_of(Event.CLAIM)))
    return asked.where(states, _R.rows.is_(None), or_(is_due & is_held, waits))
