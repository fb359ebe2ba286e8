"""Do messages wait for Slack? One alert while they do: Home, the status and the alerts channel show it."""

from __future__ import annotations

from datetime import timedelta

from bot.domain.alerts import delivery_alerts
from bot.services import alerts
from bot.services.core import Core
from storage.messages import outbox

# A hiccup of Slack's is over by then.
LATE_AFTER = timedelta(minutes=2)


async def watch(core: Core) -> None:
    """Raise when the oldest message that Slack did not take is late, resolve when none is left."""
    condition = delivery_alerts.MESSAGES_WAIT.condition()
    async with core.store.begin() as tx:
        waiting = await outbox.waiting(tx)
        if waiting is None:
            await alerts.resolve(tx, core, condition)
        elif waiting.since < tx.now - LATE_AFTER:
            said = delivery_alerts.messages_wait(waiting.count, waiting.since, waiting.error)
            await alerts.keep(tx, core, said, condition=condition, subject="slack", since=waiting.since)
