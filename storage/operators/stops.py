"""All that stands in the way of sending to a program, read together: its key, people, draft only, single endpoints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, bindparam, select

from bot.partner.endpoints import Endpoint
from storage import tables as t
from storage.transaction import Tx

# What is asked before anything is sent is built once.
_PROGRAM: BindParameter[str] = bindparam("program")
_P = t.program.c
_HOLD = select(_P.name).where(_P.name == _PROGRAM).with_for_update(read=True)
COLUMNS = (
    _P.paused_at,
    _P.drafts_since,
    _P.drafts_until,
    t.pause.c.program.label("paused_program"),
    t.held_endpoint.c.endpoint.label("held"),
)
"""What `stopped` is made of, of a program with its pause and each endpoint that its key may not call."""
_OF = (
    select(*COLUMNS)
    .select_from(
        t.program.outerjoin(t.pause, t.pause.c.program == _P.name).outerjoin(
            t.held_endpoint, t.held_endpoint.c.program == _P.name
        )
    )
    .where(_P.name == _PROGRAM)
)


@dataclass(frozen=True, slots=True)
class Stopped:
    """What stands in the way of sending to a program.

    `by_key`: the API does not take its key, so nothing can be called. `by_people`: somebody paused it, so nothing is
    sent. `endpoints`: those that its key may not call. `drafts_since`, `drafts_until`: when it was last for drafts
    only; while there is no end, nothing is sent either.
    """

    by_key: bool
    by_people: bool
    endpoints: frozenset[str]
    drafts_since: datetime | None = None
    drafts_until: datetime | None = None

    @property
    def draft_only(self) -> bool:
        """Requests are made and approved for practice, and nothing is sent."""
        return self.drafts_since is not None and self.drafts_until is None

    def were_drafts(self, approved: Iterable[datetime]) -> bool:
        """Was any of these approvals given while nothing was to be sent? Then nothing is sent for it later either."""
        since, until = self.drafts_since, self.drafts_until
        return since is not None and any(since <= at and (until is None or at <= until) for at in approved)

    def sends(self, endpoint: Endpoint, *, is_urgent: bool = False) -> bool:
        """May something be sent through this endpoint? What is urgent is tried although the key was refused there."""
        is_held = endpoint.value in self.endpoints and not is_urgent
        return not (self.by_key or self.by_people or self.draft_only or is_held)


async def of(tx: Tx, program: str) -> Stopped:
    """All of it at once. Where the caller writes, no pause begins before its transaction ends."""
    if tx.writes:
        await hold(tx, program)
    return stopped(tuple(row) for row in (await tx.run(_OF, {"program": program})).all())


async def hold(tx: Tx, program: str) -> None:
    """No pause of it begins before this transaction ends, see `pauses.put`. SQLite's write lock does so already.

    What stands in the way is read after it, in a statement of its own: one that waited for the lock sees what was
    before it.
    """
    if tx.is_postgres:
        await tx.run(_HOLD, {"program": program})


def stopped(rows: Iterable[Sequence[Any]]) -> Stopped:
    """From what a statement with `COLUMNS` found, the same row several times or with other endpoints."""
    found = list(rows)
    if not found:
        return Stopped(False, False, frozenset())
    paused_at, drafts_since, drafts_until, paused, _ = found[0]
    held = frozenset(row[-1] for row in found if row[-1] is not None)
    return Stopped(paused_at is not None, paused is not None, held, drafts_since, drafts_until)
