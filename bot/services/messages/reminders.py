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
from storage.requests import decisions, requests
from storage.transaction import Tx

UNRESOLVED_EVERY = timedelta(hours=4)
# A freeze nobody has confirmed for this long is not going to be; the card keeps its buttons.
FREEZES_REMINDED_FOR = timedelta(days=2)


async def remind(core: Core) -> None:
    """Put every reminder that is due into the outbox."""
    await remind_due(core)
    async with core.store.begin() as tx:
        for request in await requests.find(tx, states=(State.UNRESOLVED,), limit=200):
            nth = (tx.now - (request.first_sent_at or request.created_at)) // UNRESOLVED_EVERY
            if nth:
                await outbox_messages.line(tx, core, request, "reminder_unresolved", tag=str(nth))
        for request in await _unconfirmed(tx, core):
            nth = _doublings(request.created_at, tx.now)
            if nth:
                await outbox_messages.line(tx, core, request, "reminder", tag=f"confirm:{nth}")


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
