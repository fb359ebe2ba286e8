"""The morning's digest: what happened since the one before, posted only when something did."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

from bot.domain.alerts import catalogue, decline_alerts
from bot.domain.money import format_usd
from bot.domain.requests import State
from bot.services import outbox_messages, snapshots
from bot.services.core import Core
from storage.cards import api_snapshots, history
from storage.messages import Alert, alerts
from storage.requests import requests
from storage.transaction import Tx

_LAST = "digest"
_KEPT_FOR = timedelta(days=14)
_MOST = 5000

Line = tuple[str, str]


async def post(core: Core) -> None:
    """Put today's digest into the outbox once it is due. Of the first day ever there is nothing before to tell."""
    day = core.alerting.hours.digest_due(core.clock.now())
    if day is None:
        return
    async with core.store.begin() as tx:
        kept = await api_snapshots.get(tx, "", _LAST)
        if kept is not None and kept.value["day"] >= day.isoformat():
            return
        await api_snapshots.put(tx, "", _LAST, {"day": day.isoformat()})
        await _forget_old(tx)
        if kept is None:
            return
        lines = await _happened(tx, core, kept.read_at)
        if not lines:
            return
        still_open = [alert.title for alert in await alerts.open_ones(tx)]
        value = {"lines": [*await _floats(tx, core), *lines], "still_open": still_open}
        await api_snapshots.put(tx, "", f"{_LAST}:{day}", value)
        await outbox_messages.digest(tx, core, day.isoformat())


async def _happened(tx: Tx, core: Core, since: datetime) -> list[Line]:
    """Alerts and requests since then; empty when there were none."""
    raised = await alerts.raised_since(tx, since)
    made = await requests.find(tx, since=since, limit=_MOST)
    lines = []
    if raised:
        lines.append(("Alerts", _counted(Counter(catalogue.of(a.kind).in_digest for a in raised))))
    declined = _declined(raised)
    if declined:
        lines.append(("Purchases declined", f"{declined:,}"))
    if made:
        lines.append(("Requests made", _counted(Counter(r.word for r in made))))
        waiting = await requests.find(tx, states=(State.PENDING,), limit=_MOST)
        lines.append(("Waiting for a decision", f"{len(waiting)}"))
    return lines


def _counted(counter: Counter[str]) -> str:
    return ", ".join(f"{count:,} {word}" for word, count in sorted(counter.items()))


def _declined(raised: list[Alert]) -> int:
    return sum(alert.count for alert in raised if alert.kind == decline_alerts.DECLINE.name)


async def _floats(tx: Tx, core: Core) -> list[Line]:
    lines = []
    for program in sorted(core.partners):
        last = await snapshots.ACCOUNT.get(tx, program)
        if last is not None:
            available = format_usd(last.value.available_usd)
            lines.append((f"Float of {program}", f"{available} available at {last.read_at:%H:%M} UTC"))
    return lines


async def _forget_old(tx: Tx) -> None:
    """Once a day: digests of long ago, and readings older than their charts go back."""
    for day, kept in (await api_snapshots.named(tx, "", f"{_LAST}:")).items():
        if tx.now - kept.read_at > _KEPT_FOR:
            await api_snapshots.drop(tx, "", f"{_LAST}:{day}")
    await history.drop_old(tx)
