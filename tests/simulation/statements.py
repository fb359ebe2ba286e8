"""Statements of SQLAlchemy, carried out by SQLite at once: compiled and typed by it, without its book-keeping.

Most of what a small statement costs is not SQLite's work but that of making and unmaking the objects around it. A
statement that is new, or in any way unusual, goes the ordinary way; it is compiled then, and known. What `storage`
built once is looked up once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Row
from sqlalchemy.engine.result import IteratorResult
from sqlalchemy.exc import DBAPIError, MultipleResultsFound, NoResultFound
from sqlalchemy.sql.compiler import SQLCompiler


class Changed:
    """The answer to a statement that changes rows and names none of them."""

    def __init__(self, rowcount: int) -> None:
        self.rowcount = rowcount


class Found:
    """The rows that a statement found, with what `storage` uses of SQLAlchemy's Result."""

    rowcount = -1

    def __init__(self, made: tuple[Any, Any, Any], raw: list[Any]) -> None:
        self._of = made[0], raw
        self._rows: list[Row[Any]] = [Row(*made, values) for values in raw]

    def __getattr__(self, name: str) -> Any:
        """What is used seldom, as SQLAlchemy has it."""
        metadata, raw = self._of
        return getattr(IteratorResult(metadata, iter(raw)), name)

    def __iter__(self) -> Iterator[Row[Any]]:
        return iter(self._rows)

    def all(self) -> list[Row[Any]]:
        return self._rows

    def first(self) -> Row[Any] | None:
        return self._rows[0] if self._rows else None

    fetchone = first

    def one_or_none(self) -> Row[Any] | None:
        if len(self._rows) > 1:
            raise MultipleResultsFound
        return self.first()

    def one(self) -> Row[Any]:
        if (row := self.one_or_none()) is None:
            raise NoResultFound
        return row

    def scalar_one(self) -> Any:
        return self.one()[0]

    def scalar_one_or_none(self) -> Any:
        return None if (row := self.one_or_none()) is None else row[0]


class Known:
    """One statement, compiled for values of these names."""

    def __init__(self, connection: Connection, statement: Any, params: Mapping[str, Any]) -> None:
        self.names = frozenset(params)
        self.compiled: SQLCompiler
        self.compiled, extracted, collected, _ = statement._compile_w_cache(
            connection.dialect,
            compiled_cache=connection.engine._compiled_cache,
            column_keys=sorted(params),
            for_executemany=False,
            schema_translate_map=None,
        )
        compiled = self.compiled
        self.own_values = compiled.construct_params(
            extracted_parameters=extracted, escape_names=False, _collected_params=collected, _check=False
        )
        required = (bind.key for bind in compiled.binds.values() if bind.required)
        self.ask_for = frozenset(required) - self.names
        self._is_plain = False
        self._rows_made: tuple[Any, Any, Any] | None = None
        # Where a list is among the values, the text depends on how long it is.
        self._lists = sorted({bind.key for bind in compiled.post_compile_params} & self.names)
        self._forms: dict[tuple[int, ...], Form] = {}

    @property
    def is_plain(self) -> bool:
        """Its columns are known; or it names none, and SQLAlchemy would make up no value of it."""
        if self._is_plain:
            return True
        of = self.compiled
        changes = of.isinsert or of.isupdate or of.isdelete
        made_up = of.insert_prefetch or of.update_prefetch or of.implicit_returning or of.effective_returning
        columns_known = of._cached_metadata is not None  # from the first time on
        self._is_plain = not self.ask_for and (columns_known or bool(changes and not made_up))
        return self._is_plain

    @property
    def rows_made(self) -> tuple[Any, Any, Any] | None:
        """What SQLAlchemy makes a row with; None where there are none."""
        if self._rows_made is None and (metadata := self.compiled._cached_metadata) is not None:
            self._rows_made = metadata, metadata._effective_processors, metadata._key_to_index
        return self._rows_made

    def bound(self, params: Mapping[str, Any]) -> tuple[str, list[Any]]:
        """The text, and its values as SQLite takes them."""
        lengths = tuple([len(params[name]) for name in self._lists])
        form = self._forms.get(lengths)
        if form is None:
            form = self._forms[lengths] = self._form(params)
        return form.text, [
            own
            if name is None
            else (params[name] if nth is None else params[name][nth])
            if make is None
            else make(params[name] if nth is None else params[name][nth])
            for name, nth, make, own in form.places
        ]

    def _form(self, params: Mapping[str, Any]) -> Form:
        """The text for lists as long as these, and where each of its values comes from."""
        compiled, values = self.compiled, {**self.own_values, **params}
        assert not compiled.literal_execute_params, "a value that stands in the text itself"
        makers: Mapping[str, Any] = compiled._bind_processors
        text, names, of_list = compiled.string, compiled.positiontup or [], dict[str, tuple[str, int]]()
        if compiled.post_compile_params:
            expanded = compiled._process_parameters_for_postcompile(dict(values))
            text, names = expanded.statement, list(expanded.positiontup or ())
            makers = {**makers, **expanded.processors}
            for name, single in expanded.parameter_expansion.items():
                of_list |= {one: (name, nth) for nth, one in enumerate(single)}
        places: list[Place] = []
        for name in names:
            source, nth = of_list.get(name, (name, None))
            make = makers.get(name)
            if source in self.names:
                places.append((source, nth, make, None))
            else:
                own = values[source] if nth is None else values[source][nth]
                places.append((None, None, None, _made(make, own)))
        return Form(text, places)


# Of one value of a statement: its name among those that are given, its number where that is a list, how SQLite's value
# is made of it; or, without a name, what it always is.
Place = tuple[str | None, int | None, Any, Any]


class Form(NamedTuple):
    """A statement for lists of some length."""

    text: str
    places: list[Place]


def _made(make: Any, value: Any) -> Any:
    return value if make is None else make(value)


_KNOWN: WeakKeyDictionary[Any, Known] = WeakKeyDictionary()


def execute(connection: Connection, dbapi: sqlite3.Connection, statement: Any, *given: Any) -> Any:
    """What `connection.execute` does. Raises the same errors."""
    sets = given[0] if given and isinstance(given[0], list) else given or ({},)
    if len(sets) != 1:
        return connection.execute(statement, *given)
    params: Mapping[str, Any] = sets[0]
    known = _KNOWN.get(statement)
    if known is None or known.names != params.keys():
        known = _KNOWN[statement] = Known(connection, statement, params)
    if not known.is_plain:
        return connection.execute(statement, *given)
    text, values = known.bound(params)
    made = known.rows_made
    try:
        cursor = dbapi.execute(text, values)
        if made is None:
            return Changed(cursor.rowcount)
        return Found(made, cursor.fetchall())
    except sqlite3.Error as error:
        raise DBAPIError.instance(
            text, tuple(values), error, sqlite3.Error, dialect=connection.dialect
        ) from error
