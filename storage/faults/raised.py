"""Errors of what a database does not do: each names the database that it is of, whichever other one is open beside."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from storage.database import Database
from storage.errors import DatabaseAway, DatabaseUnreachable, DiskFull
from storage.faults.in_words import fault_found, in_a_sentence, is_full, is_out_of_use, lasts


def fault_of(error: SQLAlchemyError | sqlite3.Error, database: Database) -> DatabaseUnreachable | None:
    """What is wrong with the database; None where the error is of another one, or of ours."""
    if isinstance(error, sqlite3.Error):
        error = OperationalError("", {}, error)
    original = error.orig if isinstance(error, DBAPIError) else None
    is_of_sqlite = isinstance(original, sqlite3.Error)
    # Without a number it is Python's own, such as for a text that is no UTF-8.
    is_numbered = not is_of_sqlite or hasattr(original, "sqlite_errorcode")
    if is_of_sqlite != (database.path is not None) or not is_numbered or not is_out_of_use(error):
        return None
    code = fault_found(error, database)
    kind = DiskFull if is_full(code) else DatabaseUnreachable if lasts(code) else DatabaseAway
    return kind(in_a_sentence(code, database))


@contextmanager
def named(database: Database) -> Iterator[None]:
    """What this database does not do is raised as a sentence that names it."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        fault = fault_of(error, database)
        if fault is None:
            raise
        raise fault from None
