"""Declines as people need them: one message for each cause within the window, one for each card where it is
severe, with true counts however many come.

A cause's window begins with its first decline. A cluster goes on while declines keep coming, so that a
storm stays one message. Times are when we heard of them: what comes late is still told, and told as late.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from bot.domain.events import decline_text
from bot.domain.money.amounts import format_usd
from bot.partner.models.events import CardDeclined, Decline
from bot.services.alerts import card_rules
from bot.services.alerts import lifecycle as alerts
from bot.services.core import Core
from bot.services.received_event import Heard
from storage.cards import api_snapshots, cards
from storage.messages import alerts as alert_rows
from storage.messages.alerts import Alert
from storage.transaction import Tx

# A severe decline has no end that we could see; after a day without another it is closed.
_SEVERE_OPEN_FOR = timedelta(hours=24)
# Of a storm so many names are kept; the counts are true whatever it holds.
_NAMES_KEPT = 100
_NAMES_SHOWN = 8

Seen = dict[str, Any]


async def on_decline(tx: Tx, core: Core, heard: Heard, event: CardDeclined) -> None:
    """Raise it alone, count it with its like, or say that the card is blocked."""
    data = event.data
    why = data.decline_reason
    code = (why.code if why else None) or "unknown"
    entry = await cards.get(tx, data.card_id) if data.card_id else None
    label = entry.label if entry else (f"card {data.card_id}" if data.card_id else "a card")
    if why is not None and why.card_blocked and data.card_id:
        how = f"{_purchase(data)} was declined: {decline_text.cause_in_words(code).what}.{_late(heard)}"
        await card_rules.blocked(tx, core, heard.program, data.card_id, label, how)
        return
    severe = decline_text.is_severe(code, why.card_blocked if why else None) and data.card_id is not None
    about = f"{code}:{data.card_id}" if severe else code
    dedupe = f"decline:{heard.program}:{about}"
    before = await _seen(tx, core, dedupe, severe=severe)
    seen = _count(before, tx.now, heard, data, label, code)
    await api_snapshots.put(tx, "", f"seen:{dedupe}", seen)
    if before is None:  # the remedy of a cluster is drafted for its first card
        facts = {"program": heard.program, "card_id": data.card_id or "", "code": code}
        await alerts.remember(tx, dedupe, facts)
    rule = core.alerting.declines
    is_cluster = seen["count"] >= rule.cluster_at
    single = f"{label} declined at {data.merchant or 'an unnamed merchant'}"
    alert = await alerts.raise_(
        tx,
        core,
        dedupe=dedupe,
        kind="decline",
        subject=data.card_id if severe and data.card_id else code,
        severity="critical" if severe else "warning" if is_cluster else "info",
        title=_title(seen, single, code, is_cluster=is_cluster),
        text=_text(seen, data, code),
    )
    if seen["count"] == rule.cluster_at:
        text = f"{seen['count']} declines of this cause in a short time."
        await alerts.note(tx, core, alert, "system:alerts", text, mentions=core.policy.people.approvers)


async def _seen(tx: Tx, core: Core, dedupe: str, *, severe: bool) -> Seen | None:
    """What its message counts so far; None where a new one begins."""
    alert = await alert_rows.open_one(tx, dedupe)
    kept = await api_snapshots.get(tx, "", f"seen:{dedupe}")
    if alert is None or kept is None:
        return None
    if _is_over(core, tx.now, kept.value, severe=severe):
        await _close(tx, core, alert)
        return None
    seen: Seen = kept.value
    return seen


def _is_over(core: Core, now: datetime, seen: Mapping[str, Any], *, severe: bool) -> bool:
    rule = core.alerting.declines
    goes_on = severe or seen["count"] >= rule.cluster_at
    since = datetime.fromisoformat(seen["last_at" if goes_on else "first_at"])
    return now - since > (_SEVERE_OPEN_FOR if severe else rule.window)


def _count(before: Seen | None, now: datetime, heard: Heard, data: Decline, label: str, code: str) -> Seen:
    why = data.decline_reason
    seen: Seen = before or {
        "count": 0,
        "late": 0,
        "amount_usd": "0",
        "cards": {},
        "merchants": {},
        "first_at": now.isoformat(),
        "code": code,
    }
    seen["count"] += 1
    seen["late"] += heard.is_late
    seen["last_at"] = now.isoformat()
    seen["retryable"] = why.retryable if why else None
    seen["amount_usd"] = str(Decimal(seen["amount_usd"]) + abs(data.amount_usd or Decimal(0)))
    for kept, name in ((seen["cards"], label), (seen["merchants"], data.merchant or "unnamed")):
        if name in kept or len(kept) < _NAMES_KEPT:
            kept[name] = kept.get(name, 0) + 1
    return seen


def _title(seen: Seen, single: str, code: str, *, is_cluster: bool) -> str:
    what = decline_text.cause_in_words(code).what
    if seen["count"] == 1:
        return f"{single}: {what}"
    if len(seen["cards"]) == 1:
        return f"{next(iter(seen['cards']))} declined {seen['count']:,} times: {what}"
    return f"{'Cluster: ' if is_cluster else ''}{seen['count']:,} purchases declined: {what}"


def _text(seen: Seen, data: Decline, code: str) -> str:
    cause = decline_text.cause_in_words(code)
    help_ = f"{decline_text.retry_in_words(seen['retryable'])} {cause.next_step}"
    late = _late_words(seen)
    if seen["count"] == 1:
        return f"{_purchase(data)} did not go through: {cause.what}. {help_}{late}"
    total = f"Together {format_usd(Decimal(seen['amount_usd']))}."
    return f"{total} Cards: {_names(seen['cards'])}. Merchants: {_names(seen['merchants'])}. {help_}{late}"


def _names(kept: Mapping[str, int]) -> str:
    """The most frequent ones, each with its count."""
    most = sorted(kept.items(), key=lambda item: (-item[1], item[0]))
    said = ", ".join(name if count == 1 else f"{name} ({count:,})" for name, count in most[:_NAMES_SHOWN])
    left = len(most) - _NAMES_SHOWN
    more = f"{left} more" if len(most) < _NAMES_KEPT else "many more"
    return f"{said} and {more}" if left > 0 else said


def _purchase(data: Decline) -> str:
    amount = "A purchase" if data.amount_usd is None else f"A purchase of {format_usd(abs(data.amount_usd))}"
    return f"{amount} at {data.merchant or 'an unnamed merchant'}"


def _late(heard: Heard) -> str:
    if not heard.is_late:
        return ""
    return f" We heard of it late: it happened at {heard.event.created_at:%Y-%m-%d %H:%M} UTC."


def _late_words(seen: Seen) -> str:
    if not seen["late"]:
        return ""
    return f" We heard late of {seen['late']:,} of {seen['count']:,}, more than a quarter of an hour after."


async def settle(core: Core) -> None:
    """Messages whose window is over take no more declines; they are closed."""
    async with core.store.begin() as tx:
        for alert in await alert_rows.open_of(tx, "decline"):
            kept = await api_snapshots.get(tx, "", f"seen:{alert.dedupe}")
            if kept is None or _is_over(core, tx.now, kept.value, severe=alert.severity == "critical"):
                await _close(tx, core, alert)


async def _close(tx: Tx, core: Core, alert: Alert) -> None:
    await alerts.resolve(tx, core, alert.dedupe)
    await api_snapshots.drop(tx, "", f"seen:{alert.dedupe}")
