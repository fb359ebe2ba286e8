"""Rows that cannot be read, and going on as if they were not there.

A value that is none of its column makes the statement fail that reads it, and with it everything else that this
statement asked for: the timer, the queue, the start. So a row that was found to hold one is set aside: every statement
of this process leaves it out, as if somebody had deleted it, and what guards against deleted rows guards here, too. The
row itself stays as it is, for people to look at and to put right.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from sqlalchemy import (
    Alias,
    ColumnElement,
    CompoundSelect,
    Delete,
    Executable,
    FromClause,
    Insert,
    Join,
    LargeBinary,
    Select,
    Table,
    Text,
    Update,
    and_,
    cast,
    delete,
    func,
    not_,
    select,
    tuple_,
)
from sqlalchemy.sql.visitors import cloned_traverse, iterate

from storage.set_aside.unreadable_row import Key, UnreadableRow

MOST: Final = 500
"""So many rows are set aside: a database with more of them has to be restored."""


class SetAside:
    """Those of one process, in its memory."""

    def __init__(self) -> None:
        #: So many at most.
        self.most = MOST
        self._rows: dict[str, dict[Key, UnreadableRow]] = {}
        self._count = 0

    def __bool__(self) -> bool:
        return self._count > 0

    def __iter__(self) -> Iterator[UnreadableRow]:
        return iter([row for rows in self._rows.values() for row in rows.values()])

    def put(self, row: UnreadableRow) -> bool:
        """Leave this row out from now on; False where it is left out already, or too many are."""
        rows = self._rows.setdefault(row.table, {})
        if row.key in rows or self._count >= self.most:
            return False
        rows[row.key] = row
        self._count += 1
        return True

    def take_back(self, row: UnreadableRow) -> None:
        """It can be read again, or is gone."""
        if self._rows.get(row.table, {}).pop(row.key, None) is not None:
            self._count -= 1

    def find(self, table: str, row: str) -> UnreadableRow | None:
        """The row that people name so, where it is set aside."""
        return next((one for one in self._rows.get(table, {}).values() if one.row == row), None)

    def has_row(self, row: UnreadableRow) -> bool:
        """Is it left out?"""
        return row.key in self._rows.get(row.table, {})

    def of(self, table: str) -> list[Key]:
        """The keys of those of a table."""
        return list(self._rows.get(table, ()))

    def has(self, table: str, *key: str) -> bool:
        """Is the row with this key, of texts, among them?"""
        rows = self._rows.get(table, {})
        return bool(rows) and (key in rows or tuple(part.encode() for part in key) in rows)

    def takes_out(self, table: Table, values: Mapping[str, Any], *, is_postgres: bool) -> Executable | None:
        """Takes those out of the database whose key a row with these values is to have; None where it has none of ours
        to make way for."""
        rows = self._rows.get(table.name)
        names = [column.name for column in table.primary_key]
        if not rows or not set(names) <= values.keys():
            return None
        mine = (table.c[name] == values[name] for name in names)
        among = _is_among(table, table, rows, is_postgres=is_postgres)
        keys = (as_stored(table.c[name], is_postgres=is_postgres) for name in names)
        return delete(table).where(*mine, among).returning(*keys)

    def gone(self, table: str, key: Key) -> None:
        """It was taken out."""
        found = self._rows.get(table, {}).get(tuple(key))
        if found is not None:
            self.take_back(found)

    def without(self, statement: Executable, *, is_postgres: bool) -> Executable:
        """The same statement, which meets none of them."""
        if isinstance(statement, Insert) and statement.select is None:
            return statement
        if not isinstance(statement, Select | CompoundSelect | Update | Delete | Insert):
            return statement

        def narrow_select(select: Any) -> None:
            for source in select.get_final_froms():
                for table in _tables(source):
                    self._narrow(select, table, is_postgres=is_postgres)

        def narrow_change(change: Any) -> None:
            self._narrow(change, change.table, is_postgres=is_postgres)

        def narrow_join(join: Any) -> None:
            if join.isouter:  # what it adds is missing then, and what it is added to stays
                for table in _tables(join.right):
                    join.onclause = and_(join.onclause, *self._none_of(table, is_postgres=is_postgres))

        narrows: Mapping[str, Any] = {
            "select": narrow_select,
            "join": narrow_join,
            "update": narrow_change,
            "delete": narrow_change,
        }
        return typing.cast(Executable, cloned_traverse(statement, {}, dict(narrows)))

    def _narrow(self, statement: Any, source: Table | Alias, *, is_postgres: bool) -> None:
        statement._where_criteria += self._none_of(source, is_postgres=is_postgres)

    def _none_of(self, source: Table | Alias, *, is_postgres: bool) -> tuple[ColumnElement[bool], ...]:
        table = source.element if isinstance(source, Alias) else source
        keys = self._rows.get(getattr(table, "name", ""), ())
        return (not_(_is_among(table, source, keys, is_postgres=is_postgres)),) if keys else ()


def _is_among(
    table: FromClause, source: FromClause, keys: Collection[Key], *, is_postgres: bool
) -> ColumnElement[bool]:
    """Is a row of `source` one with these keys, whatever their parts hold? However many there are, it is one list, as
    databases bound how deep an expression may be."""
    parts = [as_stored(source.c[column.name], is_postgres=is_postgres) for column in table.primary_key]
    if is_postgres:  # where no part of a key is empty
        return parts[0].in_([key[0] for key in keys]) if len(parts) == 1 else tuple_(*parts).in_(list(keys))
    written = [func.coalesce(func.hex(part), "-") for part in parts]
    one: ColumnElement[Any] = written[0]
    for part in written[1:]:
        one = one.concat(".").concat(part)
    each = func.json_each(json.dumps([_in_hex(key) for key in keys])).table_valued("value")
    return one.in_(select(each.c.value))


def _in_hex(key: Key) -> str:
    parts = (part.encode() if isinstance(part, str) else part for part in key)
    return ".".join("-" if part is None else part.hex().upper() for part in parts)


def as_stored(column: ColumnElement[Any], *, is_postgres: bool) -> ColumnElement[Any]:
    """What the database holds there, as no column type reads it: bytes on SQLite, text on PostgreSQL."""
    return cast(column, Text() if is_postgres else LargeBinary())


def tables_of(statement: Any) -> set[str]:
    """By name, all tables that are in a statement."""
    return {part.name for part in iterate(statement) if isinstance(part, Table)}


def _tables(source: FromClause) -> Iterator[Table | Alias]:
    """Of each of them a row is in what this gives."""
    if isinstance(source, Join):
        yield from _tables(source.left)
        if not source.isouter:
            yield from _tables(source.right)
    elif isinstance(source, Table) or (isinstance(source, Alias) and isinstance(source.element, Table)):
        yield source
