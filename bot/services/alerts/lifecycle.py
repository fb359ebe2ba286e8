"""Conditions someone should look at: one message for each, edited in place, its thread the history.

`raise_` counts an occurrence, `keep` says that a condition goes on, `tell` states a fact that is over as
soon as it is told. Each is silent where nothing changed. What a mute rule silences is kept and audited,
only not posted; what is no more than a note waits for the end of the quiet hours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from bot.services import audit, outbox_messages
from bot.services.core import Core
from storage.cards import api_snapshots
from storage.messages import alerts, mutes
from storage.messages.alerts import Alert
from storage.transaction import Tx

Facts = Mapping[str, str]

# A storm redraws its message this often, whatever the number of its events.
REDRAW_EVERY = timedelta(seconds=5)
_SEVERITIES = ("info", "warning", "critical")
# Nobody may silence that an outcome is unknown, or that the bot itself cannot be trusted.
NEVER_MUTED = frozenset(
    {
        *("unresolved", "landed_late", "key_trouble", "key_reused", "tampered", "policy"),
        *("paused", "consent", "handover"),
    }
)


async def raise_(
    tx: Tx,
    core: Core,
    *,
    dedupe: str,
    kind: str,
    subject: str,
    severity: str,
    title: str,
    text: str,
) -> Alert:
    """Raise or count the one alert of this condition (`dedupe`); its message is owed to the alerts channel."""
    alert, is_new = await alerts.raise_(
        tx, dedupe=dedupe, kind=kind, subject=subject, severity=severity, title=title, text=text
    )
    if is_new:
        body = _told(alert, severity=severity)
        await audit.record(tx, core, "system:alerts", "alert.raised", f"alert:{alert.id}", body)
    await _show(tx, core, alert, f"raised:{alert.count}", later=not is_new)
    return alert


async def keep(
    tx: Tx,
    core: Core,
    *,
    dedupe: str,
    kind: str,
    subject: str,
    severity: str,
    title: str,
    text: str,
    facts: Facts | None = None,
    is_news: bool = False,
) -> Alert:
    """The condition holds: raised once, then drawn again only where its words changed. Not counted.

    `facts` (program, card_id, code, …) are what a remedy is drafted from; they go with the alert. News,
    and a higher severity, raise again what somebody had acknowledged or snoozed as it was before.
    """
    if facts is not None:
        await remember(tx, dedupe, facts)
    found = await alerts.open_one(tx, dedupe)
    if found is None:
        return await raise_(
            tx, core, dedupe=dedupe, kind=kind, subject=subject, severity=severity, title=title, text=text
        )
    if (found.severity, found.title, found.text) == (severity, title, text):
        return found
    worse = _SEVERITIES.index(severity) > _SEVERITIES.index(found.severity)
    said = await alerts.reword(
        tx, found.id, severity=severity, title=title, text=text, again=worse or is_news
    )
    alert = said or found
    await _show(tx, core, alert, f"said:{core.ids.ulid()}", later=not (worse or is_news))
    if worse or is_news:
        called = core.policy.people.approvers if worse and severity == "critical" else ()
        await note(tx, core, alert, "system:alerts", f"Now: {title}.", mentions=called)
    return alert


async def tell(
    tx: Tx, core: Core, *, dedupe: str, kind: str, subject: str, title: str, text: str, severity: str = "info"
) -> None:
    """A fact to know, with nothing left to do. What was open for this condition ends with it."""
    alert = await keep(
        tx, core, dedupe=dedupe, kind=kind, subject=subject, severity=severity, title=title, text=text
    )
    await resolve(tx, core, alert.dedupe)


async def resolve(tx: Tx, core: Core, dedupe: str, *, actor: str = "system:alerts") -> None:
    """The condition is over. Nothing happens where no alert of it is open."""
    alert = await alerts.resolve(tx, dedupe)
    if alert is None:
        return
    await api_snapshots.drop(tx, "", _facts_of(dedupe))
    await audit.record(tx, core, actor, "alert.resolved", f"alert:{alert.id}", _told(alert))
    await _show(tx, core, alert, "resolved")
    if alert.raised_at != tx.now:
        await note(tx, core, alert, actor, "Resolved.")


async def remember(tx: Tx, dedupe: str, facts: Facts) -> None:
    """What a remedy of this condition is drafted from, until it is over."""
    await api_snapshots.put(tx, "", _facts_of(dedupe), dict(facts))


async def facts_of(tx: Tx, alert: Alert) -> Facts:
    """What its remedy is drafted from; empty where nothing was said."""
    kept = await api_snapshots.get(tx, "", _facts_of(alert.dedupe))
    return {} if kept is None else dict(kept.value)


def _facts_of(dedupe: str) -> str:
    return f"alert:{dedupe}"


async def note(
    tx: Tx, core: Core, alert: Alert, actor: str, text: str, *, mentions: Sequence[str] = ()
) -> None:
    """A line of the alert's history, told in its thread. `actor` is a Slack id or `system:…`."""
    n = await alerts.note(tx, alert.id, actor=actor, text=text)
    if not await is_muted(tx, alert):
        await outbox_messages.alert_line(tx, core, alert.id, n, actor=actor, text=text, mentions=mentions)


async def redraw(tx: Tx, core: Core, alert: Alert) -> None:
    """What people did with it is to be seen."""
    await _show(tx, core, alert, f"done:{core.ids.ulid()}")


async def is_muted(tx: Tx, alert: Alert) -> mutes.Mute | None:
    """The rule that silences this alert."""
    if alert.kind in NEVER_MUTED:
        return None
    rules = await mutes.in_force(tx)
    return next((r for r in rules if r.silences(alert.kind, alert.subject, alert.title)), None)


async def _show(tx: Tx, core: Core, alert: Alert, change: str, *, later: bool = False) -> None:
    """Owe the picture: at once, `later` with other changes, or when the quiet hours are over."""
    rule = await is_muted(tx, alert)
    if rule is not None:
        if alert.count == 1 and change == "raised:1":
            body = _told(alert, rule=rule.name)
            await audit.record(tx, core, "system:alerts", "alert.muted", f"alert:{alert.id}", body)
            await alerts.note(tx, alert.id, actor="system:alerts", text=f"Muted by the rule {rule.name}.")
        return
    due_at = tx.now + REDRAW_EVERY if later else None
    if alert.severity == "info":
        due_at = core.alerting.hours.quiet_until(tx.now) or due_at
    await outbox_messages.alert(tx, core, alert.id, change, due_at=due_at)


def _told(alert: Alert, **more: str) -> dict[str, str]:
    """What the audit keeps of an alert."""
    return {"kind": alert.kind, "about": alert.subject, **more}
