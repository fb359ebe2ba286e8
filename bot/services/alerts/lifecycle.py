"""Conditions someone should look at: one message for each, edited in place, its thread the history.

`raise_` counts an occurrence, `keep` says that a condition goes on, `tell` states a fact that is over as
soon as it is reported. Each is silent where nothing changed. What a mute rule silences is kept and audited,
only not posted; what is no more than a note waits for the end of the quiet hours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.alerts import Ended, Said, Severity, catalogue
from bot.services import audit, outbox_messages
from bot.services import message_kinds as kinds
from bot.services.alerts import resolved_text
from bot.services.alerts.resolved_text import SINCE
from bot.services.core import Core
from bot.services.message_kinds import About, Subject
from storage.cards import api_snapshots
from storage.messages import Alert, alerts, mutes, outbox
from storage.transaction import Tx

Facts = Mapping[str, str]

# A storm redraws its message this often, whatever the number of its events.
REDRAW_EVERY = timedelta(seconds=5)


async def raise_(tx: Tx, core: Core, said: Said, *, condition: str, subject: str, program: str) -> Alert:
    """Raise or count the one alert of this condition; its message goes to the alerts channel.

    `said` are its words, from its row of the catalogue; `condition` is the key that its kind gives. `subject`: the
    id it is about, such as a card, a request or a program. `program`: the one it belongs to; empty for all.
    """
    alert, is_new = await alerts.raise_(
        tx,
        dedupe=condition,
        kind=said.kind.name,
        subject=subject,
        program=program,
        severity=said.severity.value,
        title=said.title,
        text=said.text,
    )
    if is_new:
        core.measures.raised(alert.id, core.clock.monotonic())
        body = _recorded(alert, severity=said.severity.value)
        await audit.record(tx, core, "system:alerts", "alert.raised", f"alert:{alert.id}", body)
    await _show(tx, core, alert, f"raised:{alert.count}", later=not is_new)
    return alert


async def keep(
    tx: Tx,
    core: Core,
    said: Said,
    *,
    condition: str,
    subject: str,
    program: str,
    facts: Facts | None = None,
    is_news: bool = False,
    since: datetime | None = None,
) -> Alert:
    """The condition holds: raised once, then drawn again only where its words changed. Not counted.

    `facts` (program, card_id, code, …) are what a remedy is drafted from; they go with the alert. News,
    and a higher severity, raise again what somebody had acknowledged or snoozed as it was before. `since` is when it
    began, where that was before it was noticed: its ending counts from the earliest that was given.
    """
    found = await alerts.open_one(tx, condition)
    if facts is not None or since is not None:
        kept = await facts_of(tx, found) if found is not None else {}
        begun = [text for text in (kept.get(SINCE), since.isoformat() if since else None) if text]
        await remember(tx, condition, {**(facts or {}), **({SINCE: min(begun)} if begun else {})})
    if found is None:
        return await raise_(tx, core, said, condition=condition, subject=subject, program=program)
    if (found.severity, found.title, found.text) == (said.severity, said.title, said.text):
        return found
    worse = said.severity.rank > Severity(found.severity).rank
    reworded = await alerts.reword(
        tx,
        found.id,
        severity=said.severity.value,
        title=said.title,
        text=said.text,
        again=worse or is_news,
    )
    alert = reworded or found
    await _show(tx, core, alert, f"said:{core.ids.ulid()}", later=not (worse or is_news))
    if worse or is_news:
        mentions = await called_by_line(tx, core, alert, said.severity) if worse else ()
        await thread_line(tx, core, alert, "system:alerts", f"Now: {said.title}.", mentions=mentions)
    return alert


async def tell(tx: Tx, core: Core, said: Said, *, condition: str, subject: str, program: str) -> None:
    """A fact to know, with nothing left to do. What was open for this condition ends with it."""
    alert = await keep(tx, core, said, condition=condition, subject=subject, program=program)
    await resolve(tx, core, alert.dedupe, ended=Ended(said.title, said.text))


async def resolve(
    tx: Tx,
    core: Core,
    condition: str,
    *,
    actor: str = "system:alerts",
    case: str = "",
    ended: Ended | None = None,
) -> None:
    """The condition is over: its message and its thread say how it ended. Nothing happens where none is open.

    `case`: which ending of its kind, where the caller knows better than the facts; `ended`: the words themselves.
    Without them, words that were given in this same transaction are how it ended.
    """
    before = await alerts.open_one(tx, condition)
    if before is None:
        return
    if ended is None and before.updated_at == tx.now:
        ended = Ended(before.title, before.text)
    if ended is None:
        ended = await resolved_text.of(tx, core, before, actor, await facts_of(tx, before), case)
    alert = await alerts.resolve(tx, condition, title=ended.title, text=ended.text)
    if alert is None:  # another process was first
        return
    core.measures.alerts_raised_s.pop(alert.id, None)
    await api_snapshots.drop(tx, "", _facts_of(condition))
    await audit.record(tx, core, actor, "alert.resolved", f"alert:{alert.id}", _recorded(alert))
    # What silenced the alarm silences its end as well.
    known = replace(alert, title=before.title)
    await _show(tx, core, known, "resolved")
    if alert.raised_at != tx.now:
        # Where the title stays what was asked, the text alone says how it ended.
        is_same = ended.title == before.title
        line = ended.text.partition("\n")[0] if is_same else f"Resolved: {ended.title}."
        await thread_line(tx, core, known, actor, line)


async def remember(tx: Tx, condition: str, facts: Facts) -> None:
    """What a remedy of this condition is drafted from, until it is over."""
    await api_snapshots.put(tx, "", _facts_of(condition), dict(facts))


async def facts_of(tx: Tx, alert: Alert) -> Facts:
    """What its remedy is drafted from; empty where nothing was said."""
    kept = await api_snapshots.get(tx, "", _facts_of(alert.dedupe))
    return {} if kept is None else dict(kept.value)


def _facts_of(condition: str) -> str:
    return f"alert:{condition}"


def called(core: Core, severity: str) -> Sequence[str]:
    """The people and groups, as the settings name them, whom an alert as severe as this mentions."""
    return (core.alerting.call or core.policy.people.approvers) if severity == Severity.CRITICAL else ()


async def called_by_line(tx: Tx, core: Core, alert: Alert, severity: str) -> Sequence[str]:
    """Whom a line mentions because the alert got as severe as this: an edit of its message notifies nobody. A message
    that is still to be posted mentions them by itself."""
    place = await outbox.place(tx, Subject(About.ALERT, alert.id).stored(), kinds.ALERT.form.value)
    return called(core, severity) if place is not None else ()


async def thread_line(
    tx: Tx, core: Core, alert: Alert, actor: str, text: str, *, mentions: Sequence[str] = ()
) -> None:
    """A line of the alert's history, reported in its thread. `actor` is a Slack id or `system:…`."""
    n = await alerts.add_thread_line(tx, alert.id, actor=actor, text=text)
    if not await is_muted(tx, alert):
        await outbox_messages.alert_line(tx, core, alert.id, n, actor=actor, text=text, mentions=mentions)


async def redraw(tx: Tx, core: Core, alert: Alert) -> None:
    """What people did with it is to be seen."""
    await _show(tx, core, alert, f"done:{core.ids.ulid()}")


async def is_muted(tx: Tx, alert: Alert) -> mutes.Mute | None:
    """The rule that silences this alert."""
    if not catalogue.is_mutable(alert.kind):
        return None
    rules = await mutes.in_force(tx)
    return next((r for r in rules if r.silences(alert.kind, alert.subject, alert.title)), None)


async def _show(tx: Tx, core: Core, alert: Alert, change: str, *, later: bool = False) -> None:
    """Put the message into the outbox: at once, `later` with other changes, or when the quiet hours are over."""
    rule = await is_muted(tx, alert)
    if rule is not None:
        if alert.count == 1 and change == "raised:1":
            body = _recorded(alert, rule=rule.name)
            await audit.record(tx, core, "system:alerts", "alert.muted", f"alert:{alert.id}", body)
            text = f"Muted by the rule {rule.name}."
            await alerts.add_thread_line(tx, alert.id, actor="system:alerts", text=text)
        return
    due_at = tx.now + REDRAW_EVERY if later else None
    if alert.severity == Severity.INFO:
        due_at = core.alerting.hours.quiet_until(tx.now) or due_at
    await outbox_messages.alert(tx, core, alert.id, change, due_at=due_at)


def _recorded(alert: Alert, **more: str) -> dict[str, str]:
    """What the audit keeps of an alert."""
    return {"kind": alert.kind, "about": alert.subject, **more}
