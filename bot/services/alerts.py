"""Conditions someone should look at: raised once, updated in place, resolved with the condition."""

from __future__ import annotations

from bot.services import owed
from bot.services.core import Core
from storage import alerts, audit
from storage.store import Tx


async def raise_(
    tx: Tx, core: Core, *, dedupe: str, kind: str, subject: str, severity: str, title: str, text: str
) -> None:
    """Raise or update the one alert of this condition (`dedupe`); its message is owed to the alerts channel."""
    alert, is_new = await alerts.raise_(
        tx, dedupe=dedupe, kind=kind, subject=subject, severity=severity, title=title, text=text
    )
    if is_new:
        await audit.append(
            tx,
            actor="system:alerts",
            action="alert.raised",
            subject=f"alert:{alert.id}",
            body={"kind": kind, "about": subject, "severity": severity},
            policy_version=core.policy.version,
        )
    await owed.alert(tx, core, alert.id, f"raised:{alert.count}")


async def resolve(tx: Tx, core: Core, dedupe: str) -> None:
    """The condition is over. Nothing happens where no alert of it is open."""
    alert = await alerts.resolve(tx, dedupe)
    if alert is None:
        return
    await audit.append(
        tx,
        actor="system:alerts",
        action="alert.resolved",
        subject=f"alert:{alert.id}",
        body={"kind": alert.kind, "about": alert.subject},
        policy_version=core.policy.version,
    )
    await owed.alert(tx, core, alert.id, "resolved")
