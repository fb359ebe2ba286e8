"""Requests' messages in Slack, where a test has no Slack: as the outbox leaves them once Slack has taken them."""

from __future__ import annotations

from itertools import count

from bot.services import message_kinds
from bot.services.core import Core
from storage.messages import outbox

# Whatever else a test posts is at another place.
_numbers = count(1)
_EVERY = 100_000


async def post(core: Core, request_id: str) -> None:
    """Slack takes the request's message, and nothing else that waits. One that is there already stays."""
    subject, form = _named(request_id)
    async with core.store.begin() as tx:
        if await outbox.place(tx, subject, form) is not None:
            return
        for row in await outbox.next_due(tx, limit=_EVERY):
            if (row.subject, row.kind) == (subject, form) and await outbox.sending(tx, row.id):
                await outbox.sent(tx, row.id)
        ts = f"{tx.now.timestamp():.0f}.{next(_numbers):06}"
        await outbox.put_place(tx, subject, form, core.channels.approvals, ts, version=1)


async def forget(core: Core, request_id: str) -> None:
    """It is found deleted, and not posted again so far; or it is of a database of before the rule."""
    async with core.store.begin() as tx:
        await outbox.forget_place(tx, *_named(request_id))


def _named(request_id: str) -> tuple[str, str]:
    """Its subject and form."""
    kind = message_kinds.REQUEST_CARD
    return message_kinds.stored_subject(kind.about, request_id), kind.form.value
