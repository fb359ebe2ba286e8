"""Declines as people need them: one message for each cause within the window, one for each card where it is
severe, with true counts however many come.

A cause's window begins with its first decline. A cluster goes on while declines keep coming, so that a
storm stays one message. Times are when we received them: what comes late is still reported, and reported as late.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from bot.domain.alerts import Severity, decline_alerts, decline_causes
from bot.domain.time import was_before
from bot.partner.models import CardDeclined, Decline
from bot.services import snapshots
from bot.services.alerts import card_rules
from bot.services.alerts import lifecycle as alerts
from bot.services.cards import freezes
from bot.services.core import Core
from bot.services.received_event import ReceivedEvent
from bot.services.snapshots import Declines
from storage.cards import cards
from storage.messages import Alert
from storage.messages import alerts as alert_rows
from storage.transaction import Tx

# A severe decline has no end that we could see; after a day without another it is closed.
_SEVERE_OPEN_FOR = timedelta(hours=24)


async def on_decline(tx: Tx, core: Core, received: ReceivedEvent, event: CardDeclined) -> None:
    """Raise it alone, count it with its like, or say that the card is blocked."""
    data = event.data
    why = data.decline_reason
    code = (why.code if why else None) or "unknown"
    entry = await cards.get(tx, data.card_id) if data.card_id else None
    label = entry.label if entry else (f"card {data.card_id}" if data.card_id else "a card")
    if why is not None and why.card_blocked and data.card_id:
        late = received.event.created_at if received.is_late else None
        how = decline_alerts.with_blocked_card(
            code, amount_usd=data.amount_usd, merchant=data.merchant, received_late=late
        )
        await card_rules.blocked(tx, core, received.program, data.card_id, label, how)
        return
    if data.card_id and await _stopped(tx, core, received, event, data.card_id, label, code):
        return
    severe = decline_causes.is_severe(code, why.card_blocked if why else None) and data.card_id is not None
    about = f"{code}:{data.card_id}" if severe else code
    condition = decline_alerts.DECLINE.condition(received.program, about)
    before = await _seen(tx, core, condition, severe=severe)
    seen = _count(before, tx.now, received, data, label, code)
    await snapshots.DECLINES.put(tx, "", seen, condition)
    if before is None:  # the remedy of a cluster is drafted for its first card
        facts = {"program": received.program, "card_id": data.card_id or "", "code": code}
        await alerts.remember(tx, condition, facts)
    cluster_at = core.alerting.declines.cluster_at
    said = decline_alerts.declined(
        _declines(seen),
        card=label,
        amount_usd=data.amount_usd,
        merchant=data.merchant,
        is_severe=severe,
        is_cluster=seen.count >= cluster_at,
    )
    subject = data.card_id if severe and data.card_id else code
    alert = await alerts.raise_(
        tx, core, said, condition=condition, subject=subject, program=received.program
    )
    if seen.count == cluster_at:
        text = decline_alerts.cluster(seen.count, code)
        called = (
            () if severe else await alerts.called_by_line(tx, core, alert, said.severity)
        )  # once an alert
        await alerts.thread_line(tx, core, alert, "system:alerts", text, mentions=called)


async def _stopped(
    tx: Tx, core: Core, received: ReceivedEvent, event: CardDeclined, card_id: str, label: str, code: str
) -> bool:
    """Reported as what a freeze of ours was for, where it was one: counted, and nobody is called."""
    at, data = received.event.created_at, event.data
    freeze = (await freezes.stopping(tx, core, [(card_id, code, at)])).get((card_id, at))
    if freeze is None:
        return False
    condition = decline_alerts.STOPPED.condition(received.program, card_id, freeze.request.id)
    before = await _seen(tx, core, condition, severe=True)
    seen = _count(before, tx.now, received, data, label, code)
    await snapshots.DECLINES.put(tx, "", seen, condition)
    await alerts.remember(tx, condition, {"program": received.program, "card_id": card_id})
    said = decline_alerts.stopped(
        freeze,
        card=label,
        amount_usd=data.amount_usd,
        merchant=data.merchant,
        count=seen.count,
        total_usd=seen.amount_usd,
    )
    await alerts.raise_(tx, core, said, condition=condition, subject=card_id, program=received.program)
    return True


async def _seen(tx: Tx, core: Core, condition: str, *, severe: bool) -> Declines | None:
    """What its message counts so far; None where a new one begins."""
    alert = await alert_rows.open_one(tx, condition)
    kept = await snapshots.DECLINES.get(tx, "", condition)
    if alert is None or kept is None:
        return None
    if _is_over(core, tx.now, kept.value, severe=severe):
        await _close(tx, core, alert)
        return None
    return kept.value


def _is_over(core: Core, now: datetime, seen: Declines, *, severe: bool) -> bool:
    rule = core.alerting.declines
    goes_on = severe or seen.count >= rule.cluster_at
    since = seen.last_at if goes_on else seen.first_at
    return was_before(since, now - (_SEVERE_OPEN_FOR if severe else rule.window), now)


def _count(
    before: Declines | None, now: datetime, received: ReceivedEvent, data: Decline, label: str, code: str
) -> Declines:
    why = data.decline_reason
    seen = before or Declines(code, first_at=now, last_at=now)
    return replace(
        seen,
        count=seen.count + 1,
        late=seen.late + received.is_late,
        last_at=now,
        retryable=why.retryable if why else None,
        amount_usd=seen.amount_usd + abs(data.amount_usd or Decimal(0)),
        cards=_one_more(seen.cards, label),
        merchants=_one_more(seen.merchants, data.merchant or "unnamed"),
    )


def _one_more(names: Mapping[str, int], name: str) -> dict[str, int]:
    if name not in names and len(names) >= decline_alerts.NAMES_KEPT:
        return dict(names)
    return {**names, name: names.get(name, 0) + 1}


def _declines(seen: Declines) -> decline_alerts.Declines:
    return decline_alerts.Declines(
        seen.code, seen.count, seen.late, seen.amount_usd, seen.cards, seen.merchants, seen.retryable
    )


async def settle(core: Core) -> None:
    """Messages whose window is over take no more declines; they are closed."""
    async with core.store.begin() as tx:
        for alert in await alert_rows.open_of(tx, decline_alerts.DECLINE.name):
            kept = await snapshots.DECLINES.get(tx, "", alert.dedupe)
            if kept is None or _is_over(core, tx.now, kept.value, severe=alert.severity == Severity.CRITICAL):
                await _close(tx, core, alert)
        for alert in await alert_rows.open_of(tx, decline_alerts.STOPPED.name):
            kept = await snapshots.DECLINES.get(tx, "", alert.dedupe)
            is_quiet = kept is None or _is_over(core, tx.now, kept.value, severe=True)
            if is_quiet or await freezes.now(tx, core, alert.subject) is None:
                await _close(tx, core, alert)


async def _close(tx: Tx, core: Core, alert: Alert) -> None:
    await alerts.resolve(tx, core, alert.dedupe)
    await snapshots.DECLINES.drop(tx, "", alert.dedupe)
