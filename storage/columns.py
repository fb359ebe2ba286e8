"""Column types that keep what the two databases would lose: exact money, aware times, sealed text.

SQLite stores NUMERIC as a double and has no time type, so both are text there, written so that equal
values have equal text. A wrong value is refused here, at the last door, because table models do not
validate.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import ColumnElement, DateTime, Dialect, Integer, Numeric, Text, and_, case, cast
from sqlalchemy.types import TypeDecorator, TypeEngine

from storage.vault import Sealed

MONEY_PLACES = 10  # the finest amount the API shows [Ledger entry]
_MONEY_DIGITS = 30
_MONEY_LIMIT = Decimal(10) ** (_MONEY_DIGITS - MONEY_PLACES)


def money_text(amount: Decimal) -> str:
    """The one text of an amount: no exponent, at least two decimals, no zeros beyond them."""
    if not amount.is_finite():
        raise ValueError("an amount must be a finite decimal")
    if amount == 0:
        return "0.00"
    whole, _, places = format(amount, "f").partition(".")
    places = places.rstrip("0")
    if len(places) > MONEY_PLACES or amount.copy_abs() >= _MONEY_LIMIT:
        raise ValueError(f"an amount has at most {MONEY_PLACES} decimals and {_MONEY_DIGITS} digits")
    return f"{whole}.{places:0<2}"


class Money(TypeDecorator[Decimal]):
    """Exact decimal USD: TEXT on SQLite, NUMERIC(30,10) on PostgreSQL. Sums are made in Python."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        postgres = dialect.name == "postgresql"
        return dialect.type_descriptor(Numeric(_MONEY_DIGITS, MONEY_PLACES) if postgres else Text())

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        if not isinstance(value, Decimal):
            raise TypeError(f"an amount must be a Decimal, not {type(value).__name__}")
        text = money_text(value)
        return Decimal(text) if dialect.name == "postgresql" else text

    def process_result_value(self, value: Any, dialect: Dialect) -> Decimal | None:
        return None if value is None else Decimal(money_text(Decimal(value)))


class UtcDateTime(TypeDecorator[datetime]):
    """An aware time: TIMESTAMPTZ on PostgreSQL; on SQLite text of one width, so that it sorts."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(DateTime(timezone=True) if dialect.name == "postgresql" else Text())

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time must carry its zone")
        return value.astimezone(UTC) if dialect.name == "postgresql" else time_text(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        read = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        return read if read.tzinfo is UTC else read.astimezone(UTC)


def time_text(value: datetime) -> str:
    """`2026-11-20T09:30:00.000000Z`: the text of a time in the database and in the audit chain."""
    utc = value if value.tzinfo is UTC else value.astimezone(UTC)
    return utc.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def amount_of(text: str) -> Decimal:
    """Of an amount that we wrote into the audit chain."""
    return Decimal(text)


class Word(TypeDecorator[StrEnum]):
    """One of an enumeration's words, as text. A word that is none of them is refused, also when it is read."""

    impl = Text
    cache_ok = True

    def __init__(self, words: type[StrEnum]) -> None:
        super().__init__()
        self.words = words

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else self.words(value).value

    def process_result_value(self, value: Any, dialect: Dialect) -> StrEnum | None:
        return self.words(value) if value else None


class SealedText(TypeDecorator[Sealed]):
    """Takes only what a vault has sealed: a plain text assigned by mistake is refused."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Sealed | None, dialect: Dialect) -> str | None:
        if value is not None and not isinstance(value, Sealed):
            raise TypeError("this column takes only sealed values")
        return None if value is None else str(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Sealed | None:
        return None if value is None else Sealed(value)


def json_text(value: Any) -> str:
    """Canonical JSON: sorted keys, no spaces; amounts and times as text; a float is refused."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return str(value)  # drops the subclass of an enum
    if isinstance(value, Decimal):
        return money_text(value)
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, Mapping):
        return {_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    raise TypeError(f"a {type(value).__name__} cannot be stored as JSON")


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError("JSON keys must be text")
    return str(key)


class Json(TypeDecorator[Any]):
    """JSON as canonical text on both databases; amounts and times come back as text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else json_text(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        return None if value is None else json.loads(value)


# The number that comes after one in the database, which somebody else may have set to any other. At the last number
# that a column takes, one more is none, and the deed would fail that counts it. So what we never come to is taken for
# none of ours: it goes on from what the caller knows, as from the audit log.

MOST: Final = 10**9
"""Nothing of ours is counted as far as that."""


def is_ours(number: float) -> bool:
    """Can this be a number that we have come to? SQLite keeps a fraction in a column of whole numbers, too."""
    return isinstance(number, int) and 0 <= number < MOST


def counted(number: int, *, known: int = 0) -> int:
    """A number as it was read; where it is none of ours, the one that is `known` in its place."""
    return number if is_ours(number) else known


def one_more(column: ColumnElement[Any], *, known: Any = 0) -> ColumnElement[Any]:
    """The same and one more, in a statement."""
    is_whole = column == cast(column, Integer)
    return case((and_(is_whole, column.between(0, MOST - 1)), column + 1), else_=known + 1)
