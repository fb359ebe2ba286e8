"""Requests that somebody holds with a lease, or puts off, for whoever frees what no process that works holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, case, literal, or_, select, update

from bot.domain.people import APPROVAL_VALID_FOR
from bot.domain.requests import Event, State, moves_of
from storage import tables as t
from storage.columns import UtcDateTime
from storage.transaction import Tx

# What was approved is looked at again half a minute later at most, also while sending is paused.
_UNSENT_PUT_OFF_FOR = timedelta(minutes=1)
# What was sent and has no outcome is looked at every day, and on its first day every quarter of an hour.
_SENT_PUT_OFF_FOR = timedelta(hours=25)
_NEW_PUT_OFF_FOR = timedelta(hours=1)
_NEW_FOR = timedelta(hours=23)


@dataclass(frozen=True, slots=True)
class Held:
    """A request that was due and that a lease of `owner` holds, None = of nobody. `is_unsent`: it was approved, and no
    call was begun. `is_put_off`: its due time is one that no process writes, and no lease needs to hold it."""

    id: str
    owner: str | None
    fence: int
    kind: str
    is_unsent: bool
    is_put_off: bool


async def due(tx: Tx, *, unsent_due_by: datetime, due_before: datetime) -> list[Held]:
    """Requests that somebody holds now: those not sent so far that were due by `unsent_due_by`, and those sent
    that were due before `due_before`; and those that are never due, or later than any process says."""
    row = t.request.c
    is_due = or_((row.state == State.APPROVED) & (row.due_at <= unsent_due_by), row.due_at < due_before)
    is_held, is_put_off = _is_held(tx), _is_put_off(tx)
    states = row.state.in_(list(moves_of(Event.CLAIM)))
    # What no lease holds has no owner, whatever is written there.
    owner = case((is_held, row.lease_owner), else_=None).label("owner")
    asked = select(row.id, owner, row.fence, row.kind, row.state, is_put_off.label("is_put_off"))
    found = await tx.run(asked.where(states, or_(is_due & is_held, is_put_off)))
    return [
        Held(one.id, one.owner, one.fence, one.kind, one.state == State.APPROVED, bool(one.is_put_off))
        for one in found
    ]


async def free(tx: Tx, held: Held) -> None:
    """Let others take up what this owner holds, or is put off: it is no process that works. Nothing where it was taken
    up since, which makes its fence another."""
    row = t.request.c
    due_at = case((_is_put_off(tx), literal(tx.now, UtcDateTime())), else_=row.due_at)
    same = (row.id == held.id, row.fence == held.fence)
    await tx.run(update(t.request).where(*same).values(lease_owner=None, lease_until=None, due_at=due_at))


def _is_held(tx: Tx) -> ColumnElement[bool]:
    """Never NULL, as a lease without an end is none."""
    until = t.request.c.lease_until
    return until.is_not(None) & tx.lease_holds(until)


def _is_put_off(tx: Tx) -> ColumnElement[bool]:
    """It has a due time that no process writes: none, or one later than all that it may wait for. A batch has none, as
    its rows are sent; what was made unresolved by the log has none, and people are asked."""
    row, now = t.request.c, tx.now
    is_unsent, is_row = row.state == State.APPROVED, row.parent_id.is_not(None)
    # Of what waits for its `cool_off` the approval is valid for some time from then on, and the rows of a list follow
    # one another within that time.
    is_over = row.valid_until <= now + _UNSENT_PUT_OFF_FOR + APPROVAL_VALID_FOR
    waits_for_nothing = or_(row.valid_until.is_(None), row.due_at > row.valid_until, ~is_row & is_over)
    is_new = row.first_sent_at.is_not(None) & (row.first_sent_at > now - _NEW_FOR)
    sent_later = or_(row.due_at > now + _SENT_PUT_OFF_FOR, is_new & (row.due_at > now + _NEW_PUT_OFF_FOR))
    late = case(
        (is_unsent, (row.due_at > now + _UNSENT_PUT_OFF_FOR) & waits_for_nothing),
        else_=sent_later,
    )
    never = row.due_at.is_(None) & or_(row.state != State.UNRESOLVED, ~row.needs_person)
    return row.rows.is_(None) & or_(never, row.due_at.is_not(None) & late)
