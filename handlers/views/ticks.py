"""Round figures for the axes of a chart: amounts in steps of 1, 2 or 5, times at full hours, days and months."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from zoneinfo import ZoneInfo

_CENT = Decimal("0.01")
_FACTORS = (Decimal(2), Decimal("2.5"), Decimal(2))  # 1, 2, 5, 10, …
_DAY = 24 * 60  # minutes
_MINUTES = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720)
_DAYS = (1, 2, 7, 14)
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240)
_MONDAY = datetime(2001, 1, 1)  # noqa: DTZ001  wall time, from which steps of days are counted
_MOST = 40  # ticks of one way: more never fit under a chart
_A_STEP_BACK = timedelta(days=1)  # more than any change of the clocks


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark under the time axis: its words, and the date in a second row where the words are a time of day."""

    at: datetime
    text: str
    date: str = ""


def of_amounts(least: Decimal, most: Decimal, *, at_most: int) -> list[Decimal]:
    """From below `least` to above `most` in equal round steps, no finer than a cent; at least two, ascending."""
    step, n = _CENT, 0
    while (_above(most, step) - _below(least, step)) / step + 1 > at_most:
        step *= _FACTORS[n % 3]
        n += 1
    low, high = _below(least, step), _above(most, step)
    return [low + step * k for k in range(int((high - low) / step) + 1)]


def _below(amount: Decimal, step: Decimal) -> Decimal:
    return (amount / step).to_integral_value(ROUND_FLOOR) * step


def _above(amount: Decimal, step: Decimal) -> Decimal:
    """The next step up; never the amount itself, so that the highest point has air above it."""
    up = (amount / step).to_integral_value(ROUND_CEILING) * step
    return up if up > amount else up + step


def of_times(since: datetime, until: datetime, zone: ZoneInfo) -> Iterator[Sequence[Tick]]:
    """Ways to mark the time between, on the clock of `zone`, the finest first: a caller takes the first that fits."""
    span_min = (until - since).total_seconds() / 60
    for minutes in _MINUTES:
        if span_min / minutes <= _MOST:
            yield _in_minutes(since, until, zone, minutes)
    for days in _DAYS:
        if span_min / _DAY / days <= _MOST:
            yield _in_days(since, until, zone, days)
    for months in _MONTHS:
        if span_min / _DAY / 28 / months <= _MOST:
            yield _in_months(since, until, zone, months)


def _in_minutes(since: datetime, until: datetime, zone: ZoneInfo, minutes: int) -> list[Tick]:
    midnight = datetime.combine(_wall(since, zone).date(), time())
    step = timedelta(minutes=minutes)
    ticks: list[Tick] = []
    day = ""
    for at in _within(since, until, zone, _counted(midnight, step)):
        local = at.astimezone(zone)
        date = f"{local.day} {local:%b}"
        ticks.append(Tick(at, f"{local:%H:%M}", date if date != day else ""))
        day = date
    return ticks


def _in_days(since: datetime, until: datetime, zone: ZoneInfo, days: int) -> list[Tick]:
    """Weeks begin on Monday."""
    first = datetime.combine(_wall(since, zone).date(), time())
    first -= timedelta(days=(first - _MONDAY).days % days)
    found = _within(since, until, zone, _counted(first, timedelta(days=days)))
    return [Tick(at, f"{at.astimezone(zone).day} {at.astimezone(zone):%b}") for at in found]


def _in_months(since: datetime, until: datetime, zone: ZoneInfo, months: int) -> list[Tick]:
    wall = _wall(since, zone)
    found = _within(since, until, zone, _months(wall.year * 12 + wall.month - 1, months))
    form = "%Y" if months % 12 == 0 else "%b %Y"
    return [Tick(at, at.astimezone(zone).strftime(form)) for at in found]


def _counted(first: datetime, step: timedelta) -> Iterator[datetime]:
    while True:
        yield first
        first += step


def _months(first: int, step: int) -> Iterator[datetime]:
    """Wall times; `first` counts months from the year 0."""
    month = first - first % step
    while True:
        yield datetime(month // 12, month % 12 + 1, 1)  # noqa: DTZ001
        month += step


def _wall(at: datetime, zone: ZoneInfo) -> datetime:
    return at.astimezone(zone).replace(tzinfo=None)


def _within(
    since: datetime, until: datetime, zone: ZoneInfo, walls: Iterator[datetime]
) -> Iterator[datetime]:
    """These wall times as moments from `since` to `until`. One that the clocks leave out comes as the next there is."""
    last = since - timedelta(microseconds=1)
    for wall in walls:
        at = wall.replace(tzinfo=zone).astimezone(UTC)
        if at > until + _A_STEP_BACK:
            return
        if last < at <= until:
            last = at
            yield at
