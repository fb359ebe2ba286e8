"""Do messages wait for Slack? One alert while they do: Home, the status and the alerts channel show it."""

from __future__ import annotations

from datetime import timedelta

from bot.domain import slack_faults
from bot.domain.alerts import delivery_alerts
from bot.services import alerts
from bot.services.core import Core
from bot.services.message_kinds import About, Subject
from storage.messages import Waiting, outbox
from storage.messages import alerts as alert_rows
from storage.transaction import Tx

# A hiccup of Slack's is over by then.
LATE_AFTER = timedelta(minutes=2)
_CONDITION = delivery_alerts.MESSAGES_WAIT.condition()


async def watch(core: Core) -> None:
    """Raise when the oldest message that Slack did not take is late, resolve when none is left. What waits for a time
    that a clock had wrong is sent."""
    async with core.store.begin() as tx:
        await outbox.catch_up(tx)
        waiting = await now(tx)
        if waiting is None:
            await alerts.resolve(tx, core, _CONDITION)
        elif waiting.since < tx.now - LATE_AFTER:
            said = delivery_alerts.messages_wait(waiting.count, waiting.since, waiting.error)
            await alerts.keep(
                tx, core, said, condition=_CONDITION, subject="slack", program="", since=waiting.since
            )


async def end(tx: Tx, core: Core) -> None:
    """Resolve as soon as the last of them was sent."""
    if await own_subject(tx) and await now(tx) is None:
        await alerts.resolve(tx, core, _CONDITION)


async def now(tx: Tx) -> Waiting | None:
    """What waits for Slack, but for the message that says so."""
    return await outbox.waiting(tx, but=await own_subject(tx))


async def own_subject(tx: Tx) -> str:
    """What the message about waiting messages is about, as the outbox has it; empty where there is none."""
    found = await alert_rows.open_one(tx, _CONDITION)
    return "" if found is None else Subject(About.ALERT, found.id).stored()


async def trouble_with(core: Core, channel: str) -> str:
    """Why Slack takes no message in this channel, in sentences; empty where none waits for that."""
    async with core.store.read() as tx:
        waiting = await outbox.waiting(tx, channel=channel)
    return slack_faults.explained(waiting.error) if waiting else ""
