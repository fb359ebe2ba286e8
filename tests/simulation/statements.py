"""Statements of SQLAlchemy, carried out by SQLite at once: compiled and typed by it, without its book-keeping.

Most of what a small statement costs is not SQLite's work but that of making and unmaking the objects around it. A
statement that is new, or in any way unusual, goes the ordinary way; it is compiled then, and known.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.engine.result import IteratorResult
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler


class Changed:
    """The answer to a statement that changes rows and names none of them."""

    def __init__(self, rowcount: int) -> None:
        self.rowcount = rowcount


def execute(connection: Connection, dbapi: sqlite3.Connection, statement: Any, *given: Any) -> Any:
    """What `connection.execute` does. Raises the same errors."""
    sets = given[0] if given and isinstance(given[0], list) else given or ({},)
    if len(sets) != 1:
        return connection.execute(statement, *given)
    params: Mapping[str, Any] = sets[0]
    compiled, extracted, collected, _ = statement._compile_w_cache(
        connection.dialect,
        compiled_cache=connection.engine._compiled_cache,
        column_keys=sorted(params),
        for_executemany=False,
        schema_translate_map=None,
    )
    metadata = compiled._cached_metadata
    if metadata is None and not _changes_only(compiled):
        return connection.execute(statement, *given)
    text, values = _bound(compiled, params, extracted, collected)
    try:
        cursor = dbapi.execute(text, values)
        if metadata is None:
            return Changed(cursor.rowcount)
        return IteratorResult(metadata, iter(cursor.fetchall()))
    except sqlite3.Error as error:
        raise DBAPIError.instance(
            text, tuple(values), error, sqlite3.Error, dialect=connection.dialect
        ) from error


def _changes_only(compiled: SQLCompiler) -> bool:
    """An INSERT, UPDATE or DELETE whose rows nobody asked for, and no value of which SQLAlchemy would make up."""
    changes = compiled.isinsert or compiled.isupdate or compiled.isdelete
    made_up = compiled.insert_prefetch or compiled.update_prefetch or compiled.implicit_returning
    return bool(changes and not made_up and not compiled.effective_returning)


def _bound(compiled: SQLCompiler, params: Any, extracted: Any, collected: Any) -> tuple[str, list[Any]]:
    """The text, and its values as SQLite takes them."""
    values = compiled.construct_params(
        params, extracted_parameters=extracted, escape_names=False, _collected_params=collected
    )
    text, places = compiled.string, compiled.positiontup
    makers: Any = compiled._bind_processors
    if compiled.literal_execute_params or compiled.post_compile_params:
        expanded = compiled._process_parameters_for_postcompile(values)
        text, places = expanded.statement, list(expanded.positiontup or ())
        values = {**values, **expanded.parameters}
        makers = {**makers, **expanded.processors}
    return text, [makers[p](values[p]) if p in makers else values[p] for p in places or ()]
