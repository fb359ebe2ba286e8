"""Reminders of what nobody may forget: pending decisions, unconfirmed freezes, unknown outcomes.

Which reminder is due follows from the clock alone, and the outbox takes each only once, so a job may
run as often as it likes.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.domain.requests import DecisionKind, Request, State
from bot.services import outbox_messages
from bot.services.core import Core
from bot.services.requests import FIRST_REMINDER, remind_due
from bot.together import each_by_itself
from storage.requests import decisions, requests
from storage.transaction import Tx

UNRESOLVED_EVERY = timedelta(hours=4)
# A freeze nobody has confirmed for this long is not going to be; the card keeps its buttons.
FREEZES_REMINDED_FOR = timedelta(days=2)


async def remind(core: Core) -> None:
    """Put every reminder that is due into the outbox."""
    async with each_by_itself() as each:
        with each():
            await remind_due(core)
        async with core.store.read() as tx:
            unresolved = await requests.find(tx, states=(State.UNRESOLVED,), limit=200)
            unconfirmed = await _unconfirmed(tx, core)
        for request in unresolved:
            nth = (core.clock.now() - (request.first_sent_at or request.created_at)) // UNRESOLVED_EVERY
            if nth:
                with each():
                    await _remind(core, request, "reminder_unresolved", str(nth))
        for request in unconfirmed:
            nth = _doublings(request.created_at, core.clock.now())
            if nth:
                with each():
                    await _remind(core, request, "reminder", f"confirm:{nth}")


async def _remind(core: Core, request: Request, line: str, tag: str) -> None:
    """In a transaction of its own; nothing where the request changed since it was found."""
    async with core.store.begin() as tx:
        now = await requests.get(tx, request.id)
        if now is not None and now.version == request.version:
            await outbox_messages.line(tx, core, request, line, tag=tag)


async def _unconfirmed(tx: Tx, core: Core) -> list[Request]:
    """What was done at once, such as a freeze, that no second person has confirmed or undone."""
    at_once = [kind for kind, cls in core.kinds.items() if cls.handling.can_run_now]
    recent = await requests.find(
        tx, kinds=at_once, states=(State.SUCCEEDED,), since=tx.now - FREEZES_REMINDED_FOR, limit=200
    )
    found = []
    for request in (r for r in recent if r.break_glass):
        kinds = {d.kind for d in await decisions.of(tx, request.id)}
        newer = await requests.find(
            tx, subject=request.subject, kinds=(core.kinds[request.kind].undone_by,), since=request.created_at
        )
        undone = any(r.state is State.SUCCEEDED for r in newer)
        if DecisionKind.CONFIRM not in kinds and not undone:
            found.append(request)
    return found


def _doublings(since: datetime, now: datetime) -> int:
    """0 before 15 minutes, 1 from then, 2 from 30, 3 from 60 minutes, and so on."""
    return ((now - since) // FIRST_REMINDER).bit_length()
