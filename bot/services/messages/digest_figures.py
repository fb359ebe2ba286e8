"""The figures of the morning's digest: spend, top-ups, declines, funding on its way, idle cards, approvals of a month.

Days are those of the settings' time zone: yesterday, and the month that yesterday is in, from its first day on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from statistics import median
from zoneinfo import ZoneInfo

from bot import operations
from bot.domain.alerts import decline_causes
from bot.domain.events import SpendReport
from bot.domain.money import exact_sum, format_usd
from bot.domain.requests import Request, State, approval_health
from bot.domain.time import Period
from bot.partner.calls import cards as card_calls
from bot.services.alerts import funding_rules
from bot.services.cards import freezes, spend
from bot.services.core import Core
from storage.cards import cards
from storage.requests import decisions, requests
from storage.transaction import Tx

Line = tuple[str, str]

_MOST = 5000
_MOST_FROZEN = 200
_NAMED = 5
_FROZEN_FOR = timedelta(days=30)
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)


async def money(tx: Tx, core: Core, program: str) -> list[Line]:
    """Spend, top-ups and declines of yesterday and of the month so far; nothing where there were none."""
    yesterday, month = _periods(core)
    of_day = await spend.in_period(tx, core, yesterday, program=program)
    of_month = await spend.in_period(tx, core, month, program=program)
    lines = []
    if of_month.count:
        lines.append(("Spent yesterday", _spent(of_day)))
        lines.append(("Spent this month, up to yesterday", _spent(of_month)))
    topped_up = await _top_ups(tx, core, program, month)
    if topped_up:
        lines.append(("Top-ups yesterday", _sum_of([r for r in topped_up if _ended(r) in yesterday])))
        lines.append(("Top-ups this month, up to yesterday", _sum_of(topped_up)))
    if of_day.declined:
        lines.append(("Declined yesterday", _declined(of_day)))
    return lines


def _periods(core: Core) -> tuple[Period, Period]:
    """Yesterday, and its month up to its end."""
    zone = core.alerting.hours.zone
    today = _today(core)
    yesterday = today - _DAY
    until = _begins(today, zone)
    return (
        Period(_begins(yesterday, zone), until, str(zone)),
        Period(_begins(yesterday.replace(day=1), zone), until, str(zone)),
    )


def _today(core: Core) -> date:
    return core.clock.now().astimezone(core.alerting.hours.zone).date()


def _begins(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


async def approvals_of_last_month(tx: Tx, core: Core) -> list[Line]:
    """How people decided on the requests of the month before this one; nothing where there were none."""
    zone = core.alerting.hours.zone
    until = _today(core).replace(day=1)
    since = (until - _DAY).replace(day=1)
    found = approval_health(await decisions.times(tx, _begins(since, zone), _begins(until, zone)))
    return [(f"Approvals in {since:%B %Y}", found.text)] if found.text else []


def _spent(found: SpendReport) -> str:
    return f"{format_usd(found.charged_usd)} in {_counted(found.count, 'purchase')}"


def _declined(found: SpendReport) -> str:
    causes = [
        f"{decline_causes.cause_in_words(cause.name).what} ({cause.count:,}, {format_usd(cause.amount_usd)})"
        for cause in found.declined[:_NAMED]
    ]
    rest = found.declined[_NAMED:]
    if rest:
        causes.append(
            f"other causes ({sum(c.count for c in rest):,}, {format_usd(exact_sum(c.amount_usd for c in rest))})"
        )
    return f"{format_usd(found.declined_usd)} in {_counted(found.declined_count, 'purchase')}: {'; '.join(causes)}"


async def _top_ups(tx: Tx, core: Core, program: str, period: Period) -> list[Request]:
    """Top-ups that succeeded in the period, each row of a batch by itself."""
    # A request is older than its end, by the time it may wait for a decision and an answer.
    since = period.since - 7 * _DAY
    kinds = operations.asking(core.kinds, card_calls.TOP_UP)
    found = await requests.find(
        tx,
        program=program,
        states=(State.SUCCEEDED,),
        kinds=kinds,
        since=since,
        each_row=True,
        limit=_MOST,
    )
    return [r for r in found if not r.is_batch and _ended(r) in period]


def _ended(request: Request) -> datetime:
    return request.finished_at or request.created_at


def _sum_of(found: Sequence[Request]) -> str:
    return f"{format_usd(exact_sum(r.exposure_usd for r in found))} in {_counted(len(found), 'top-up')}"


async def idle_cards(tx: Tx, core: Core, program: str, monthly_fee_usd: Decimal | None) -> list[Line]:
    """Cards frozen here for 30 days or more: each still costs the monthly fee."""
    frozen = await cards.all(tx, status="FROZEN", program=program, limit=_MOST_FROZEN)
    long_ago = tx.now - _FROZEN_FOR
    idle = []
    for card in frozen:
        freeze = await freezes.now(tx, core, card.id)
        if freeze is not None and freeze.since <= long_ago:
            idle.append(card.label)
    if not idle:
        return []
    named = ", ".join(idle[:_NAMED]) + (f" and {len(idle) - _NAMED:,} more" if len(idle) > _NAMED else "")
    cost = (
        f", {format_usd(monthly_fee_usd * len(idle))} a month in fees" if monthly_fee_usd is not None else ""
    )
    return [("Frozen for 30 days or more", f"{_counted(len(idle), 'card')}{cost}: {named}")]


async def funding(tx: Tx, program: str) -> list[Line]:
    """Each submission that is not final, with the median time that earlier ones on its network took."""
    usual = await funding_rules.took(tx, program)
    lines = []
    for one in await funding_rules.under_way(tx, program):
        amount = f"{format_usd(one.amount_usd)}, " if one.amount_usd is not None else ""
        for_so_long = _duration(tx.now - one.since)
        text = (
            f"{one.name} on {one.network}: {amount}{one.word} for {for_so_long}{_usual(usual, one.network)}"
        )
        lines.append(("Funding on its way", text))
    return lines


def _usual(took: Mapping[str, Sequence[timedelta]], network: str) -> str:
    known = took.get(network)
    if not known:
        return "; no earlier one on this network to compare with"
    half = timedelta(seconds=median(one.total_seconds() for one in known))
    return f"; usually {_duration(half)} (median of {_counted(len(known), 'earlier one')})"


def _duration(took: timedelta) -> str:
    """In the one unit that fits."""
    if took < 2 * _HOUR:
        return _counted(max(1, round(took / timedelta(minutes=1))), "minute")
    return _counted(round(took / _HOUR), "hour") if took < 2 * _DAY else _counted(round(took / _DAY), "day")


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"
