"""All that stands in the way of sending to a program, read together: its key, the people, single endpoints."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import BindParameter, bindparam, select

from bot.partner.endpoints import Endpoint
from storage import tables as t
from storage.transaction import Tx

# What is asked before anything is sent is built once.
_PROGRAM: BindParameter[str] = bindparam("program")
_KEY = select(t.program.c.paused_at).where(t.program.c.name == _PROGRAM)
_KEY_LOCKED = _KEY.with_for_update(read=True)
_PAUSED = select(t.pause.c.program).where(t.pause.c.program == _PROGRAM)
_HELD = select(t.held_endpoint.c.endpoint).where(t.held_endpoint.c.program == _PROGRAM)


@dataclass(frozen=True, slots=True)
class Stopped:
    """What stands in the way of sending to a program.

    `by_key`: the API does not take its key, so nothing can be called. `by_people`: somebody paused it, so nothing is
    sent. `endpoints`: those that its key may not call.
    """

    by_key: bool
    by_people: bool
    endpoints: frozenset[str]

    def sends(self, endpoint: Endpoint, *, is_urgent: bool = False) -> bool:
        """May something be sent through this endpoint? What is urgent is tried although the key was refused there."""
        is_held = endpoint.value in self.endpoints and not is_urgent
        return not (self.by_key or self.by_people or is_held)


async def of(tx: Tx, program: str) -> Stopped:
    """All of it at once. Where the caller writes, no pause begins before its transaction ends."""
    of_it = {"program": program}
    # First of all: a pause that begins waits here, see `pauses.put`.
    by_key = (await tx.run(_KEY_LOCKED if tx.writes else _KEY, of_it)).scalar_one_or_none() is not None
    paused = (await tx.run(_PAUSED, of_it)).one_or_none()
    return Stopped(by_key, paused is not None, frozenset((await tx.run(_HELD, of_it)).scalars()))
