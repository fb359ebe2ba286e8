"""All that stands in the way of sending to a program, read together: its key, people, draft only, single endpoints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import BindParameter, bindparam, select

from bot.partner.endpoints import Endpoint
from storage import tables as t
from storage.protection import PAUSE, PROGRAM, signed_rows
from storage.transaction import Tx

# What is asked before anything is sent is built once.
_PROGRAM: BindParameter[str] = bindparam("program")
_P = t.program.c
_KEY = select(_P.paused_at, _P.partner_id, _P.drafts_since, _P.drafts_until).where(_P.name == _PROGRAM)
_KEY_LOCKED = _KEY.with_for_update(read=True)
_S = t.row_signature.c
# The pause with both signatures: that of the program, and that of the pause or of its absence.
_SIGNED = (
    select(_S.table_name, _S.version, _S.mac, *t.pause.c)
    .outerjoin(t.pause, t.pause.c.program == _S.row_key)
    .where(_S.row_key == _PROGRAM, _S.table_name.in_([PROGRAM.name, PAUSE.name]))
)
_PAUSED = select(t.pause.c.program).where(t.pause.c.program == _PROGRAM)
_HELD = select(t.held_endpoint.c.endpoint).where(t.held_endpoint.c.program == _PROGRAM)


@dataclass(frozen=True, slots=True)
class Stopped:
    """What stands in the way of sending to a program.

    `by_key`: the API does not take its key, so nothing can be called. `by_people`: somebody paused it, so nothing is
    sent. `endpoints`: those that its key may not call. `drafts_since`, `drafts_until`: when it was last for drafts
    only; while there is no end, nothing is sent either. `changed_outside`: what is stored of the program or of a
    pause is not as we left it, so nobody knows whether it may be sent.
    """

    by_key: bool
    by_people: bool
    endpoints: frozenset[str]
    drafts_since: datetime | None = None
    drafts_until: datetime | None = None
    changed_outside: bool = False

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
        return not (self.by_key or self.by_people or self.draft_only or self.changed_outside or is_held)


async def of(tx: Tx, program: str) -> Stopped:
    """All of it at once. Where the caller writes, no pause begins before its transaction ends."""
    of_it = {"program": program}
    # First of all: a pause that begins waits here, see `pauses.put`.
    row = (await tx.run(_KEY_LOCKED if tx.writes else _KEY, of_it)).mappings().one_or_none()
    seen = {signed: tx.versions.get((signed.name, program), 0) for signed in (PROGRAM, PAUSE)}
    signatures = {found["table_name"]: found for found in (await tx.run(_SIGNED, of_it)).mappings()}
    held = frozenset((await tx.run(_HELD, of_it)).scalars())
    if row is None and not signatures:
        paused = (await tx.run(_PAUSED, of_it)).one_or_none()
        return Stopped(by_key=False, by_people=paused is not None, endpoints=held)
    of_pause = signatures.get(PAUSE.name)
    pause = None if of_pause is None or of_pause["program"] is None else of_pause
    is_as_left = all(
        (made := signatures.get(signed.name)) is not None
        and signed_rows.holds(tx, signed, program, is_now, made["version"], made["mac"], seen[signed])
        for signed, is_now in ((PROGRAM, row), (PAUSE, pause))
    )
    return Stopped(
        by_key=row is not None and row["paused_at"] is not None,
        by_people=pause is not None,
        endpoints=held,
        drafts_since=None if row is None else row["drafts_since"],
        drafts_until=None if row is None else row["drafts_until"],
        changed_outside=not is_as_left,
    )
