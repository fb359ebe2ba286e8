"""What a thief of the database does with plain SQL: edits, deletes, invents, swaps and puts back rows of any table."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import psycopg
from psycopg.rows import dict_row
from sqlalchemy import Boolean, Column, Integer

from storage.columns import Json, Money, UtcDateTime
from storage.protection import SIGNED_TABLES
from storage.tables import metadata

Rows = list[dict[str, Any]]
Snapshot = dict[str, Rows]

TABLES = sorted(metadata.tables)
SIGNED = frozenset(signed.name for signed in SIGNED_TABLES)
SIGNATURES = "row_signature"
LOG = frozenset({"audit", "audit_head"})
LONG_AGO = "2020-01-01T00:00:00.000000Z"
FAR = "2099-01-01T00:00:00.000000Z"
MALLORY = "U0MALLORY"


class Database(Protocol):
    """A connection of the thief's own."""

    def read(self, table: str, columns: str = "*") -> Rows: ...

    def write(self, statement: str, *values: object) -> int:
        """Run one statement with `?` for values; returns how many rows it changed."""
        ...


class _Sqlite:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def read(self, table: str, columns: str = "*") -> Rows:
        return [dict(row) for row in self._connection.execute(f'SELECT {columns} FROM "{table}"')]

    def write(self, statement: str, *values: object) -> int:
        return self._connection.execute(statement, values).rowcount


class _Postgres:
    def __init__(self, connection: psycopg.Connection[dict[str, Any]]) -> None:
        self._connection = connection

    def read(self, table: str, columns: str = "*") -> Rows:
        return self._connection.execute(f'SELECT {columns} FROM "{table}"').fetchall()

    def write(self, statement: str, *values: object) -> int:
        return self._connection.execute(statement.replace("?", "%s"), values).rowcount


@contextmanager
def opened(path_or_url: str) -> Iterator[Database]:
    """The database for one edit: all of it or nothing, with foreign keys off, as who owns it may have them."""
    if path_or_url.startswith("postgresql"):
        with psycopg.connect(path_or_url, row_factory=dict_row) as postgres:
            postgres.execute("SET lock_timeout = '2s'")
            postgres.execute("SET session_replication_role = replica")
            yield _Postgres(postgres)
        return
    with closing(sqlite3.connect(path_or_url, timeout=2)) as connection:
        connection.row_factory = sqlite3.Row
        connection.text_factory = lambda text: text.decode(errors="replace")
        connection.execute("PRAGMA foreign_keys = OFF")
        yield _Sqlite(connection)
        connection.commit()


@dataclass(frozen=True)
class Edit:
    """One edit: its name for the report, the table it is about, and what it does; it returns how many rows changed."""

    name: str
    table: str
    apply: Callable[[Database], int]


def log_cut_off(place: str, action: str) -> Edit:
    """The audit log ends before its first entry of this action, and its head says so; the triggers are in no way."""

    def apply(database: Database) -> int:
        if place.startswith("postgresql"):
            database.write("ALTER TABLE audit DISABLE TRIGGER USER")
        else:
            kept = database.read("sqlite_master")
            for row in kept:
                if row["type"] == "trigger" and row["tbl_name"] == "audit":
                    database.write(f"DROP TRIGGER {row['name']}")
        entries = sorted(database.read("audit"), key=lambda row: int(row["seq"]))
        first = next(n for n, row in enumerate(entries) if row["action"] == action)
        last = entries[first - 1]
        database.write("UPDATE audit_head SET seq = ?, hash = ?", last["seq"], last["hash"])
        return database.write("DELETE FROM audit WHERE seq > ?", last["seq"])

    return Edit("the log cut off", "audit", apply)


def snapshot(database: Database) -> Snapshot:
    """All rows of all tables, to put some of them back later."""
    return {table: database.read(table) for table in TABLES}


def put_back_all(database: Database, before: Snapshot) -> int:
    """All tables as they were, but the audit log, which nobody can sign: whatever was done since is undone."""
    count = 0
    for (
        table
    ) in TABLES:  # one after the other: triggers count the rows of some in the tables that come after them
        if table not in LOG and database.read(table) != before[table]:
            count += database.write(f'DELETE FROM "{table}"')
            count += sum(insert(database, table, row) for row in before[table])
    return count


def any_edit(chance: random.Random, database: Database, before: Snapshot) -> Edit | None:
    """One edit by chance, of any table, empty ones as well. `before`: how it was some steps ago.

    None where what was drawn would change nothing.
    """
    table = chance.choice(TABLES)
    rows = database.read(table)
    if not rows:
        return chance.choice((_invented, _put_back))(chance, table, rows, before.get(table, []))
    if table in SIGNED and chance.random() < 0.3:
        return put_back_signed(table, database, before)
    kind = chance.choice((_cell, _cell, _cell, _swap, _delete, _copy, _put_back))
    return kind(chance, table, rows, before.get(table, []))


def put_back_signed(table: str, database: Database, before: Snapshot) -> Edit | None:
    """The rows of a signed table as they were, together with the signatures that they had."""
    if table not in before:
        return None
    now = [row for row in database.read(SIGNATURES) if row["table_name"] == table]
    then = [row for row in before[SIGNATURES] if row["table_name"] == table]
    if (database.read(table), now) == (before[table], then):
        return None

    def apply(database: Database) -> int:
        count = database.write(f'DELETE FROM "{table}"')
        count += database.write(f'DELETE FROM "{SIGNATURES}" WHERE table_name = ?', table)
        count += sum(insert(database, table, row) for row in before[table])
        return count + sum(insert(database, SIGNATURES, row) for row in then)

    return Edit(f"{table}: put back with its signatures", table, apply)


def _columns(table: str) -> list[str]:
    return [column.name for column in metadata.tables[table].columns]


def _key(table: str) -> list[str]:
    return [column.name for column in metadata.tables[table].primary_key.columns]


def _where(table: str, row: dict[str, Any]) -> tuple[str, list[Any]]:
    key = _key(table)
    return " AND ".join(f'"{name}" = ?' for name in key), [row[name] for name in key]


def _cell(chance: random.Random, table: str, rows: Rows, _before: Rows) -> Edit | None:
    row, column = chance.choice(rows), chance.choice(_columns(table))
    value = _other(chance, row[column], [other[column] for other in rows])
    where, named = _where(table, row)

    def apply(database: Database) -> int:
        return database.write(f'UPDATE "{table}" SET "{column}" = ? WHERE {where}', value, *named)

    return Edit(f"{table}.{column}", table, apply)


def _other(chance: random.Random, value: Any, seen: list[Any]) -> Any:
    """Another value of the same form: of another row, or one that a thief would like."""
    choices: list[Any] = [None, *(other for other in seen if other != value)]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return chance.choice([*choices[1:], 0, 1, value + 1, value - 1])
    if isinstance(value, str):
        choices += [MALLORY, "", FAR, "U0BOB", "approved", "open", "sent", value[:-1] + "x", value.swapcase()]
        return chance.choice(choices)
    return chance.choice([None, FAR])


def _swap(chance: random.Random, table: str, rows: Rows, _before: Rows) -> Edit | None:
    if len(rows) < 2:
        return None
    free = [name for name in _columns(table) if name not in _key(table)]
    if not free:
        return None
    one, other = chance.sample(rows, 2)
    columns = chance.sample(free, chance.randint(1, min(4, len(free))))

    def apply(database: Database) -> int:
        count = 0
        for target, source in ((one, other), (other, one)):
            where, named = _where(table, target)
            sets = ", ".join(f'"{name}" = ?' for name in columns)
            values = [source[name] for name in columns]
            count += database.write(f'UPDATE "{table}" SET {sets} WHERE {where}', *values, *named)
        return count

    return Edit(f"{table}: {', '.join(columns)} of two rows swapped", table, apply)


def _delete(chance: random.Random, table: str, rows: Rows, _before: Rows) -> Edit | None:
    gone = rows if chance.random() < 0.3 else [chance.choice(rows)]

    def apply(database: Database) -> int:
        count = 0
        for row in gone:
            where, named = _where(table, row)
            count += database.write(f'DELETE FROM "{table}" WHERE {where}', *named)
        return count

    return Edit(f"{table}: {len(gone)} row(s) deleted", table, apply)


def _copy(chance: random.Random, table: str, rows: Rows, _before: Rows) -> Edit | None:
    made = dict(chance.choice(rows))
    name = chance.choice(_key(table))
    made[name] = made[name] + 1_000_000 if isinstance(made[name], int) else f"{made[name]}x"
    for column in chance.sample(_columns(table), min(2, len(made))):
        if column not in _key(table):
            made[column] = _other(chance, made[column], [row[column] for row in rows])
    return Edit(f"{table}: a row invented", table, lambda database: insert(database, table, made))


def _invented(chance: random.Random, table: str, _rows: Rows, _before: Rows) -> Edit | None:
    """A row of a table in which there is none yet, of what a thief would like to stand there."""
    columns = metadata.tables[table].columns
    made = {
        column.name: None if column.nullable and chance.random() < 0.5 else _made_up(chance, column)
        for column in columns
    }
    return Edit(f"{table}: a row made up", table, lambda database: insert(database, table, made))


def _made_up(chance: random.Random, column: Column[Any]) -> Any:
    kind = column.type
    if isinstance(kind, Boolean):
        return chance.random() < 0.5
    if isinstance(kind, Integer):
        return chance.choice((0, 1, 2, 10**6))
    if isinstance(kind, UtcDateTime):
        return chance.choice((FAR, LONG_AGO))
    if isinstance(kind, Money):
        return chance.choice(("0.00", "1000000.00"))
    if isinstance(kind, Json):
        return chance.choice(("{}", "[]", '{"about":"","kind":"decline"}'))
    return chance.choice((MALLORY, "U0BOB", "main", "approved", "open", "sent", "active", "emp-1042"))


def _put_back(_chance: random.Random, table: str, rows: Rows, before: Rows) -> Edit | None:
    if rows == before:
        return None

    def apply(database: Database) -> int:
        count = database.write(f'DELETE FROM "{table}"')
        return count + sum(insert(database, table, row) for row in before)

    return Edit(f"{table}: put back as it was", table, apply)


def insert(database: Database, table: str, row: dict[str, Any]) -> int:
    names = ", ".join(f'"{name}"' for name in row)
    marks = ", ".join("?" for _ in row)
    return database.write(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', *row.values())


def sql(name: str, table: str, statement: str, *values: object) -> Edit:
    """An edit that a thief has thought of."""
    return Edit(name, table, lambda database: database.write(statement, *values))
