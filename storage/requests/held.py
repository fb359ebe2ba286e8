"""Requests that somebody holds with a lease, or puts off, for whoever frees what no process that works holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, Update, bindparam, case, or_, select, update

from bot.domain.people import APPROVAL_VALID_FOR
from bot.domain.requests import Event, State, moves_of
from storage import tables as t
from storage.columns import UtcDateTime
from storage.transaction import Tx, lease_holds

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
    given = {"unsent_due_by": unsent_due_by, "due_before": due_before, **tx.times, **_put_off_times(tx)}
    found = await tx.run(_due(tx.is_postgres), given)
    return [
        Held(one.id, one.owner, one.fence, one.kind, one.state == State.APPROVED, bool(one.is_put_off))
        for one in found
    ]


async def free(tx: Tx, held: Held) -> None:
    """Let others take up what this owner holds, or is put off: it is no process that works. Nothing where it was taken
    up since, which makes its fence another."""
    given = {"request_id": held.id, "fence_then": held.fence, **tx.times, **_put_off_times(tx)}
    await tx.run(_free(), given)


# Each process asks every few seconds, so the statements are built once.


@cache
def _due(is_postgres: bool) -> Select[Any]:
    row = t.request.c
    is_unsent = (row.state == State.APPROVED) & (row.due_at <= bindparam("unsent_due_by"))
    is_due = or_(is_unsent, row.due_at < bindparam("due_before"))
    # Never NULL, as a lease without an end is none.
    is_held = row.lease_until.is_not(None) & lease_holds(row.lease_until, is_postgres=is_postgres)
    is_put_off = _is_put_off()
    states = row.state.in_(list(moves_of(Event.CLAIM)))
    # What no lease holds has no owner, whatever is written there.
    owner = case((is_held, row.lease_owner), else_=None).label("owner")
    asked = select(row.id, owner, row.fence, row.kind, row.state, is_put_off.label("is_put_off"))
    return asked.where(states, or_(is_due & is_held, is_put_off))


@cache
def _free() -> Update:
    row = t.request.c
    due_at = case((_is_put_off(), bindparam("now", type_=UtcDateTime())), else_=row.due_at)
    same = (row.id == bindparam("request_id"), row.fence == bindparam("fence_then"))
    return update(t.request).where(*same).values(lease_owner=None, lease_until=None, due_at=due_at)


def _put_off_times(tx: Tx) -> dict[str, datetime]:
    now = tx.now
    return {
        "over_by": now + _UNSENT_PUT_OFF_FOR + APPROVAL_VALID_FOR,
        "new_since": now - _NEW_FOR,
        "latest_unsent": now + _UNSENT_PUT_OFF_FOR,
        "latest_sent": now + _SENT_PUT_OFF_FOR,
        "latest_new": now + _NEW_PUT_OFF_FOR,
    }


def _is_put_off() -> ColumnElement[bool]:
    """It has a due time that no process writes: none, or one later than all that it may wait for. A batch has none, as
    its rows are sent; what was made unresolved by the log has none, and people are asked."""
    row = t.request.c
    is_unsent, is_row = row.state == State.APPROVED, row.parent_id.is_not(None)
    # Of what waits for its `cool_off` the approval is valid for some time from then on, and the rows of a list follow
    # one another within that time.
    is_over = row.valid_until <= bindparam("over_by")
    waits_for_nothing = or_(row.valid_until.is_(None), row.due_at > row.valid_until, ~is_row & is_over)
    is_new = row.first_sent_at.is_not(None) & (row.first_sent_at > bindparam("new_since"))
    sent_later = or_(row.due_at > bindparam("latest_sent"), is_new & (row.due_at > bindparam("latest_new")))
    late = case(
        (is_unsent, (row.due_at > bindparam("latest_unsent")) & waits_for_nothing),
        else_=sent_later,
    )
    never = row.due_at.is_(None) & or_(row.state != State.UNRESOLVED, ~row.needs_person)
    return row.rows.is_(None) & or_(never, row.due_at.is_not(None) & late)
