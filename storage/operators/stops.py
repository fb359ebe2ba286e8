"""All that stands in the way of sending to a program, read together: its key, people, draft only, single endpoints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import BindParameter, bindparam, select

from bot.partner.endpoints import Endpoint
from storage import tables as t
from storage.transaction import Tx

# What is asked before anything is sent is built once.
_PROGRAM: BindParameter[str] = bindparam("program")
_P = t.program.c
_KEY = select(_P.paused_at, _P.drafts_since, _P.drafts_until).where(_P.name == _PROGRAM)
_KEY_LOCKED = _KEY.with_for_update(read=True)
_PAUSED = select(t.pause.c.program).where(t.pause.c.program == _PROGRAM)
_HELD = select(t.held_endpoint.c.endpoint).where(t.held_endpoint.c.program == _PROGRAM)


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
    of_it = {"program": program}
    # First of all: a pause that begins waits here, see `pauses.put`.
    row = (await tx.run(_KEY_LOCKED if tx.writes else _KEY, of_it)).one_or_none()
    paused_at, drafts_since, drafts_until = (
        (row.paused_at, row.drafts_since, row.drafts_until) if row else (None,) * 3
    )
    paused = (await tx.run(_PAUSED, of_it)).one_or_none()
    held = frozenset((await tx.run(_HELD, of_it)).scalars())
    return Stopped(paused_at is not None, paused is not None, held, drafts_since, drafts_until)
