"""The morning's digest: what happened since the one before, and what is open; posted only when there is something.

Its first line works alone on a phone: the float with its floor, how many requests wait, how many alerts are open.
The first digest of a month has the approval health of the month before.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal

from bot.domain.alerts import catalogue, decline_alerts
from bot.domain.money import format_usd
from bot.domain.requests import Request, State
from bot.partner.errors import PartnerError
from bot.services import outbox_messages, snapshots
from bot.services.core import Core
from bot.services.messages import digest_figures
from storage.cards import api_snapshots, history
from storage.messages import Alert, alerts
from storage.requests import requests
from storage.transaction import Tx

_LAST = "digest"
_KEPT_FOR = timedelta(days=14)
_MOST = 5000
_SHOWN = 20

Line = tuple[str, str]


async def post(core: Core) -> None:
    """Put today's digest into the outbox once it is due. Of the first day ever there is nothing before to tell."""
    day = core.alerting.hours.digest_due(core.clock.now())
    if day is None:
        return
    async with core.store.read() as tx:
        last = await api_snapshots.get(tx, "", _LAST)
    if last is not None and last.value["day"] >= day.isoformat():
        return
    fees = {program: await _monthly_fee(core, program) for program in sorted(core.partners)}
    async with core.store.begin() as tx:
        kept = await api_snapshots.get(tx, "", _LAST)
        if kept is not None and kept.value["day"] >= day.isoformat():
            return
        await api_snapshots.put(tx, "", _LAST, {"day": day.isoformat()})
        await _forget_old(tx)
        if kept is None:
            return
        lines = await _happened(tx, kept.read_at)
        if kept.value["day"][: len("2026-03")] != day.isoformat()[: len("2026-03")]:
            lines += await digest_figures.approvals_of_last_month(tx, core)
        for program, fee_usd in fees.items():
            found = [
                *await digest_figures.money(tx, core, program),
                *await digest_figures.funding(tx, program),
                *await digest_figures.idle_cards(tx, core, program, fee_usd),
            ]
            several = f" ({program})" if len(fees) > 1 else ""
            lines += [(f"{label}{several}", text) for label, text in found]
        waiting = await requests.find(tx, states=(State.PENDING,), limit=_MOST, oldest_first=True)
        still_open = [a.title for a in await alerts.open_ones(tx) if not catalogue.of(a.kind).is_document]
        if not (lines or waiting or still_open):
            return
        value = {
            "first": await _first(tx, core, len(waiting), len(still_open)),
            "lines": [*await _floats(tx, core), *lines],
            "waiting": [_waits(core, request) for request in waiting[:_SHOWN]],
            "waiting_in_all": len(waiting),
            "still_open": still_open,
        }
        await api_snapshots.put(tx, "", f"{_LAST}:{day}", value)
        await outbox_messages.digest(tx, core, day.isoformat())


async def _happened(tx: Tx, since: datetime) -> list[Line]:
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
    return lines


def _counted(counter: Counter[str]) -> str:
    return ", ".join(f"{count:,} {word}" for word, count in sorted(counter.items()))


def _declined(raised: list[Alert]) -> int:
    return sum(alert.count for alert in raised if alert.kind == decline_alerts.DECLINE.name)


async def _monthly_fee(core: Core, program: str) -> Decimal | None:
    """What each card costs a month, in USD; None where the API does not say just now."""
    try:
        return (await core.partners[program].fees()).transaction.monthly_per_card_usd
    except PartnerError:
        return None


async def _first(tx: Tx, core: Core, waiting: int, still_open: int) -> str:
    """The first line, without whether it is real money."""
    floats = []
    for program in sorted(core.partners):
        last = await snapshots.ACCOUNT.get(tx, program)
        name = "Float" if len(core.partners) == 1 else f"Float of {program}"
        floats.append(f"{name} {format_usd(last.value.usable_usd)}" if last else f"{name} not read yet")
    least = format_usd(core.alerting.float_alert.floor_usd)
    wait = "1 request waits" if waiting == 1 else f"{waiting:,} requests wait"
    open_ = "1 alert is open" if still_open == 1 else f"{still_open:,} alerts are open"
    return f"{', '.join(floats)} (floor {least}), {wait}, {open_}"


def _waits(core: Core, request: Request) -> dict[str, object]:
    """One request that waits: what it is, who can decide, since when and until when, in seconds since 1970."""
    who = ", ".join(core.policy.people.approvers)
    return {
        "text": f"{request.id}: {request.summary}, requested by {request.requester_name}, waits for {who}",
        "since": int(request.created_at.timestamp()),
        "expires": int(request.expires_at.timestamp()),
    }


async def _floats(tx: Tx, core: Core) -> list[Line]:
    lines = []
    for program in sorted(core.partners):
        last = await snapshots.ACCOUNT.get(tx, program)
        if last is not None:
            available, least = (
                format_usd(last.value.usable_usd),
                format_usd(core.alerting.float_alert.floor_usd),
            )
            lines.append((f"Float of {program}", f"{available} available, floor {least}"))
    return lines


async def _forget_old(tx: Tx) -> None:
    """Once a day: digests of long ago, and readings older than their charts go back."""
    for day, kept in (await api_snapshots.named(tx, "", f"{_LAST}:")).items():
        if tx.now - kept.read_at > _KEPT_FOR:
            await api_snapshots.drop(tx, "", f"{_LAST}:{day}")
    await history.drop_old(tx)
