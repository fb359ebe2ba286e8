"""A stretch of time as people name it: `today`, `24h`, `last week`, `2026-03-01..2026-03-07`.

Days are those of the person's own time zone. A period is half-open: what happened at `since` is in it, what
happened at `until` is not. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from difflib import get_close_matches
from zoneinfo import ZoneInfo

from bot.domain.errors import InvalidInput

LONGEST = timedelta(days=90)
"""More is cut to this, counted back from its end, and said so."""

USAGE = "today, yesterday, 24h, 7d, this week, last week, this month, last month, 2026-03-01 or 2026-03-01..2026-03-07"

_DAY = timedelta(days=1)
_QUARTER = 3  # months
_BACK = re.compile(r"(?:last )?([0-9]{1,5}) ?(min|h|d|w|minutes?|hours?|days?|weeks?)")
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_DATES = re.compile(rf"({_DATE})(?: ?(?:\.\.|–|\bto\b) ?({_DATE}))?")
# Begins like a period, so what is wrong with it is worth a sentence.
_LIKE = re.compile(r"[0-9]+ ?(?:[hdwmy]|hours?|days?|weeks?|mins|months?|years?)|[0-9]{4}-[0-9].*")
_MOST_WORDS = 3  # `2026-03-01 to 2026-03-07`, `last 7 days`


@dataclass(frozen=True, slots=True)
class Period:
    """From `since` up to `until`, both aware UTC. `named` is what was asked for, as typed."""

    since: datetime
    until: datetime
    zone: str
    named: str = ""
    was_cut: bool = False

    def __contains__(self, moment: datetime) -> bool:
        return self.since <= moment < self.until

    @property
    def first_day_utc(self) -> date:
        return self.since.astimezone(UTC).date()

    @property
    def last_day_utc(self) -> date:
        """The last day in UTC of which a part is in the period."""
        return (self.until.astimezone(UTC) - timedelta(microseconds=1)).date()

    def dated(self) -> str:
        """`2026-03-02-to-2026-03-08`, days of the period's own zone: for the name of a file."""
        zone = ZoneInfo(self.zone)
        last = (self.until - timedelta(microseconds=1)).astimezone(zone).date()
        return f"{self.since.astimezone(zone).date()}-to-{last}"

    def in_words(self) -> str:
        """`2 Mar 2026 to 8 Mar 2026 (Europe/Berlin)`, with the time of day where it is not midnight."""
        zone = ZoneInfo(self.zone)
        begins, ends = self.since.astimezone(zone), self.until.astimezone(zone)
        if begins.time() == time(0) and ends.time() == time(0):
            last = ends.date() - _DAY
            days = _day(begins) if begins.date() == last else f"{_day(begins)} to {_day(last)}"
        else:
            days = f"{_day(begins)} {begins:%H:%M} to {_day(ends)} {ends:%H:%M}"
        cut = f", cut to the last {LONGEST.days} days of it" if self.was_cut else ""
        return f"{days} ({self.zone}){cut}"


def _day(moment: date) -> str:
    return f"{moment.day} {moment:%b %Y}"


def not_a_period(text: str) -> str:
    """What is said of a text that stands where a period does: which part is wrong, and what to write."""
    near = get_close_matches(" ".join(text.lower().split()), _NAMED, n=1, cutoff=0.7)
    meant = f" Did you mean {near[0]}?" if near else ""
    return f"“{text[:40]}” isn't a period.{meant} Write one of: {USAGE}."


def read(text: str, now: datetime, zone: ZoneInfo) -> Period | None:
    """The period `text` names; None when it names none.

    Raises InvalidInput("period") for what is meant as one and cannot be: a day that does not exist, an end
    before its beginning, a time to come.
    """
    wanted = " ".join(text.lower().split())
    if not wanted:
        return None
    local = now.astimezone(zone)
    if wanted in _NAMED:
        first, after = _NAMED[wanted](local.date())
        return _days(first, after, zone, text)
    if back := _BACK.fullmatch(wanted):
        return _ago(int(back[1]), back[2][0], now, zone, text)
    if dates := _DATES.fullmatch(wanted):
        return _dated(dates[1], dates[2] or dates[1], local.date(), zone, text)
    if _LIKE.fullmatch(wanted):
        raise InvalidInput("period", not_a_period(text))
    return None


def split(text: str, now: datetime, zone: ZoneInfo) -> tuple[str, Period | None]:
    """A period at the end of a text, and what stands before it: `4242 last week`. Raises as `read` does."""
    words = text.split()
    for count in range(min(_MOST_WORDS, len(words)), 0, -1):
        found = read(" ".join(words[-count:]), now, zone)
        if found is not None:
            return " ".join(words[:-count]), found
    return text.strip(), None


def back(days: int, now: datetime, zone: ZoneInfo) -> Period:
    """Today and the days before it, so many in all: what is shown when nobody names a period."""
    today = now.astimezone(zone).date()
    return _days(today - (days - 1) * _DAY, today + _DAY, zone, f"{days}d")


def _ago(number: int, unit: str, now: datetime, zone: ZoneInfo, text: str) -> Period:
    """`24h` and `90min` end with this minute, as other clocks differ a little; `7d` and `2w` are days."""
    if number == 0:
        raise InvalidInput("period", f"“{text[:40]}” isn't a time. Write one of: {USAGE}.")
    if unit in ("h", "m"):
        asked = timedelta(hours=number) if unit == "h" else timedelta(minutes=number)
        until = now.replace(second=0, microsecond=0) + timedelta(minutes=1)
        return Period(until - min(asked, LONGEST), until, str(zone), text, was_cut=asked > LONGEST)
    days = number * (7 if unit == "w" else 1)
    today = now.astimezone(zone).date()
    # A day more than the longest is enough to be cut, however many were asked for.
    return _days(today - (min(days, LONGEST.days + 1) - 1) * _DAY, today + _DAY, zone, text)


def _dated(first: str, last: str, today: date, zone: ZoneInfo, text: str) -> Period:
    try:
        begins, ends = date.fromisoformat(first), date.fromisoformat(last)
    except ValueError:
        raise InvalidInput(
            "period", f"“{text[:40]}” names a day that does not exist. Write 2026-03-01."
        ) from None
    if ends < begins:
        raise InvalidInput("period", f"{last} is before {first}. Write the earlier day first.")
    if begins > today:
        raise InvalidInput("period", f"{first} is still to come. Look-ups go back, not ahead.")
    after = min(ends, today) + _DAY
    # Nobody wants ninety days of a whole quarter.
    longest = max(LONGEST, after - begins) if _is_a_quarter(begins, after) else LONGEST
    return _days(begins, after, zone, text, longest=longest)


def _is_a_quarter(first: date, after: date) -> bool:
    """Are these days all of a quarter of the calendar? `after` is the first behind them."""
    months = (after.year - first.year) * 12 + after.month - first.month
    return first.day == after.day == 1 and months == _QUARTER and first.month % _QUARTER == 1


def _days(first: date, after: date, zone: ZoneInfo, text: str, *, longest: timedelta = LONGEST) -> Period:
    """Whole days, `after` no longer among them."""
    was_cut = after - first > longest
    if was_cut:
        first = after - longest
    return Period(_midnight(first, zone), _midnight(after, zone), str(zone), text, was_cut=was_cut)


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(0), zone).astimezone(UTC)


def _this_week(today: date) -> tuple[date, date]:
    return today - today.weekday() * _DAY, today + _DAY


def _last_week(today: date) -> tuple[date, date]:
    monday = today - today.weekday() * _DAY
    return monday - 7 * _DAY, monday


def _this_month(today: date) -> tuple[date, date]:
    return today.replace(day=1), today + _DAY


def _last_month(today: date) -> tuple[date, date]:
    first = today.replace(day=1)
    return (first - _DAY).replace(day=1), first


_NAMED: dict[str, Callable[[date], tuple[date, date]]] = {
    "today": lambda today: (today, today + _DAY),
    "yesterday": lambda today: (today - _DAY, today),
    "this week": _this_week,
    "last week": _last_week,
    "this month": _this_month,
    "last month": _last_month,
}
