"""Column types that keep what the two databases would lose: exact money, aware times, sealed text.

SQLite stores NUMERIC as a double and has no time type, so both are text there, written so that equal
values have equal text. A wrong value is refused here, at the last door, because table models do not
validate. What is read and is no value of its column raises `Unreadable` with the names of the table and the column.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple, NoReturn, TypeVar

from sqlalchemy import BigInteger, Boolean, Column, DateTime, Dialect, Integer, Numeric, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

from storage.errors import Unreadable
from storage.vault import Sealed

T = TypeVar("T")

MONEY_PLACES = 10  # the finest amount the API shows [Ledger entry]
_MONEY_DIGITS = 30
_MONEY_LIMIT = Decimal(10) ** (_MONEY_DIGITS - MONEY_PLACES)


# What reading a value raises that is none of its column.
_NO_VALUE = (ValueError, TypeError, ArithmeticError, RecursionError, AttributeError)
_leaves_marks: ContextVar[bool] = ContextVar("leaves_marks", default=False)


class Unread(NamedTuple):
    """Stands for a value that could not be read, within `marked`."""

    table: str
    column: str


@contextmanager
def marked() -> Iterator[None]:
    """Within, an `Unread` stands for each value that cannot be read, and nothing is raised."""
    before = _leaves_marks.set(True)
    try:
        yield
    finally:
        _leaves_marks.reset(before)


def _unreadable(place: Unread) -> Unread:
    if _leaves_marks.get():
        return place
    raise Unreadable(place.table, place.column) from None


class _Read(TypeDecorator[T]):
    """Reads its values so that what is none of them is noticed. `place`: where the column is, None = not in a table."""

    impl = Text
    cache_ok = True
    __abstract__ = True
    place: Unread | None = None

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        if value is None:
            return None
        try:
            return self.read(value)
        except _NO_VALUE:
            if self.place is None:
                raise
            return _unreadable(self.place)

    def read(self, value: Any) -> T | None:
        """What the database gave, as a value. Raises one of `_NO_VALUE`."""
        raise NotImplementedError


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


class Money(_Read[Decimal]):
    """Exact decimal USD: TEXT on SQLite, NUMERIC(30,10) on PostgreSQL. Sums are made in Python."""

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

    def read(self, value: Any) -> Decimal:
        return Decimal(money_text(value if isinstance(value, Decimal) else Decimal(_text(value))))


class UtcDateTime(_Read[datetime]):
    """An aware time: TIMESTAMPTZ on PostgreSQL; on SQLite text of one width, so that it sorts."""

    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(DateTime(timezone=True) if dialect.name == "postgresql" else Text())

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time must carry its zone")
        value = value.astimezone(UTC)
        return value if dialect.name == "postgresql" else time_text(value)

    def read(self, value: Any) -> datetime:
        read = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        if read.tzinfo is None:
            raise ValueError("a time must carry its zone")
        return read.astimezone(UTC)


def time_text(value: datetime) -> str:
    """`2026-11-20T09:30:00.000000Z`: the text of a time in the database and in the audit chain."""
    return value.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


class Word(_Read[StrEnum]):
    """One of an enumeration's words, as text. A word that is none of them is refused, also when it is read."""

    cache_ok = True

    def __init__(self, words: type[StrEnum]) -> None:
        super().__init__()
        self.words = words

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else self.words(value).value

    def read(self, value: Any) -> StrEnum:
        return self.words(value)


class SealedText(_Read[Sealed]):
    """Takes only what a vault has sealed: a plain text assigned by mistake is refused."""

    cache_ok = True

    def process_bind_param(self, value: Sealed | None, dialect: Dialect) -> str | None:
        if value is not None and not isinstance(value, Sealed):
            raise TypeError("this column takes only sealed values")
        return None if value is None else str(value)

    def read(self, value: Any) -> Sealed:
        return Sealed(_text(value))


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


class Json(_Read[Any]):
    """JSON as canonical text on both databases; amounts and times come back as text. `shape`: what it has to be."""

    cache_ok = True
    shape: type[Any] = object

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else json_text(value)

    def read(self, value: Any) -> Any:
        read = json.loads(_text(value), parse_float=_no_float, parse_constant=_no_float)
        if not isinstance(read, self.shape):
            raise TypeError(f"this JSON is a {type(read).__name__}")
        return read


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(f"a {type(value).__name__} isn't text")


def _no_float(text: str) -> NoReturn:
    raise ValueError(f"{text[:20]} was not stored by Countersign")


class _Checked(TypeEngine[Any]):
    """A plain type of SQLite, which keeps anything in any column, held to what it says."""

    place: Unread | None = None  # PostgreSQL, which keeps nothing else, makes itself copies without one
    of: tuple[Any, ...]

    def adapt(self, cls: Any, **kw: Any) -> Any:
        """SQLAlchemy reads with a copy of each type."""
        copied = super().adapt(cls, **kw)
        if isinstance(copied, _Checked):
            copied.place = self.place
        return copied

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:
        place, of = self.place, self.of
        if place is None:
            return None

        def process(value: Any) -> Any:
            return value if value is None or value.__class__ in of else _unreadable(place)

        return process


class _CheckedText(_Checked, Text):
    of = (str,)


class _CheckedInteger(_Checked, Integer):
    of = (int,)


class _CheckedBoolean(_Checked, Boolean):
    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:
        place = self.place
        if place is None:
            return None

        def process(value: Any) -> Any:
            return bool(value) if value in (0, 1) else None if value is None else _unreadable(place)

        return process


def put_in_place(column: Column[Any], shape: type[Any]) -> None:
    """From now on a value of this column of a table that is none is noticed when it is read. `shape`: of its JSON."""
    place, before = Unread(column.table.name, column.name), column.type
    if isinstance(before, _Read):
        before.place = place
        if isinstance(before, Json):
            before.shape = shape
        return
    checked: _Checked
    if isinstance(before, Text):
        checked = _CheckedText(collation=before.collation)
    elif isinstance(before, Boolean):
        checked = _CheckedBoolean()
    elif isinstance(before, BigInteger | Integer):
        checked = _CheckedInteger()
    else:
        return
    checked.place = place
    if isinstance(before, BigInteger):
        column.type = BigInteger().with_variant(checked, "sqlite")
    else:
        checked._variant_mapping = before._variant_mapping
        column.type = checked
