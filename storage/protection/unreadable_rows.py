"""Finds rows that hold what is no value of their column: no time, no amount, no word of ours, another kind of JSON.

Whoever can write to the database can make such a row. SQLite keeps anything in any column; PostgreSQL has times and
numbers that no calendar and no account has.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from typing import Any, Final, NoReturn, get_args, get_origin

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    DateTime,
    Integer,
    LargeBinary,
    Select,
    Table,
    Text,
    bindparam,
    cast,
    literal,
    literal_column,
    select,
    tuple_,
    type_coerce,
)
from sqlalchemy.exc import DataError, OperationalError
from sqlalchemy.types import NullType
from sqlmodel import SQLModel

from bot.domain.errors import CountersignError
from storage import tables as t
from storage.columns import Json, SealedText, UtcDateTime
from storage.set_aside import Key, UnreadableRow, as_stored
from storage.transaction import Tx

NEVER_SET_ASIDE: Final = frozenset({t.meta.name, t.program.name, t.audit.name, t.audit_head.name})
"""Nothing goes on without these: the installation's name, the accounts at the card provider, and the audit
log, which `storage.audit` checks as a whole."""

PAGE: Final = 200
"""So many rows take some ten milliseconds, in which nothing else is done."""
_AS_ROWS = 20  # what it takes to ask a table at all
_OF_REQUESTS: Final = frozenset({t.decision.name, t.attempt.name})
LOOKED_THROUGH: Final = tuple(sorted(set(t.metadata.tables) - {t.audit.name}))
"""Every table but the audit log."""
# Where a row of the one table that is asked is in the file.
_ROWID: Final[ColumnElement[Any]] = literal_column("rowid")
# Times that we write are within these, with room to add days to them.
_YEARS = range(1970, 9000)
_ID_LENGTH = 20
# What reading a value raises that is none of its column, and going on with what came of it.
_NO_VALUE = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, RecursionError)


def may_be_unreadable(error: BaseException) -> bool:
    """Is this what a statement raises that has met such a row, or whoever goes on with what it read?"""
    if isinstance(error, OperationalError):  # of sqlite3, for a text that is no UTF-8
        return "Could not decode to UTF-8" in str(error)
    return isinstance(error, (*_NO_VALUE, DataError)) and not isinstance(error, CountersignError)


@dataclass(slots=True)
class Walk:
    """Through tables, so many rows at a time; again from the first when it has been through all."""

    tables: Sequence[str] = LOOKED_THROUGH
    at: int = 0
    after: Any = None
    is_through: bool = False

    async def on(self, tx: Tx, rows: int = PAGE) -> list[UnreadableRow]:
        """Those of the next so many rows. `is_through` says whether these were the last ones."""
        found, left = list[UnreadableRow](), rows
        self.is_through = False
        while left > 0:
            if self.at == len(self.tables):
                self.at, self.is_through = 0, True
                break
            bad, seen, self.after = await _page(tx, t.metadata.tables[self.tables[self.at]], self.after, left)
            found += bad
            if seen < left:
                self.at, self.after = self.at + 1, None
            left -= seen + _AS_ROWS
        return found


async def find_all(tx: Tx, tables: Collection[str] = LOOKED_THROUGH) -> list[UnreadableRow]:
    """All of these tables, however long it takes."""
    walk, found = Walk(sorted(tables)), list[UnreadableRow]()
    while tables and not walk.is_through:
        found += await walk.on(tx)
        await asyncio.sleep(0)
    return found


def with_their_requests(found: Iterable[UnreadableRow], *, is_postgres: bool) -> Iterator[UnreadableRow]:
    """With the requests of which decisions or calls cannot be read: nobody knows what was approved or sent."""
    for row in found:
        yield row
        if row.table in _OF_REQUESTS and row.about:
            key = row.about if is_postgres else row.about.encode()
            yield UnreadableRow(t.request.name, row.column, (key,), row.about, because=row)


async def is_still_so(tx: Tx, row: UnreadableRow) -> bool:
    """Is this row still there, and not to be read?"""
    row = row.because or row
    if row.table not in t.metadata.tables:
        return False
    its = t.metadata.tables[row.table]
    asked = _asked(its, tx.is_postgres).where(*_of_key(its, row.key, tx.is_postgres))
    found, _, _ = await _read(tx, its, asked, {})
    return any(one.key == row.key for one in found)


def _of_key(its: Table, key: Key, is_postgres: bool) -> Iterator[ColumnElement[bool]]:
    """By the index of its key. SQLite compares neither text with bytes nor the other way round."""
    for column, part in zip(its.primary_key, key, strict=True):
        if part is None:
            yield column.is_(None)
        elif is_postgres or isinstance(part, str):
            yield column == cast(literal(part, Text()), column.type)
        elif b"\xef\xbf\xbd" in (shown := part.decode(errors="replace")).encode():
            yield as_stored(column, is_postgres=False) == literal(part, LargeBinary())  # a text that is none
        else:
            yield type_coerce(column, NullType()).in_([literal(part, LargeBinary()), literal(shown, Text())])


_Page = tuple[list[UnreadableRow], int, Any]


async def _page(tx: Tx, its: Table, after: Any, limit: int) -> _Page:
    """Those of the next rows, how many were read, and what comes `after` the last."""
    place = after if tx.is_postgres else (after,)
    given = {} if after is None else {f"after_{number}": part for number, part in enumerate(place)}
    asked = _paged(its, tx.is_postgres, is_first=after is None)
    return await _read(tx, its, asked, {**given, "most": limit})


@cache
def _paged(its: Table, is_postgres: bool, *, is_first: bool) -> Select[Any]:
    """Each table is asked all the time, so what asks it is built once."""
    order = list(its.primary_key) if is_postgres else [_ROWID]
    asked = _asked(its, is_postgres).order_by(*order).limit(bindparam("most"))
    return asked if is_first else asked.where(_comes(its, is_postgres))


def _comes(its: Table, is_postgres: bool) -> ColumnElement[bool]:
    """Rows that follow: by their key on PostgreSQL, by their place in the file on SQLite."""
    if not is_postgres:
        return bindparam("after_0", type_=BigInteger()) < _ROWID
    # As text and back, as Python has not all times that may be in it.
    key = [
        cast(bindparam(f"after_{number}", type_=Text()), column.type)
        for number, column in enumerate(its.primary_key)
    ]
    return tuple_(*its.primary_key) > tuple_(*key)


async def _read(tx: Tx, its: Table, asked: Select[Any], given: Mapping[str, Any]) -> _Page:
    try:
        rows: Sequence[Any] = (await tx.connection.execute(asked, given)).all()
    except OperationalError:  # a text that is no UTF-8: which of them, and in which column?
        return await _one_by_one(tx, its, asked, given)
    found = [bad for row in rows if (bad := _judged(its, row, tx.is_postgres)) is not None]
    return found, len(rows), _last(its, rows, tx.is_postgres)


def _last(its: Table, rows: Sequence[Any], is_postgres: bool) -> Any:
    if not rows:
        return None
    return tuple(rows[-1][1 : 1 + len(its.primary_key.columns)]) if is_postgres else rows[-1][0]


async def _one_by_one(tx: Tx, its: Table, asked: Select[Any], given: Mapping[str, Any]) -> _Page:
    """On SQLite, where a text need not be one."""
    keys = asked.with_only_columns(_ROWID, *_keys(its, is_postgres=False), maintain_column_froms=True)
    rows = (await tx.connection.execute(keys, given)).all()
    found = list[UnreadableRow]()
    for place, *key in rows:
        values = list[Any]()
        for column in its.columns:
            one = select(type_coerce(column, NullType)).select_from(its).where(literal(place) == _ROWID)
            try:
                values.append((await tx.connection.execute(one)).scalar_one())
            except OperationalError:
                values.append(_NO_TEXT)
        bad = _judged(its, (place, *key, *values), is_postgres=False)
        found += [bad] if bad is not None else []
    return found, len(rows), _last(its, rows, is_postgres=False)


_NO_TEXT: Final = object()


def _judged(its: Table, row: Sequence[Any], is_postgres: bool) -> UnreadableRow | None:
    """`row`: its place, its key as it is stored, and its values as the driver has them."""
    count = len(its.primary_key.columns)
    key, values = tuple(row[1 : 1 + count]), row[1 + count :]
    for (name, is_nullable, can_be_read), value in zip(_checks(its, is_postgres), values, strict=True):
        if not (is_nullable if value is None else can_be_read(value)):
            names = dict(zip(its.columns.keys(), values, strict=True))
            return UnreadableRow(its.name, name, key, _about(its, key, names))
    if its.name in SHAPED:
        of_it = dict(zip(its.columns.keys(), values, strict=True))
        if not SHAPED[its.name](of_it["name"], json.loads(of_it["value"])):
            return UnreadableRow(its.name, "value", key)
    return None


SHAPED: Final[dict[str, Callable[[str, Any], bool]]] = {}
"""By table of named values: has one of this name the shape that its readers lean on? Whoever knows the shapes says."""


def _about(its: Table, key: Key, values: dict[str, Any]) -> str:
    if its is t.request or its is t.attempt:
        (found,) = key
        found = (found.decode(errors="replace") if isinstance(found, bytes) else found or "").partition(".")[
            0
        ]
    else:
        found = values.get("request_id")
    return found if isinstance(found, str) and len(found) <= _ID_LENGTH else ""


_Check = Callable[[Any], bool]


@cache
def _checks(its: Table, is_postgres: bool) -> tuple[tuple[str, bool, _Check], ...]:
    """Of each column, whether it may have no value, and whether one of it can be read."""
    return tuple((column.name, bool(column.nullable), _check(column, is_postgres)) for column in its.columns)


def _check(column: Column[Any], is_postgres: bool) -> _Check:
    is_nullable, shape, read = bool(column.nullable), _shape(column), _reader(column, is_postgres)

    def can_be_read(raw: Any) -> bool:
        if raw is _NO_TEXT:
            return False
        try:
            value = read(raw)
        except _NO_VALUE:
            return False
        if value is None:
            return is_nullable or shape is object
        if isinstance(value, datetime):
            return value.year in _YEARS
        return isinstance(value, shape) and (shape is not int or not isinstance(value, bool))

    return can_be_read


def _reader(column: Column[Any], is_postgres: bool) -> Callable[[Any], Any]:
    """As the column reads it; stricter with JSON, in which we never write a float."""
    if isinstance(column.type, Json):
        return partial(json.loads, parse_float=_no_float, parse_constant=_no_float)
    if isinstance(column.type, Boolean) and not is_postgres:
        return {0: False, 1: True}.__getitem__
    read = None if isinstance(column.type, SealedText) else getattr(column.type, "process_result_value", None)
    if read is None:
        return lambda raw: raw
    return partial(read, dialect=_postgres() if is_postgres else _sqlite())


def _no_float(text: str) -> NoReturn:
    raise ValueError(f"{text[:20]} is not what we write")


@cache
def _sqlite() -> Any:
    from sqlalchemy.dialects import sqlite

    return sqlite.dialect()


@cache
def _postgres() -> Any:
    from sqlalchemy.dialects import postgresql

    return postgresql.dialect()  # type: ignore[no-untyped-call]


@cache
def _shapes() -> dict[str, type[SQLModel]]:
    return {
        str(model.__tablename__): model for model in SQLModel.__subclasses__() if hasattr(model, "__table__")
    }


def _shape(column: Column[Any]) -> type[Any]:
    """What its values are in Python; of JSON a dict or a list, where the model says so."""
    if isinstance(column.type, Json):
        field = _shapes()[column.table.name].model_fields[column.name]
        choices = [get_origin(one) or one for one in (field.annotation, *get_args(field.annotation))]
        return next((one for one in (dict, list) if one in choices), object)
    if isinstance(column.type, Boolean):
        return bool
    if isinstance(column.type, Integer | BigInteger):
        return int
    return str if isinstance(column.type, Text | SealedText) else object


def _asked(its: Table, is_postgres: bool) -> Select[Any]:
    place = literal(0) if is_postgres else _ROWID
    return select(place, *_keys(its, is_postgres), *_raw(its, is_postgres)).select_from(its)


def _raw(its: Table, is_postgres: bool) -> Iterator[ColumnElement[Any]]:
    """As the driver has them; times of PostgreSQL as text, as it has some that Python has not."""
    for column in its.columns:
        is_time = is_postgres and isinstance(column.type, UtcDateTime | DateTime)
        yield cast(column, Text) if is_time else type_coerce(column, NullType())


def _keys(its: Table, is_postgres: bool) -> list[ColumnElement[Any]]:
    return [as_stored(column, is_postgres=is_postgres) for column in its.primary_key]
