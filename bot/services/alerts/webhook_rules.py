"""Do deliveries reach us? The event log says what the card provider tried, the inbox what came.

With no endpoint registered there is nothing to miss: the event log is read as well, and tells it all.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from datetime import timedelta
from typing import cast

from bot.domain.alerts import delivery_alerts
from bot.partner.models import Event
from bot.partner.ratelimit import Lane
from bot.services.alerts import lifecycle as alerts
from bot.services.core import Core
from storage.events import inbox
from storage.transaction import Tx

# The first retries are done by then [Delivery rules]; what waits longer is not a hiccup.
_DELIVERED_WITHIN = timedelta(minutes=5)
_LOOKED_BACK = timedelta(hours=6)
# So many of those that should have been delivered by now.
_MOST = 300
# So many in all, where the newest are too young for it.
_MOST_READ = 1_000
# So many in a row that the card provider calls delivered and that did not come by a delivery.
_SILENT_AT = 3


async def look(core: Core, program: str) -> None:
    """Raise or resolve by the newest events of the log. Raises PartnerError."""
    partner = core.partners[program]
    hook = await partner.webhook(lane=Lane.BACKGROUND)
    if hook is None:
        async with core.store.begin() as tx:
            for kind in (delivery_alerts.WEBHOOK_FAILING, delivery_alerts.WEBHOOK_SILENT):
                await alerts.resolve(tx, core, kind.condition(program), case="not registered")
        return
    now = core.clock.now()
    found: list[Event] = []
    old: list[Event] = []
    since = max(now - _LOOKED_BACK, hook.updated_at)
    log = cast(AsyncGenerator[Event, None], partner.events(since=since, lane=Lane.BACKGROUND))
    async with aclosing(log) as events:  # left before its end, so it has to be closed
        async for event in events:
            found.append(event)
            if event.created_at < now - _DELIVERED_WITHIN:
                old.append(event)
            if len(old) == _MOST or len(found) == _MOST_READ:
                break
    is_proved = any(event.delivered for event in found)
    async with core.store.begin() as tx:
        waiting = [event for event in old if not event.delivered]
        await _failing(tx, core, program, waiting, is_proved=is_proved)
        await _silent(tx, core, program, [event for event in old if event.delivered])


async def _failing(
    tx: Tx, core: Core, program: str, undelivered: Sequence[Event], *, is_proved: bool
) -> None:
    """`is_proved`: something was delivered lately. Where nothing was to be, an alert goes on."""
    condition = delivery_alerts.WEBHOOK_FAILING.condition(program)
    if not undelivered:
        if is_proved:
            await alerts.resolve(tx, core, condition)
        return
    first = min(event.created_at for event in undelivered)
    said = delivery_alerts.WEBHOOK_FAILING.says(program=program, count=len(undelivered), first=first)
    facts = {"program": program}
    await alerts.keep(
        tx, core, said, condition=condition, subject=program, program=program, facts=facts, since=first
    )


async def _silent(tx: Tx, core: Core, program: str, delivered: Sequence[Event]) -> None:
    """Delivered, says the card provider, yet we know them from the log alone: they go somewhere else."""
    condition = delivery_alerts.WEBHOOK_SILENT.condition(program)
    newest = sorted(delivered, key=lambda event: event.created_at)[-_SILENT_AT:]
    came = [await inbox.get(tx, event.id) for event in newest]
    if any(event is not None and event.source == "webhook" for event in came):
        await alerts.resolve(tx, core, condition)
        return
    if len(newest) < _SILENT_AT:
        return
    said = delivery_alerts.WEBHOOK_SILENT.says(program=program)
    since, facts = newest[0].created_at, {"program": program}
    await alerts.keep(
        tx, core, said, condition=condition, subject=program, program=program, facts=facts, since=since
    )
