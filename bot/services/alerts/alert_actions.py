"""What people do with an alert (acknowledge, snooze, take over, end, mute) and what time does with it.

An acknowledgement holds for four hours: what is still so then is raised again, unless somebody says once
more that they look after it. A snooze holds until its time. Everything is audited and reported in the thread.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from bot.domain.alerts import AlertKind, catalogue
from bot.domain.errors import NotAllowed, NotFound
from bot.services import audit, people
from bot.services.alerts import lifecycle as conditions
from bot.services.alerts import resolved_text
from bot.services.core import Core
from bot.services.people import Role
from storage.messages import Alert, alerts, mutes
from storage.transaction import Tx

ACKNOWLEDGED_FOR = timedelta(hours=4)
LONGEST_SNOOZE = timedelta(days=14)
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_GONE = "This alert is over already. Nothing was changed."


async def of_kind(core: Core, alert_id: str, kind: AlertKind) -> Alert:
    """An open alert that a button of this kind is of. Raises NotFound."""
    async with core.store.read() as tx:
        alert = await alerts.get(tx, alert_id)
    if alert is None or alert.kind != kind.name or alert.state == "resolved":
        raise NotFound(_GONE)
    return alert


async def acknowledge(core: Core, alert_id: str, slack_id: str) -> Alert:
    """This person is on it for the next four hours. Raises NotFound, NotAllowed."""
    await people.require_member(core, slack_id, action="alert.acknowledge")
    async with core.store.begin() as tx:
        until = tx.now + ACKNOWLEDGED_FOR
        alert = await alerts.acknowledge(tx, alert_id, by=slack_id, until=until)
        return await _done(tx, core, alert, slack_id, "acknowledged", f"Acknowledged until {_utc(until)}.")


async def snooze(core: Core, alert_id: str, slack_id: str, until: datetime) -> Alert:
    """Quiet until then, two weeks at most. Raises NotFound, NotAllowed, ValueError for a time of no use."""
    await people.require_member(core, slack_id, action="alert.snooze")
    now = core.clock.now()
    if not now < until <= now + LONGEST_SNOOZE:
        raise ValueError("Choose a time in the future, at most 14 days from now.")
    async with core.store.begin() as tx:
        alert = await alerts.snooze(tx, alert_id, until=until)
        return await _done(tx, core, alert, slack_id, "snoozed", f"Snoozed until {_utc(until)}.")


async def assign(core: Core, alert_id: str, slack_id: str) -> Alert:
    """This person takes it over. Raises NotFound, NotAllowed."""
    await people.require_member(core, slack_id, action="alert.assign")
    async with core.store.begin() as tx:
        alert = await alerts.assign(tx, alert_id, to=slack_id)
        return await _done(tx, core, alert, slack_id, "assigned", "Took it over.")


async def end(core: Core, alert_id: str, slack_id: str) -> Alert:
    """Dealt with, as this person says. What is still so at the next reading is raised again."""
    await people.require_member(core, slack_id, action="alert.resolve")
    async with core.store.begin() as tx:
        alert = await alerts.get(tx, alert_id)
        if alert is None or alert.state == "resolved":
            raise NotFound(_GONE)
        if not catalogue.is_mutable(alert.kind):
            raise NotAllowed(
                "This alert ends only with its cause. Acknowledge or snooze it, or deal with the cause.",
                "ends_with_its_cause",
            )
        ended = await resolved_text.by_hand(tx, core, alert, slack_id)
        await conditions.resolve(tx, core, alert.dedupe, actor=slack_id, ended=ended)
        return alert


async def _done(tx: Tx, core: Core, alert: Alert | None, slack_id: str, what: str, text: str) -> Alert:
    if alert is None:
        raise NotFound(_GONE)
    await audit.record(tx, core, slack_id, f"alert.{what}", f"alert:{alert.id}", {"kind": alert.kind})
    await conditions.redraw(tx, core, alert)
    await conditions.thread_line(tx, core, alert, slack_id, text)
    return alert


async def tend(core: Core) -> None:
    """Acknowledgements and snoozes that ran out: the alert is raised again, with a line in its thread."""
    async with core.store.begin() as tx:
        for alert in await alerts.wake(tx):
            await conditions.redraw(tx, core, alert)
            holder = alert.assigned_to or alert.acknowledged_by
            called = [holder] if holder else conditions.called(core, alert.severity)
            await conditions.thread_line(
                tx, core, alert, "system:alerts", f"Still open: {alert.title}.", mentions=called
            )


async def mute(
    core: Core, slack_id: str, *, name: str, kind: str, about: str = "", lasts: timedelta | None = None
) -> None:
    """A rule by its name: alerts of this kind (about this subject) are kept, and not posted.

    Raises NotAllowed for all but admins, ValueError for what is no rule.
    """
    await _require_admin(core, slack_id, "alert.mute")
    if not _NAME.fullmatch(name):
        raise ValueError("A rule's name is of small letters, digits and dashes.")
    if not catalogue.is_mutable(kind):
        raise ValueError(f"Alerts of the kind {kind} cannot be muted.")
    async with core.store.begin() as tx:
        until = None if lasts is None else tx.now + lasts
        await mutes.put(tx, name=name, kind=kind, about=about, by=slack_id, until=until)
        body = {"kind": kind, "about": about, "until": until.isoformat() if until else ""}
        await audit.record(tx, core, slack_id, "alert.mute", f"mute:{name}", body)


async def unmute(core: Core, slack_id: str, name: str) -> None:
    """End the rule; what is open and was silent is posted now. Raises NotFound, NotAllowed."""
    await _require_admin(core, slack_id, "alert.unmute")
    async with core.store.begin() as tx:
        if not await mutes.drop(tx, name):
            raise NotFound(f"There is no mute rule named {name}. /countersign alerts shows them.")
        await audit.record(tx, core, slack_id, "alert.unmute", f"mute:{name}")
        for alert in await alerts.open_ones(tx):
            await conditions.redraw(tx, core, alert)


async def _require_admin(core: Core, slack_id: str, action: str) -> None:
    refusal = NotAllowed("Only admins may mute alerts. Acknowledge or snooze it instead.", "not_an_admin")
    await people.require_role(core, slack_id, Role.ADMIN, refusal, action=action)


def _utc(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
