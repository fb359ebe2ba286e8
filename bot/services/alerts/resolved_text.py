"""How an alert ended, in words: the facts as they are in the transaction that ends it, put into its kind's ending.

What was said while it was open is no longer true, and what it asked people to do is no longer to be done. So a
resolved alert says how it came out: the float now, the outcome of the request, for how long it was so.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from bot.domain.alerts import (
    CLOSED_BY_HAND,
    AlertKind,
    Ended,
    account_alerts,
    card_alerts,
    catalogue,
    decline_alerts,
    decline_causes,
    delivery_alerts,
    float_alerts,
    funding_alerts,
    request_alerts,
)
from bot.domain.money import format_usd
from bot.domain.sentences import with_stop
from bot.domain.time import in_words
from bot.services import display_names, snapshots
from bot.services.core import Core
from storage.cards import cards
from storage.messages import Alert
from storage.operators import people, programs
from storage.requests import requests
from storage.transaction import Tx

Facts = dict[str, Any]
#: Reads the case of the ending, and the facts that it names apart from those that every ending has.
Read = Callable[[Tx, Core, Alert, Facts], Awaitable[tuple[str, Facts]]]

log = logging.getLogger("countersign.alerts")


SINCE = "since"
"""Among the facts of an alert: when what it is about began, where that was before the alert was raised."""
_BY_ITSELF = "Countersign"
_UNKNOWN = "an unknown time, as the clock of the machine was set meanwhile"
# The reading that raised an alert was written a moment before it.
_READ_BEFORE = timedelta(minutes=2)


async def of(tx: Tx, core: Core, alert: Alert, actor: str, facts: Mapping[str, str], case: str = "") -> Ended:
    """How this alert ends now. `facts`: those kept with it. `case`: which ending, where the caller knows.

    It never stands in the way of what ends the alert: where a fact cannot be read, less is said.
    """
    kind = catalogue.of(alert.kind)
    known = await _known(tx, core, alert, actor, facts)
    more: Facts = {}
    try:
        if not case and kind in _READ:
            case, more = await _READ[kind](tx, core, alert, known)
        return kind.ended(case, **known, **more)
    except (KeyError, ValueError, TypeError, ArithmeticError):  # what an older version stored, most likely
        log.exception("alerts.ending_not_known", extra={"alert": alert.id, "kind": alert.kind})
        return Ended(f"“{alert.title}” is closed", f"It was open for {known['lasted']}.")


async def by_hand(tx: Tx, core: Core, alert: Alert, actor: str) -> Ended:
    """A person closed it, whatever became of its cause."""
    known = await _known(tx, core, alert, actor, {}, since=alert.raised_at)
    return Ended(CLOSED_BY_HAND.title.format(**known), CLOSED_BY_HAND.text.format(**known))


async def _known(
    tx: Tx, core: Core, alert: Alert, actor: str, facts: Mapping[str, str], *, since: datetime | None = None
) -> Facts:
    open_for = _open_for(core, alert, tx.now)
    # What it is about began before it was noticed, if at all.
    before = max(timedelta(0), alert.raised_at - (since or await _began(tx, alert, facts)))
    seen = None if actor.startswith("system:") else await people.get(tx, actor)
    by_person = seen.actor.name if seen else actor
    parts = [facts.get("program", ""), alert.subject, *alert.dedupe.split(":")]
    return {
        "title": alert.title,
        "text": alert.text,
        "subject": alert.subject,
        "program": next((part for part in parts if part in core.partners), alert.subject),
        "lasted": _UNKNOWN if open_for is None else in_words(before + open_for),
        "open_for": _UNKNOWN if open_for is None else in_words(open_for),
        "who": _BY_ITSELF if actor.startswith("system:") else by_person,
    }


def _open_for(core: Core, alert: Alert, now: datetime) -> timedelta | None:
    """As this process counted it where it raised the alert: the clock may have been set since. None where it was set
    back, and another process raised it."""
    raised_s = core.measures.alerts_raised_s.get(alert.id)
    if raised_s is not None:
        return timedelta(seconds=core.clock.monotonic() - raised_s)
    return now - alert.raised_at if alert.raised_at <= now else None


async def _began(tx: Tx, alert: Alert, facts: Mapping[str, str]) -> datetime:
    """Since when it was really so: before anybody noticed, where that is known."""
    if facts.get(SINCE):
        return datetime.fromisoformat(facts[SINCE])
    if alert.kind == request_alerts.UNRESOLVED.name:
        found = await requests.get(tx, alert.subject)
        return (found.first_sent_at if found else None) or alert.raised_at
    return alert.raised_at


async def _float_low(tx: Tx, core: Core, alert: Alert, known: Facts) -> tuple[str, Facts]:
    now = await snapshots.ACCOUNT.get(tx, known["program"])
    if now is None:
        return "not read", {}
    past = await snapshots.ACCOUNT.since(tx, known["program"], alert.raised_at - _READ_BEFORE)
    lowest = min(reading.value.usable_usd for reading in (*past, now))
    return "", {
        "usable": format_usd(now.value.usable_usd),
        "lowest": format_usd(lowest),
        "floor": format_usd(core.alerting.float_alert.floor_usd),
    }


async def _runway(tx: Tx, core: Core, alert: Alert, known: Facts) -> tuple[str, Facts]:
    now = await snapshots.ACCOUNT.get(tx, known["program"])
    if now is None:
        return "not read", {}
    rule, usable = core.alerting.float_alert, now.value.usable_usd
    facts = {"usable": format_usd(usable), "floor": format_usd(rule.floor_usd)}
    return ("low" if usable < rule.floor_usd else ""), facts


async def _allowance(tx: Tx, core: Core, alert: Alert, known: Facts) -> tuple[str, Facts]:
    now = await snapshots.ACCOUNT.get(tx, known["program"])
    if now is None:
        return "not read", {}
    total, limit = now.value.cards_total, now.value.cards_limit
    if limit is None:
        return "not read", {}
    return "", {"left": max(0, limit - total), "limit": limit}


async def _poller_silent(tx: Tx, core: Core, alert: Alert, known: Facts) -> tuple[str, Facts]:
    program = await programs.get(tx, known["program"])
    return ("paused" if program is not None and program.paused_reason else ""), {}


async def _decline(tx: Tx, core: Core, alert: Alert, known: Facts) -> tuple[str, Facts]:
    kept = await snapshots.DECLINES.get(tx, "", alert.dedupe)
    if kept is None:
        return "not counted", {}
    count = kept.value.count
    return "", {
        "what": decline_causes.cause_in_words(kept.value.code).what,
        "count": "1 purchase was declined" if count == 1 else f"{count:,} purchases were declined",
        "total": format_usd(kept.value.amount_usd),
        "last": kept.value.last_at,
    }


async def _card(tx: Tx, core: Core, alert: Alert, known: Facts) -> tuple[str, Facts]:
    entry = await cards.get(tx, alert.subject)
    if entry is None:
        return "", {"card": f"Card {alert.subject}", "status": "otherwise"}
    return "", {"card": entry.label, "status": str(entry.status)}


async def _funding(tx: Tx, core: Core, alert: Alert, known: Facts) -> tuple[str, Facts]:
    kept = await snapshots.FUNDING.get(tx, known["program"], alert.subject)
    if kept is None:
        return "not known", {}
    named = funding_alerts.submission_named(alert.subject, kept.value.tx_hash)
    return "", {"submission": named, "status": kept.value.status}


async def _unresolved(tx: Tx, core: Core, alert: Alert, known: Facts) -> tuple[str, Facts]:
    found = await requests.get(tx, alert.subject)
    if found is None:
        return "not found", {}
    outcome = await display_names.in_text(tx, found.outcome_text.strip())
    return "", {"state": str(found.state), "summary": found.summary, "outcome": with_stop(outcome)}


async def _relay_dead(tx: Tx, core: Core, alert: Alert, known: Facts) -> tuple[str, Facts]:
    if alert.subject not in {destination.name for destination in core.destinations}:
        return "not a destination", {}
    return ("" if known["who"] == _BY_ITSELF else "sent again"), {}


async def _message_failed(tx: Tx, core: Core, alert: Alert, known: Facts) -> tuple[str, Facts]:
    return "", {"about": alert.subject.replace(":", " ")}


_READ: Mapping[AlertKind, Read] = {
    float_alerts.FLOAT_LOW: _float_low,
    float_alerts.RUNWAY: _runway,
    account_alerts.ALLOWANCE: _allowance,
    account_alerts.POLLER_SILENT: _poller_silent,
    decline_alerts.DECLINE: _decline,
    card_alerts.CARD_BLOCKED: _card,
    card_alerts.CARD_STATUS: _card,
    funding_alerts.FUNDING: _funding,
    request_alerts.UNRESOLVED: _unresolved,
    delivery_alerts.RELAY_DEAD: _relay_dead,
    delivery_alerts.RELAY_UNREADABLE: _relay_dead,
    delivery_alerts.MESSAGE_FAILED: _message_failed,
}
