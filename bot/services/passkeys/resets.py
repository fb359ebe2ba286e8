"""Says in Slack that all passkeys were reset at the machine, beside a running bot or before a start.

A reset lets the next passkey be confirmed by a click, so whoever may approve reads of it, whoever did it. It is taken
from the audit log, and so is that it was reported.
"""

from __future__ import annotations

from bot.domain.alerts import passkey_alerts, people_alerts
from bot.services import alerts, audit
from bot.services.core import Core
from storage.errors import ChangedOutside
from storage.log_record import RESET_REPORTED, Reset, on_record
from storage.messages import alerts as alert_rows
from storage.requests import confirmations
from storage.transaction import Tx

_OVER = "All passkeys were reset at the machine, so this has no point any more. Nothing was changed."


async def report(core: Core) -> None:
    """One critical alert for a reset that was not reported, and what was asked about passkeys before it keeps no
    button."""
    async with core.store.read() as tx:
        if await _unreported(tx) is None:
            return
    async with core.store.begin() as tx:
        reset = await _unreported(tx)
        if reset is None:
            return
        said = passkey_alerts.PASSKEY.says("reset", who=reset.by, at=reset.at)
        condition = passkey_alerts.PASSKEY.condition("all", f"reset:{reset.seq}")
        await alerts.tell(tx, core, said, condition=condition, subject="all", program="")
        await audit.record(tx, core, "system:passkeys", RESET_REPORTED, "passkey:all", {"entry": reset.seq})
        await _close_what_was_asked(tx, core)


async def _unreported(tx: Tx) -> Reset | None:
    try:
        return (await on_record.of(tx)).reset
    except ChangedOutside:  # which has an alert of its own
        return None


async def _close_what_was_asked(tx: Tx, core: Core) -> None:
    """The reset ended the askings themselves; their messages are those of the bot."""
    for alert in await alert_rows.open_of(tx, people_alerts.CONSENT.name):
        try:
            asked = await confirmations.get(tx, alert.subject)
        except ChangedOutside:
            continue
        if asked is not None and asked.state != "open":
            await alert_rows.reword(tx, alert.id, severity=alert.severity, title=alert.title, text=_OVER)
            await alerts.resolve(tx, core, alert.dedupe, actor="system:passkeys")
