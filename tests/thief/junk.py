"""What somebody may write into a cell that no reader expects: for each column of each table, and what becomes of it.

SQLite takes anything in any column; PostgreSQL what its types allow, which are times of no calendar, numbers that are
none, and JSON of another shape.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Integer, Table, Text

from storage.columns import Json, Money, SealedText, UtcDateTime, Word
from storage.tables import metadata
from tests.thief.edits import Database

_DEEP = "[" * 3000
_LONG = "x" * 300_000
_OTHER_SHAPES = ("[]", "{}", "null", '"x"', '{"row":"x"}', "7", '{"day":[]}')
_FAR_TIMES = ("9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00.000000Z")
# As invalid UTF-8 a text is no bytes, and no text either.
_NO_TEXT = "CAST(x'fffe' AS TEXT)"


@dataclass(frozen=True)
class Cell:
    """One value in one column. `which`: of the rows of its table, by their order; `as_sql`: the value is an SQL
    expression. `is_none`: no value of this column at all, so that nothing can read it."""

    table: str
    column: str
    value: Any
    which: int = 0
    as_sql: bool = False
    is_none: bool = False

    def __str__(self) -> str:
        shown = repr(self.value)
        return f"{self.table}.{self.column}[{self.which}] = {shown if len(shown) < 40 else shown[:30] + '…'}"

    def write(self, database: Database) -> int:
        """How many rows it changed: 0 where the database refuses it or there is no such row."""
        keys = [column.name for column in metadata.tables[self.table].primary_key]
        rows = database.read(self.table)
        if self.which >= len(rows):
            return 0
        row = rows[self.which]
        where = " AND ".join(f'"{key}" = ?' for key in keys)
        given = self.value if self.as_sql else "?"
        values = () if self.as_sql else (self.value,)
        statement = f'UPDATE "{self.table}" SET "{self.column}" = {given} WHERE {where}'
        return database.write(statement, *values, *(row[key] for key in keys))

    def is_in(self, database: Database) -> bool:
        """Does any row of its table hold it?"""
        given = self.value if self.as_sql else "?"
        values = () if self.as_sql else (self.value,)
        is_it = f'"{self.column}" IS NULL' if self.value is None else f'"{self.column}" = {given}'
        # A change of nothing, as what is read need not be text.
        return (
            database.write(
                f'UPDATE "{self.table}" SET "{self.column}" = "{self.column}" WHERE {is_it}', *values
            )
            > 0
        )


def values_of(column: Column[Any], *, postgres: bool) -> Iterator[tuple[Any, bool, bool]]:
    """Junk for this column, each with whether it is an SQL expression, and whether it is no value of it at all."""
    none, odd = _of_postgres(column) if postgres else _of_sqlite(column)
    yield from ((value, False, True) for value in none)
    yield from ((value, False, False) for value in odd)
    if postgres:
        return
    if not column.nullable:
        yield None, False, True
    if isinstance(column.type, Text):
        yield _NO_TEXT, True, True


_Junk = tuple[tuple[Any, ...], tuple[Any, ...]]


def _of_sqlite(column: Column[Any]) -> _Junk:
    """What is none of its values, and what is an odd one."""
    kind = column.type
    if isinstance(kind, UtcDateTime):
        return ("garbage", "2026-13-45", 7, b"\xff\xfe"), ("2026-03-02", *_FAR_TIMES)
    if isinstance(kind, Money):
        return ("garbage", "NaN", "-Infinity", "-1E+50", "", b"\xff"), ("-1",)
    if isinstance(kind, Json):
        return ("{", _DEEP, '{"a":NaN}', b"\xff"), _OTHER_SHAPES
    if isinstance(kind, Word):
        return ("nonsense", b"\xff"), ("",)
    if isinstance(kind, Boolean):
        return ("garbage", 7), ()
    if isinstance(kind, Integer | BigInteger):
        return ("garbage", 1.5), (2**62, -(2**62))
    if isinstance(kind, SealedText):
        return (b"\xff\xfe",), ("nonsense", "")
    return (b"\xff\xfe",), ("nonsense", "", _LONG, "a\x00b")


def _of_postgres(column: Column[Any]) -> _Junk:
    kind = column.type
    if isinstance(kind, UtcDateTime):
        return ("infinity", "-infinity", "0001-01-01 00:00+00 BC"), _FAR_TIMES
    if isinstance(kind, Money):
        return ("NaN",), ("-99999999999999999999.9",)
    if isinstance(kind, Json):
        return ("{", _DEEP, '{"a":NaN}'), _OTHER_SHAPES
    if isinstance(kind, Word):
        return ("nonsense",), ("",)
    if isinstance(kind, Boolean):
        return (), ()
    if isinstance(kind, BigInteger):
        return (), (2**62, -(2**62))
    if isinstance(kind, Integer):
        return (), (2**31 - 1, -(2**31))
    return (), ("nonsense", "", _LONG)


#: Of a request the row that waits, the one that is approved, and the one whose outcome is not known.
_ROWS = {"request": 3}


def cells(*, postgres: bool = False) -> list[Cell]:
    """Every table × every column × junk of its type."""
    return [
        Cell(table.name, column.name, value, which, as_sql, is_none)
        for table in sorted(metadata.tables.values(), key=lambda one: one.name)
        for column in table.columns
        for value, as_sql, is_none in values_of(column, postgres=postgres)
        for which in range(_ROWS.get(table.name, 1))
    ]


def a_row(table: Table, *, postgres: bool) -> dict[str, Any]:
    """Such as may be in this table: for one that is empty."""
    return {column.name: _plain(column, postgres=postgres) for column in table.columns}


def _plain(column: Column[Any], *, postgres: bool) -> Any:
    kind, given = column.type, _WORDS.get(column.table.name, {})
    if column.name in given:
        return given[column.name]
    if isinstance(kind, UtcDateTime):
        return "2026-03-02T09:00:00.000000Z"
    if isinstance(kind, Money):
        return "1.00"
    if isinstance(kind, Json):
        return "[]" if column.name == "candidates" else "{}"
    if isinstance(kind, Word):
        return next(iter(kind.words)).value
    if isinstance(kind, Boolean):
        return False if postgres else 0
    if isinstance(kind, Integer | BigInteger):
        return 1
    return f"a {column.name}"


#: What the database itself holds columns to, and what makes a row count.
_WORDS: dict[str, dict[str, str | None]] = {
    "alert": {"state": "raised", "severity": "warning"},
    "card_reveal": {"state": "sent"},
    "consent": {"state": "open"},
    "decision": {"kind": "approve", "verdict": ""},
    "attempt": {"purpose": "send"},
    "inbox": {"state": "processed", "type": "nothing.known"},
    "passkey": {"state": "active"},
    "outbox": {"kind": "line", "state": "sent"},
    "relay_delivery": {"state": "sent"},
    "program": {"name": "main"},
    "held_endpoint": {"program": "main"},
    "purchase": {"program": "main"},
    "orphan_debit": {"program": "main"},
    "card_sync": {"program": "main"},
}
