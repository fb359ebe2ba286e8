"""Typed reads of a table of `countersign.toml` that collect every problem, and the names that nobody read."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from bot.domain.money.amounts import InvalidAmount, parse_usd

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def parse_duration(text: str) -> timedelta | None:
    """`90s`, `15m`, `8h`, `2d`; None when it is none of these or zero."""
    match = re.fullmatch(r"([1-9][0-9]{0,5})([smhd])", text)
    return timedelta(**{_UNITS[match[2]]: int(match[1])}) if match else None


class Table:
    """One table of the file: typed reads that collect problems, and the names nobody read."""

    def __init__(self, name: str, values: Mapping[str, Any], problems: list[str]) -> None:
        self.name = name
        self.values = values
        self.problems = problems
        self.known: set[str] = set()

    def path(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else key

    def problem(self, key: str, sentence: str) -> None:
        self.problems.append(f"{self.path(key)} {sentence}")

    def get(self, key: str, type_: type, what: str) -> Any:
        """The value when it is there and of the type (a bool is no int); else None, and a problem."""
        self.known.add(key)
        value = self.values.get(key)
        if value is None or type(value) is type_:
            return value
        self.problem(key, f"must be {what}.")
        return None

    def table(self, key: str) -> Table:
        return Table(self.path(key), self.get(key, dict, "a table") or {}, self.problems)

    def tables(self, key: str) -> list[Table]:
        rows = self.get(key, list, "a list of tables") or []
        if not all(isinstance(row, dict) for row in rows):
            self.problem(key, "must be a list of tables.")
            return []
        return [Table(f"{self.path(key)}[{n}]", row, self.problems) for n, row in enumerate(rows, 1)]

    def texts(self, key: str, pattern: re.Pattern[str], what: str) -> tuple[str, ...]:
        """A list of texts, each of the form, none twice."""
        found: list[object] = self.get(key, list, f"a list of {what}") or []
        texts: dict[str, None] = {}
        for text in found:
            if not (isinstance(text, str) and pattern.fullmatch(text)):
                self.problem(key, f"holds {text!r}, which is not {what}.")
            elif text in texts:
                self.problem(key, f"names {text} twice.")
            else:
                texts[text] = None
        return tuple(texts)

    def text(self, key: str, pattern: re.Pattern[str], what: str) -> str | None:
        value: str | None = self.get(key, str, what)
        if value and not pattern.fullmatch(value):
            self.problem(key, f"is {value!r}, which is not {what}.")
        return value or None

    def count(self, key: str, default: int, *, least: int = 1) -> int:
        value = self.get(key, int, "a whole number")
        if value is not None and value < least:
            self.problem(key, f"must be at least {least}.")
        return default if value is None else int(value)

    def duration(self, key: str, default: timedelta) -> timedelta:
        text = self.get(key, str, 'a duration in quotes, such as "90s", "15m", "8h" or "2d"')
        if text is None:
            return default
        found = parse_duration(text)
        if found is None:
            self.problem(key, f'is {text!r}; write a duration such as "90s", "15m", "8h" or "2d".')
        return found or default

    def moment(self, key: str, zone: ZoneInfo, *, end_of_day: bool = False) -> datetime | None:
        """A date, the whole day of `zone` counting, or a time with its offset; a problem where it is neither."""
        self.known.add(key)
        value = self.values.get(key)
        if isinstance(value, str):
            try:
                value = date.fromisoformat(value) if len(value) == 10 else datetime.fromisoformat(value)
            except ValueError:
                value = None
        if isinstance(value, datetime) and value.tzinfo is not None:
            return value.astimezone(UTC)
        if isinstance(value, date) and not isinstance(value, datetime):
            day = value + timedelta(days=1) if end_of_day else value
            return datetime.combine(day, time(), zone).astimezone(UTC)
        self.problem(key, "must be a date such as 2026-03-02, or a time with its offset.")
        return None

    def usd(self, key: str, default: Decimal | None = None, *, zero: bool = False) -> Decimal | None:
        """Dollars in quotes; empty = none. TOML's own numbers are refused: they are binary fractions."""
        text = self.get(key, str, 'dollars in quotes, such as "500" or "99.50"')
        if text is None:
            return default
        if not text:
            return None
        if zero and re.fullmatch(r"0(\.00?)?", text):
            return Decimal(0)
        try:
            return parse_usd(text)
        except InvalidAmount as error:
            self.problem(key, f"is {text!r}: {error}")
            return None

    def refuse_the_rest(self, known: Iterable[str] = ()) -> None:
        """Call last: every key that nothing asked for is a problem."""
        known_keys = self.known.union(known)
        for key in self.values:
            if key not in known_keys:
                close = difflib.get_close_matches(key, known_keys, n=1)
                hint = f" Did you mean {close[0]}?" if close else ""
                self.problem(key, f"is not known.{hint}")
