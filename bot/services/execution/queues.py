"""What is due to be carried out now, in queues that do not wait for one another.

Each program has its own, so that one that hangs or is paused takes nothing from the others; what is urgent has
one that is never full, and what is only looked up, as nobody knows its outcome, takes no place from what is sent. What
waits for somebody to end a pause is in none: it costs nothing until then.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bot.domain.requests import Event, State, moves_of
from bot.services.core import Core, queue_name
from storage.operators import stops
from storage.requests import requests

# Calls wait mostly for the API; the rate limit of 120 a minute is reached long before this is.
AT_ONCE = 8
LOOKED_UP_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Queue:
    """Request ids, the longest due first, of which `at_once` may be carried out together; None = all of them."""

    name: str
    ids: Sequence[str]
    at_once: int | None


def every_queue(programs: Collection[str]) -> dict[str, int | None]:
    """Every queue that there may be, and how many of it are carried out together; None = all."""
    at_once = {"emergency": None, "money": AT_ONCE, "lookups": LOOKED_UP_AT_ONCE}
    return {queue_name(work, program): most for work, most in at_once.items() for program in programs}


async def due(core: Core, but_not: Collection[str] = ()) -> list[Queue]:
    """What may be executed, repeated or looked up now, without the requests in `but_not`."""
    urgent = [kind for kind, cls in core.kinds.items() if cls.handling.is_urgent]
    usual = [kind for kind in core.kinds if kind not in urgent]
    found: list[Queue] = []
    async with core.store.read() as tx:
        if not await requests.any_due(tx):
            return found
        for program in core.partners:
            stopped = await stops.of(tx, program)
            # While nothing can be called, what was sent ends when it has waited for too long, and the rest waits.
            states = {State.EXECUTING} if stopped.by_key else set(moves_of(Event.CLAIM))
            held = [kind for kind in usual if not stopped.sends(core.kinds[kind].endpoint)]
            for work, some, most in (
                ()
                if core.awaits_look()
                else (
                    ("money", states - {State.UNRESOLVED}, AT_ONCE),
                    ("lookups", states & {State.UNRESOLVED}, LOOKED_UP_AT_ONCE),
                )
            ):
                ids = await requests.due(
                    tx, program=program, states=some, kinds=usual, unsent_wait=held, but_not=but_not
                )
                found.append(Queue(queue_name(work, program), ids, most))
            # What cannot wait is taken up all the same: that it is not sent is said of each. A draft only ends.
            states |= {State.APPROVED}
            drafts = urgent if stopped.draft_only else ()
            ids = await requests.due(
                tx, program=program, states=states, kinds=urgent, unsent_wait=drafts, but_not=but_not
            )
            found.append(Queue(queue_name("emergency", program), ids, None))
    return found
