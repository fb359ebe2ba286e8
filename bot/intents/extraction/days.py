"""One named stretch of days, as the calendar of the asking person has it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

When = date | datetime
Days = tuple[When, When]

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WORDS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "twelve": 12, "fourteen": 14, "thirty": 30, "couple of": 2, "few": 3,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Calendar:
    """`local` is now in the person's zone. Every method looks back from it."""

    local: datetime
    week_starts: str = "monday"

    @property
    def today(self) -> date:
        return self.local.date()

    def week(self, back: int = 0) -> Days:
        """The week `back` weeks ago; the present one ends today."""
        first = _WEEKDAYS.index(self.week_starts.lower()[:3]) if self.week_starts else 0
        start = self.today - timedelta(days=(self.today.weekday() - first) % 7 + 7 * back)
        return start, min(start + timedelta(days=6), self.today)

    def month(self, back: int = 0) -> Days:
        return self.of_month(self.months_ago(back).year, self.months_ago(back).month)

    def of_month(self, year: int, month: int) -> Days:
        following = date(year + month // 12, month % 12 + 1, 1)
        start = date(year, month, 1)
        last = following - timedelta(days=1)
        return start, self.today if start <= self.today < last else last

    def quarter(self, back: int = 0) -> Days:
        index = self.today.year * 4 + (self.today.month - 1) // 3 - back
        start = date(index // 4, index % 4 * 3 + 1, 1)
        following = date((index + 1) // 4, (index + 1) % 4 * 3 + 1, 1)
        return start, min(following - timedelta(days=1), self.today)

    def year(self, back: int = 0) -> Days:
        year = self.today.year - back
        return date(year, 1, 1), min(date(year, 12, 31), self.today)

    def months_ago(self, count: int) -> date:
        """The same day of an earlier month, or that month's last."""
        index = self.today.year * 12 + self.today.month - 1 - count
        year, month = index // 12, index % 12 + 1
        following = date(year + month // 12, month % 12 + 1, 1)
        return date(year, month, min(self.today.day, (following - timedelta(days=1)).day))

    def weekday(self, name: str, *, before_today: bool = False) -> date:
        """The last such day; today counts unless `before_today`."""
        back = (self.today.weekday() - _WEEKDAYS.index(name.lower()[:3])) % 7
        return self.today - timedelta(days=back or (7 if before_today else 0))

    def day_of_month(self, day: int) -> date | None:
        """The last such day that is not after today."""
        for back in range(3):
            start = self.months_ago(back).replace(day=1)
            found = _date(start.year, start.month, day)
            if found is not None and found <= self.today:
                return found
        return None

    def day_and_month(self, day: int, month: int, year: int | None) -> date | None:
        if year is not None:
            return _date(year, month, day)
        found = _date(self.today.year, month, day)
        if found is not None and found > self.today:
            return _date(self.today.year - 1, month, day)
        return found or _date(self.today.year - 1, month, day)

    def year_before(self, when: When) -> When:
        return when.replace(year=when.year - 1, day=min(when.day, 28) if when.month == 2 else when.day)

    def back(self, count: int, unit: str) -> When:
        """The moment or day `count` units ago."""
        unit = unit.lower()
        if unit.startswith("h"):
            return self.local - timedelta(hours=count)
        if unit.startswith("mi"):
            return self.local - timedelta(minutes=count)
        if unit.startswith("f"):
            return self.today - timedelta(weeks=2 * count)
        if unit.startswith("d"):
            return self.today - timedelta(days=count)
        if unit.startswith("w"):
            return self.today - timedelta(weeks=count)
        return self.months_ago(count * (3 if unit.startswith("q") else 12 if unit.startswith("y") else 1))


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _one(day: date | None) -> Days | None:
    return None if day is None else (day, day)


def _month_number(name: str) -> int:
    return _MONTHS.index(name.lower()[:3]) + 1


def _count(word: str) -> int:
    return int(word) if word.isdigit() else _WORDS[re.sub(r"\s+", " ", word.lower())]


def _slashed(text: str, calendar: Calendar) -> Days | None:
    """Only where one of the two cannot be a month."""
    parts = [int(part) for part in re.split("[/.]", text)]
    first, second = parts[0], parts[1]
    if "." in text and len(parts) > 2:  # with dots the day comes first
        return (
            _one(calendar.day_and_month(first, second, parts[2] + 2000 if parts[2] < 100 else parts[2]))
            if second <= 12
            else None
        )
    year = (parts[2] + 2000 if parts[2] < 100 else parts[2]) if len(parts) > 2 else None
    if first > 12 >= second:
        return _one(calendar.day_and_month(first, second, year))
    if second > 12 >= first:
        return _one(calendar.day_and_month(second, first, year))
    return None


def _from_to(first: str, last: str, month: str, calendar: Calendar) -> Days | None:
    """`2 to 6 Nov`: both days in the one month."""
    ends = calendar.day_and_month(int(last), _month_number(month), None)
    begins = None if ends is None else _date(ends.year, ends.month, int(first))
    return None if begins is None or ends is None or begins > ends else (begins, ends)


def _dotted(text: str, calendar: Calendar) -> Days | None:
    """`9.11.`, with a dot behind each: the day, then the month."""
    day, month = (int(part) for part in text.split(".")[:2])
    return _one(calendar.day_and_month(day, month, None)) if 1 <= month <= 12 else None


def _quarter(number: int, calendar: Calendar) -> Days:
    """The last such quarter that has begun."""
    current = (calendar.today.month - 1) // 3 + 1
    return calendar.quarter((current - number) % 4)


_ORDINALS: Final = ("first", "second", "third", "fourth")


def _week_number(number: int, calendar: Calendar) -> Days | None:
    """The last such calendar week that has begun."""
    for year in (calendar.today.year, calendar.today.year - 1):
        try:
            start = date.fromisocalendar(year, number, 1)
        except ValueError:
            continue
        if start <= calendar.today:
            return start, min(start + timedelta(days=6), calendar.today)
    return None


def _iso(text: str) -> Days | None:
    year, month, day = (int(part) for part in text.split("-"))
    return _one(_date(year, month, day))


#: `since 2 months ago` begins on that day.
_FROM_THEN: Final = re.compile(
    r"\b(?:since|from|after|before|until|till|than|of|starting|between|and|to)\s+$", re.IGNORECASE
)


def _ago(found: re.Match[str], calendar: Calendar) -> Days:
    count, unit = _count(found["ago_n"]), found["ago_unit"].lower()
    near = found.string[max(0, found.start() - 12) : found.start()]
    if re.match(r"mo|mth|q|y", unit) and not _FROM_THEN.search(near):
        return calendar.month(count) if unit.startswith("m") else _span_back(unit, count, calendar)
    when = calendar.back(count, unit)
    return (when, calendar.local) if isinstance(when, datetime) else (when, when)


def _last(count: str, unit: str, calendar: Calendar) -> Days:
    since = calendar.back(_count(count), unit)
    return since, calendar.local if isinstance(since, datetime) else calendar.today


def _span(which: str, unit: str, calendar: Calendar) -> Days:
    back = 0 if which.lower() in ("this", "current") else 1
    unit = unit.lower()
    if unit == "hour":
        return calendar.back(1, "h"), calendar.local
    if unit == "day":
        return _last("1", "d", calendar) if back else (calendar.today, calendar.today)
    return _span_back(unit, back, calendar)


def _span_back(unit: str, back: int, calendar: Calendar) -> Days:
    """The whole week, month, quarter or year so many of them ago."""
    spans: dict[str, Callable[[int], Days]] = {
        "w": calendar.week,
        "m": calendar.month,
        "q": calendar.quarter,
        "y": calendar.year,
    }
    return spans[unit[0]](back)


def _part_of_month(found: re.Match[str], calendar: Calendar) -> Days:
    """`the last week of january`: its last seven days; `the first half of february`."""
    first, last = _whole_month(found["part_month"], calendar)
    after = calendar.of_month(last.year, last.month)[1] if last == calendar.today else last
    size = 7 if found["part"].lower().startswith("w") else 15
    if found["part_end"].lower() == "first":
        return first, min(first + timedelta(days=size - 1), last)
    half = first + timedelta(days=15)
    return (max(first, after - timedelta(days=6)) if size == 7 else min(half, last)), last


def _to_date(found: re.Match[str], calendar: Calendar) -> Days:
    unit = (found["to_unit"] or found["to_date"])[0].lower()
    start = {"m": calendar.month, "y": calendar.year, "w": calendar.week}[unit]()[0]
    return start, calendar.today


def _whole_month(name: str, calendar: Calendar, year: str | None = None) -> Days:
    number = _month_number(name)
    if year is not None:
        return calendar.of_month(int(year), number)
    return calendar.of_month(calendar.today.year - (number > calendar.today.month), number)


def _last_week(day: str, calendar: Calendar) -> Days:
    start = calendar.week(1)[0]
    assert not isinstance(start, datetime)  # noqa: S101 - weeks are of days
    offset = (_WEEKDAYS.index(day.lower()[:3]) - start.weekday()) % 7
    return start + timedelta(days=offset), start + timedelta(days=offset)


def _year(text: str, calendar: Calendar) -> Days:
    year = int(text)
    return date(year, 1, 1), calendar.today if year == calendar.today.year else date(year, 12, 31)


_Reader = Callable[[re.Match[str], Calendar], Days | None]

_READERS: Final[dict[str, _Reader]] = {
    "iso": lambda m, c: _iso(m["iso"]),
    "from_day": lambda m, c: _from_to(m["from_day"], m["to_day"], m["days_month"], c),
    "mdr_month": lambda m, c: _from_to(m["mdr_from"], m["mdr_to"], m["mdr_month"], c),
    "week_no": lambda m, c: _week_number(int(m["week_no"]), c),
    "quarter_word": lambda m, c: _quarter(_ORDINALS.index(m["quarter_word"].lower()) + 1, c),
    "short_month": lambda m, c: _whole_month(m["short_month"], c),
    "month_alone": lambda m, c: _whole_month(m["month_alone"], c),
    "dotted": lambda m, c: _dotted(m["dotted"], c),
    "quarter": lambda m, c: _quarter(int(m["quarter"][1]), c),
    "weekend": lambda m, c: (c.weekday("sun") - timedelta(days=1), c.weekday("sun")),
    "slashed": lambda m, c: _slashed(m["slashed"], c),
    "dm_day": lambda m, c: _one(
        c.day_and_month(int(m["dm_day"]), _month_number(m["dm_month"]), _int(m["dm_year"]))
    ),
    "md_day": lambda m, c: _one(
        c.day_and_month(int(m["md_day"]), _month_number(m["md_month"]), _int(m["md_year"]))
    ),
    "month_year": lambda m, c: _whole_month(m["month_year"], c, m["my_year"]),
    "ago_n": _ago,
    "before_last": lambda m, c: _span_back(m["before_last"].lower(), 2, c),
    "part": _part_of_month,
    "fortnight": lambda m, c: _last("1", "f", c),
    "last_n": lambda m, c: _last(m["last_n"], m["last_unit"], c),
    "bare_n": lambda m, c: _last(m["bare_n"], m["bare_unit"], c),
    "wk_day": lambda m, c: _last_week(m["wk_day"], c),
    "day_wk": lambda m, c: _last_week(m["day_wk"], c),
    "span_which": lambda m, c: _span(m["span_which"], m["span_unit"], c),
    "before_yesterday": lambda m, c: _one(c.today - timedelta(days=2)),
    "yesterday": lambda m, c: _one(c.today - timedelta(days=1)),
    "night": lambda m, c: _one(c.today - timedelta(days=1)),
    "today": lambda m, c: _one(c.today),
    "to_date": _to_date,
    "week_which": lambda m, c: _one(c.weekday(m["week_day"], before_today=m["week_which"].lower() == "last")),
    "last_th": lambda m, c: _one(c.day_of_month(int(m["last_th"]))),
    "on_th": lambda m, c: _one(c.day_of_month(int(m["on_th"]))),
    "full_day": lambda m, c: _one(c.weekday(m["full_day"])),
    "short_day": lambda m, c: _one(c.weekday(m["short_day"])),
    "since_day": lambda m, c: _one(c.weekday(m["since_day"])),
    "full_month": lambda m, c: _whole_month(m["full_month"], c),
    "word_month": lambda m, c: _whole_month(m["word_month"], c),
    "year": lambda m, c: _year(m["year"], c),
}


def _int(text: str | None) -> int | None:
    return None if text is None else int(text)


def read_day(found: re.Match[str], calendar: Calendar) -> Days | None:
    """The days that a match of the period pattern names; None where a person has to say which."""
    for group, reader in _READERS.items():
        if found[group] is not None:
            return reader(found, calendar)
    return None
