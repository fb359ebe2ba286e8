"""Statements of SQLAlchemy, carried out by SQLite at once: compiled and typed by it, without its book-keeping.

Most of what a small statement costs is not SQLite's work but that of making and unmaking the objects around it. A
statement that is new, or in any way unusual, goes the ordinary way; it is compiled then, and known. What `storage`
built once is looked up once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Connection
from sqlalchemy.engine.result import IteratorResult
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler


class Changed:
    """The answer to a statement that changes rows and names none of them."""

    def __init__(self, rowcount: int) -> None:
        self.rowcount = rowcount


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
        self.makers: Any = compiled._bind_processors
        self.expands = bool(compiled.literal_execute_params or compiled.post_compile_params)
        required = (bind.key for bind in compiled.binds.values() if bind.required)
        self.ask_for = frozenset(required) - self.names
        self.own_values = compiled.construct_params(
            extracted_parameters=extracted, escape_names=False, _collected_params=collected, _check=False
        )

    @property
    def is_plain(self) -> bool:
        """Its columns are known; or it names none, and SQLAlchemy would make up no value of it."""
        of = self.compiled
        changes = of.isinsert or of.isupdate or of.isdelete
        made_up = of.insert_prefetch or of.update_prefetch or of.implicit_returning or of.effective_returning
        return not self.ask_for and (of._cached_metadata is not None or bool(changes and not made_up))

    def bound(self, params: Mapping[str, Any]) -> tuple[str, list[Any]]:
        """The text, and its values as SQLite takes them."""
        values, makers = {**self.own_values, **params}, self.makers
        text, places = self.compiled.string, self.compiled.positiontup
        if self.expands:
            expanded = self.compiled._process_parameters_for_postcompile(values)
            text, places = expanded.statement, list(expanded.positiontup or ())
            values |= expanded.parameters
            makers = {**makers, **expanded.processors}
        return text, [makers[p](values[p]) if p in makers else values[p] for p in places or ()]


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
    metadata = known.compiled._cached_metadata
    try:
        cursor = dbapi.execute(text, values)
        if metadata is None:
            return Changed(cursor.rowcount)
        return IteratorResult(metadata, iter(cursor.fetchall()))
    except sqlite3.Error as error:
        raise DBAPIError.instance(
            text, tuple(values), error, sqlite3.Error, dialect=connection.dialect
        ) from error
