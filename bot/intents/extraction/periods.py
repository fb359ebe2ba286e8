"""Stretches of past time: `since friday`, `last 24h`, `feb 3 - feb 9`, in the asking person's own time zone.

A period is `Period(since, until)`, both local; days inclusive, hours as datetimes. All look back: `march` is the
last one that has begun, `on friday` the last Friday. `5/6` is asked about. Future times are of kind `later`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from bot.intents.extraction.days import Calendar, read_day
from bot.intents.extraction.entity import Entity
from bot.intents.plain_text import word_set

UNITS: Final = r"hours?|hrs?|h|days?|d|weeks?|wks?|w|months?|mths?|mos?|quarters?|years?|yrs?"
NUMBER: Final = (
    r"\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fourteen|thirty|couple of|few"
)
MONTH: Final = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?"
)
WEEKDAY: Final = (
    r"mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
)
_QUARTER: Final = 3  # months
_TH: Final = r"(?:st|nd|rd|th)"

#: Tried in this order at each place; the first that fits is taken.
_ATOM: Final = re.compile(
    rf"""(?:(?<![\w§.,/$-])|(?<=\d\.\.)|(?<=\d\.-))(?:
      (?P<iso>\d{{4}}-\d{{2}}-\d{{2}})(?:[T ](?P<clock>\d{{2}}:\d{{2}})(?::\d{{2}})?Z?)?
    | (?P<from_day>\d{{1,2}}){_TH}?\s*(?:to|-|–|until|till|through|and)\s*(?:the\s+)?(?P<to_day>\d{{1,2}}){_TH}?
        \s+(?:of\s+)?(?P<days_month>{MONTH})\b
    | (?=\d)(?:(?=\d{{1,2}}\.\d{{1,2}}\.\s*[-–]\s*\d{{1,2}}\.\d{{1,2}}\.)|(?<=ledger\ of\ )|(?<=from\ )|(?<=since\ )|(?<=on\ )|(?<=between\ )|(?<=–\ )|(?<=\.–)|(?<=\.-)|(?<=till\ )|(?<=until\ )|(?<=and\ )|(?<=the\ )|(?<=\.\ to\ ))
        (?P<dotted>\d{{1,2}}\.\d{{1,2}}\.)(?!\d)
    | (?P<quarter>q[1-4])\b | (?:the\s+|last\s+|over\s+the\s+)?(?P<weekend>weekend)(?:'s)?\b(?!\s+\w+s?\s+\w*card)
    | (?P<slashed>\d{{1,2}}[/.]\d{{1,2}}(?:[/.](?:\d{{4}}|\d{{2}}))|\d{{1,2}}/\d{{1,2}})
    | (?P<mdr_month>{MONTH})\.?\s+(?P<mdr_from>\d{{1,2}}){_TH}?\s*(?:to|-|–|until|till|through)\s*(?:the\s+)?(?P<mdr_to>\d{{1,2}}){_TH}?
        (?![\d%$€£k,.:/]*\d)(?!\s?(?:usd|\$|dollars?|bucks|k|%|am|pm)\b)
    | (?:in\s+|of\s+|for\s+)?(?:the\s+)?(?:(?:calendar\s+)?week|kw|cw)\s?(?P<week_no>\d{{1,2}})\b(?!\s?(?:usd|\$|dollars?|bucks|k|%|days)\b)
    | (?:the\s+)?(?P<quarter_word>first|second|third|fourth)\s+quarter(?:\s+of\s+(?:this|the)\s+year)?\b
    | (?P<short_month>jan|feb|aug|sept|sep|oct|nov|dec)(?=\s+(?:float|report|spend|so\s+far|statement|ledger|totals?|purchases|transactions|numbers|figures|history|close|closing)\b)
    | (?:(?<=,\ )|(?<=cards\ )|(?<=spend\ )|(?<=float\ )|(?<=ledger\ ))(?P<month_alone>feb|aug|sept|sep|oct|nov|dec)(?=\s*(?:$|\n|[,;?!]|\.(?!\d)|→))
    | (?:(?:{WEEKDAY}),?\s+)?(?:the\s+)?(?P<dm_day>\d{{1,2}}){_TH}?(?:(?:\s+of)?\s+|/)(?P<dm_month>{MONTH})\b\.?
        (?:,?\s+(?P<dm_year>(?:19|20)\d{{2}})\b)?
    | (?:(?:{WEEKDAY}),?\s+)?(?P<md_month>{MONTH})\.?\s+(?:the\s+)?(?P<md_day>\d{{1,2}}){_TH}?
        (?![\d%$€£k,.:]*\d)(?!\s?(?:usd|\$|dollars?|bucks|k|%|am|pm)\b)(?:,?\s+(?P<md_year>(?:19|20)\d{{2}})\b)?
    | (?P<month_year>{MONTH})\.?\s+(?P<my_year>(?:19|20)\d{{2}})\b
    | (?:the\s+)?(?P<before_last>week|month|quarter|year)\s+before\s+last\b
    | (?:(?:in|for|of|during)\s+)?(?:the\s+)?(?P<part_end>first|last|second)\s+(?P<part>week|half)\s+of\s+(?P<part_month>{MONTH})\b
    | (?:(?:in|for|over)\s+)?(?:the\s+|this\s+)?(?:last|past|previous)\s+(?P<fortnight>fortnight)\b
    | (?P<ago_n>{NUMBER})\s*(?P<ago_unit>{UNITS}|fortnights?)\s+ago
    | (?:(?:the|these|in|for|over)\s+){{0,4}}(?:last|past|previous|trailing)\s+(?P<last_n>{NUMBER})\s*
        (?P<last_unit>{UNITS}|min(?:ute)?s?|fortnights?)\b
    | (?P<bare_n>\d{{1,3}})\s?(?P<bare_unit>h|hrs?|d)\b
    | last\s+week(?:'s)?\s+(?P<wk_day>{WEEKDAY})\b | (?P<day_wk>{WEEKDAY})\s+(?:of\s+)?last\s+week
    | (?:the\s+)?(?P<span_which>last|past|previous|this|current)\s+
        (?P<span_unit>hour|day|week|month|quarter|year)(?:'s)?\b
    | (?:the\s+)?(?P<before_yesterday>day\s+before\s+yesterday)
    | (?P<yesterday>yesterday(?:'s)?|ystd|yday)(?:\s+(?:night|morning|evening|afternoon))?
    | (?P<night>last\s+(?:night|evening))
    | (?P<today>today(?:'s)?|tonight|this\s+(?:morning|afternoon|evening)|so\s+far\s+today)
    | (?P<to_date>mtd|ytd|wtd|(?P<to_unit>month|year|week)[\s-]to[\s-]date)
    | (?P<week_which>last|this)\s+(?P<week_day>{WEEKDAY})\b(?:'s)?
    | last\s+(?P<last_th>\d{{1,2}}){_TH}
    | (?:on|since|from|for|until|till|to|and|between|of)\s+(?=the\s+\d)the\s+(?P<on_th>\d{{1,2}}){_TH}(?:\s+of\s+(?:this|the)\s+month)?(?!\s+
        (?:card|digit|of))
    | (?P<full_day>(?:mon|tues|wednes|thurs|fri|satur|sun)day)(?:'s)?\b
    | (?<=on\ )(?P<short_day>{WEEKDAY})\b | (?<=since\ )(?P<since_day>{WEEKDAY})\b
    | (?:last\s+)?(?P<full_month>january|february|june|july|september|october|november|december)(?:'s)?\b
    | (?:(?<=in\ )|(?<=for\ )|(?<=since\ )|(?<=during\ )|(?<=of\ )|(?<=last\ )|(?<=on\ )|(?<=from\ )|
        (?<=until\ )|(?<=to\ ))(?P<word_month>{MONTH})\b(?!')
    | (?:(?<=in\ )|(?<=during\ )|(?<=on\ )|(?<=for\ ))(?P<year>(?:19|20)\d{{2}})(?![\d.,])
    )(?![\w§])""",
    re.IGNORECASE | re.VERBOSE,
)
_OPEN: Final = re.compile(r"\b(since|starting(?: from| on)?|as of|after|from)(?: the)?\s+$", re.IGNORECASE)
_FROM: Final = re.compile(r"\b(from|between)(?: the)?\s+$", re.IGNORECASE)
_ONWARD: Final = re.compile(
    r"^\s+(?:on(?!\s+[\w\0§])|onwards?|till now|until now|to now|to date)\b", re.IGNORECASE
)
#: `from monday on`: not `spend of yesterday on 5530`.
_ON: Final = re.compile(r"^\s+on\b", re.IGNORECASE)
_UP_TO: Final = re.compile(r"\b(until|till|up to|before|through)(?: the)?\s+$", re.IGNORECASE)
#: `what did she go through last week`: it happened in that week.
_GOES_THROUGH: Final = re.compile(
    r"\b(go|goes|gone|going|went|get|gets|got|came|come|ran|run|put)\s+$", re.IGNORECASE
)
_BETWEEN: Final = re.compile(
    r"^\s*(?:to|and|until|till|up to|through|thru|-|–|—|\.\.)\s*(?:the\s+)?$", re.IGNORECASE
)
_LATER: Final = re.compile(
    rf"""(?<![\w§])(?:tomorrow(?:\s+(?:morning|night|evening|afternoon))?|tmrw|tmr
    | next\s+(?:{WEEKDAY}|week|month|year|hour|quarter)|(?:this|coming)\s+weekend
    | in\s+(?:{NUMBER})\s*(?:min(?:ute)?s?|{UNITS})|(?:at|by|around|before|after)\s+\d{{1,2}}
        (?:[:.]\d{{2}})?\s*(?:am|pm|a\.m\.|p\.m\.|h|o'?clock|utc|cet)
    | (?:at|by|before|after)\s+\d{{1,2}}:\d{{2}}|\d{{1,2}}:\d{{2}}|\d{{1,2}}\s?(?:am|pm)
    | tonight|(?:at|by|after)\s+(?:noon|midnight|eod|end\s+of\s+(?:day|week|month))|later(?:\s+today)?|every\s+
        (?:{WEEKDAY}|day|week|month)
    | when\s+possible|each\s+(?:{WEEKDAY}|morning))(?![\w§])""",
    re.IGNORECASE | re.VERBOSE,
)


#: A text without a figure and without one of these holds no period.
PERIOD_WORDS: Final = word_set(
    """
    jan january feb february mar march apr april may jun june jul july aug august sep sept september oct october nov november dec december
    mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday sun sunday weekend week quarter
    ago last past previous trailing this current yesterday ystd yday today tonight mtd ytd wtd date
    """
)
#: The same for a time that is still to come.
LATER_WORDS: Final = word_set(
    "tomorrow tmrw tmr next this coming in tonight at by around before after later every when each"
)
#: A day by its name in the shops is no time of ours: `the campaign of Black Friday`.
_NAMED_DAY: Final = re.compile(
    r"\b(?:black|good) friday$|\b(?:cyber|easter) monday$|\bgiving tuesday$", re.IGNORECASE
)
#: `next friday` lies ahead.
_TO_COME: Final = re.compile(r"\b(?:next|coming)\s+$", re.IGNORECASE)
_NEAR: Final = 80
_A_SPAN: Final = re.compile(r"in (?:a|one) (?:day|week|month)", re.IGNORECASE)
_AS_A_LIMIT: Final = re.compile(
    r"\b(?:limit|cap|capped|max|maximum|at most|more than|no more|ceiling|spends?)\b[^.!?\n]*\d\s?k?(?:\s?(?:usd|dollars|bucks|\$))?\s+$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Period:
    """Local and inclusive. `since` None = open at the beginning."""

    since: date | datetime | None
    until: date | datetime

    @property
    def last_day(self) -> date:
        return self.until.date() if isinstance(self.until, datetime) else self.until

    @property
    def is_a_quarter(self) -> bool:
        """All of a quarter of the calendar, and nothing beside it."""
        if isinstance(self.since, datetime) or isinstance(self.until, datetime) or self.since is None:
            return False
        # As `bot.domain.time.periods` has it, which would draw the clock into a process that only parses.
        after = self.until + timedelta(days=1)
        months = (after.year - self.since.year) * 12 + after.month - self.since.month
        return self.since.day == after.day == 1 and months == _QUARTER and self.since.month % _QUARTER == 1

    def as_slots(self) -> dict[str, str]:
        """ISO dates; hours as `YYYY-MM-DDTHH:MM`."""
        slots = {} if self.since is None else {"since": _iso(self.since)}
        return {**slots, "until": _iso(self.until)}


def _iso(when: date | datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M") if isinstance(when, datetime) else when.isoformat()


@dataclass(frozen=True, slots=True)
class _Atom:
    start: int
    end: int
    period: Period | None  # None = to be asked


def find_periods(text: str, now: datetime, tz: str, week_starts: str) -> Iterator[Entity]:
    """All periods of `text`, neighbours joined by "to" or "and" as one; then what lies in the future."""
    calendar = Calendar(now.astimezone(ZoneInfo(tz)), week_starts)
    atoms = [
        _Atom(*found.span(), _read(found, calendar))
        for found in _ATOM.finditer(text)
        if not _NAMED_DAY.search(text[max(0, found.start() - 10) : found.end()])
        and not _TO_COME.search(text[max(0, found.start() - 10) : found.start()])
    ]
    at = 0
    while at < len(atoms):
        first = atoms[at]
        second = atoms[at + 1] if at + 1 < len(atoms) else None
        joined = _join(text, first, second, calendar) if second else None
        if joined is not None:
            yield joined
            at += 2
            continue
        yield _alone(text, first, calendar)
        at += 1


def find_later(text: str) -> Iterator[Entity]:
    """Times that are still to come, or an hour of the day: nothing is done later for anyone."""
    for found in _LATER.finditer(text):
        if _A_SPAN.fullmatch(found[0]) and _AS_A_LIMIT.search(
            text[max(0, found.start() - _NEAR) : found.start()]
        ):
            continue  # `not more than 12k in a month`
        yield Entity("later", *found.span(), None, found[0])


def _read(found: re.Match[str], calendar: Calendar) -> Period | None:
    days = read_day(found, calendar)
    return None if days is None else Period(*days)


def _join(text: str, first: _Atom, second: _Atom | None, calendar: Calendar) -> Entity | None:
    if second is None or first.period is None or second.period is None:
        return None
    lead = re.match(r"(?:to|and|until|till)\s+(?:the\s+)?", text[second.start : second.end], re.IGNORECASE)
    between = text[first.end : second.start] + (lead[0] if lead else "")
    if not _BETWEEN.match(between):
        return None
    before = _before(_FROM, text, first.start)
    if (
        re.search(r"\band\b", between)
        and not before
        and not _follows(first.period, second.period)
        and not text[first.start :].lower().startswith("between")
    ):
        return None
    since, until = first.period.since, second.period.until
    if since is None:
        return None
    if _later_than(since, until):  # "from december 28 to january 3": the first lies before the second
        since = calendar.year_before(since)
    start = first.start if before is None else before[0]
    doubt = "from which day to which" if _later_than(since, until) else ""
    period = Period(since, until)
    return Entity("period", start, second.end, period, text[start : second.end], doubt)


def _before(pattern: re.Pattern[str], text: str, end: int) -> tuple[int, str] | None:
    """Where a match begins that ends there, and its first group in small letters. Looked for in the words just before
    alone: a long text holds many periods."""
    near = max(0, end - _NEAR)
    found = pattern.search(text[near:end])
    return None if found is None else (near + found.start(), found[1].lower())


def _follows(first: Period, second: Period) -> bool:
    """Do the days of the second begin where those of the first end: `in january and february`?"""
    return second.since is not None and _day(first.until) + timedelta(days=1) == _day(second.since)


def _later_than(one: date | datetime, other: date | datetime) -> bool:
    return _day(one) > _day(other)


def _day(when: date | datetime) -> date:
    return when.date() if isinstance(when, datetime) else when


def _alone(text: str, atom: _Atom, calendar: Calendar) -> Entity:
    opened = _before(_OPEN, text, atom.start)
    upto = _before(_UP_TO, text, atom.start)
    if upto is not None and upto[1] == "through" and _before(_GOES_THROUGH, text, upto[0]) is not None:
        upto = None
    inside = text[atom.start : atom.end].lower()
    start, end = atom.start, atom.end
    if atom.period is None:
        return Entity(
            "period", start, end, None, text[start:end], "which day you mean; write it like 2026-03-05"
        )
    since, until = atom.period.since, atom.period.until
    if upto and upto[1] == "before" and since is not None:
        until = _day(since) - timedelta(days=1)
    onward = _ONWARD.match(text[end:]) or (_ON.match(text[end:]) if opened else None)
    since_word = inside.startswith("since ") or (opened is not None and opened[1] != "from")
    if (since_word or onward) and since is not None:
        if (
            calendar.today == _day(since)
            and re.search(WEEKDAY, inside, re.IGNORECASE)
            and "today" not in inside
        ):
            since = _day(since) - timedelta(days=7)
        until = calendar.local if isinstance(since, datetime) else calendar.today
        end = end + onward.end() if onward else end
    elif upto:
        since = None
    start = opened[0] if opened else upto[0] if upto else start
    return Entity("period", start, end, Period(since, until), text[start:end])
