"""When a figure is worth a message: the float's floor and runway, the card allowance, late funding.

Pure: readings in, conditions out. The settings come from `[alerts]` of countersign.toml.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from math import ceil

from bot.domain.alerts.alert_kind import Severity
from bot.domain.money import exact_sum
from bot.domain.time import Hours

CLEAN_READS = 2
"""So many readings at or above the clear level in a row end the alert of a low float."""

# A rate from less than this says more about one top-up than about the day.
_LEAST_HISTORY = timedelta(hours=2)
_HOUR = timedelta(hours=1)

# How long a submission usually takes, until the program's own submissions tell [Funding submission status].
USUAL: Mapping[str, timedelta] = {
    "POLYGON": timedelta(hours=1),
    "BNB": timedelta(hours=4),
    "BASE": timedelta(hours=4),
}
_USUAL_ELSEWHERE = timedelta(hours=6)
_ENOUGH_TO_TELL = 5
# Unverified for this long: perhaps the hash is of another network.
UNSEEN_AFTER = timedelta(minutes=10)
_MARKS = (timedelta(hours=6), timedelta(hours=24), timedelta(hours=72))

_ALLOWANCE_LEVELS = ((5, Severity.CRITICAL), (10, Severity.WARNING), (20, Severity.INFO))


@dataclass(frozen=True, slots=True)
class FloatAlert:
    """Raised below the floor, resolved above `clear_usd`; or when it lasts fewer hours than the runway."""

    floor_usd: Decimal = Decimal(1000)
    clear_usd: Decimal = Decimal(1200)
    runway_hours: int = 24


@dataclass(frozen=True, slots=True)
class DeclineAlert:
    """Declines of one cause within `window` share a message; at `cluster_at` they become a cluster."""

    window: timedelta = timedelta(minutes=10)
    cluster_at: int = 5


@dataclass(frozen=True, slots=True)
class Alerting:
    """All of `[alerts]`."""

    float_alert: FloatAlert = field(default_factory=FloatAlert)
    declines: DeclineAlert = field(default_factory=DeclineAlert)
    hours: Hours = field(default_factory=Hours)
    call: tuple[str, ...] = ()  # names as written in the file; empty = the approvers


def float_is_low(
    usable_usd: Decimal, rule: FloatAlert, *, was_low: bool, clean_reads: int
) -> tuple[bool, int]:
    """Is the float low, and how many clean readings there were in a row, this one included.

    Low from the first reading below the floor to the second in a row at the clear level or above.
    """
    if usable_usd < rule.floor_usd:
        return True, 0
    if not was_low:
        return False, 0
    clean_reads = clean_reads + 1 if usable_usd >= rule.clear_usd else 0
    return clean_reads < CLEAN_READS, clean_reads


@dataclass(frozen=True, slots=True)
class Spent:
    """What had been spent in all when it was read: `spent_usd` of GET /me."""

    at: datetime
    spent_usd: Decimal


def hours_left(
    usable_usd: Decimal, floor_usd: Decimal, readings: Sequence[Spent], now: datetime, *, most: int
) -> float | None:
    """Hours until spending as before brings the float to its floor; None: longer than `most`, or not known.

    Spending differs by the hour of the day, so each coming hour takes the mean of what its own hour of
    the day took before, and the mean of all hours where there is none yet.
    """
    by_hour = _spent_by_hour(readings)
    if (readings and now - readings[0].at < _LEAST_HISTORY) or not by_hour:
        return None
    every = exact_sum(v for values in by_hour.values() for v in values) / sum(map(len, by_hour.values()))
    room = usable_usd - floor_usd
    for n in range(most):
        seen = by_hour.get((now + n * _HOUR).hour)
        takes = exact_sum(seen) / len(seen) if seen else every
        if takes > 0 and takes >= room:
            return n + float(max(room, Decimal(0)) / takes)
        room -= takes
    return None


def _spent_by_hour(readings: Sequence[Spent]) -> Mapping[int, list[Decimal]]:
    """What each past hour took, by hour of the day. What came back (an unload) counts against it."""
    if len(readings) < 2:
        return {}
    taken: dict[datetime, Decimal] = {}
    hour = readings[0].at.replace(minute=0, second=0, microsecond=0)
    while hour <= readings[-1].at:
        taken[hour] = Decimal(0)
        hour += _HOUR
    for before, after in pairwise(readings):
        taken[after.at.replace(minute=0, second=0, microsecond=0)] += after.spent_usd - before.spent_usd
    by_hour: dict[int, list[Decimal]] = defaultdict(list)
    for hour, amount in taken.items():
        by_hour[hour.hour].append(max(amount, Decimal(0)))
    return by_hour


def allowance_level(total: int, limit: int | None) -> Severity | None:
    """How severe it is that so few cards may still be ordered; None while more than a fifth is left."""
    if not limit:
        return None
    left_percent = max(0, limit - total) * 100 / limit
    return next((severity for percent, severity in _ALLOWANCE_LEVELS if left_percent <= percent), None)


def usual_time(network: str, took: Sequence[timedelta]) -> timedelta:
    """Nine of ten submissions on this network took at most this; a usual figure until enough are known."""
    least = USUAL.get(network, _USUAL_ELSEWHERE)
    if len(took) < _ENOUGH_TO_TELL:
        return least
    return max(least, sorted(took)[ceil(len(took) * 0.9) - 1])


def overdue_mark(age: timedelta, usual: timedelta) -> str:
    """`""` while it is within its usual time, then `more than 1 h`, `more than 6 h`, `… 24 h`, `… 72 h`."""
    if age <= usual:
        return ""
    passed = max([usual, *(mark for mark in _MARKS if age > mark)])
    hours = passed / _HOUR
    return f"more than {hours:.0f} h" if hours >= 1 else f"more than {passed // timedelta(minutes=1)} min"
