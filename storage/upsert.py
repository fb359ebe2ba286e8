"""INSERT … ON CONFLICT, which the two databases spell alike but SQLAlchemy keeps apart."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Table, func

from storage.transaction import Tx


def inserting(table: Table, *, is_postgres: bool) -> Any:
    """INSERT with ON CONFLICT, as this database has it; the other one's is not imported."""
    if is_postgres:
        from sqlalchemy.dialects.postgresql import insert as of_postgres

        return of_postgres(table)
    from sqlalchemy.dialects.sqlite import insert as of_sqlite

    return of_sqlite(table)


async def insert_new(tx: Tx, table: Table, values: dict[str, Any]) -> bool:
    """Insert unless a unique rule says that it is there already; True when it is new."""
    return (await tx.run(_insert_new(table, tx.is_postgres), values)).first() is not None


async def insert_all_new(tx: Tx, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Insert those of the rows that a unique rule does not say are there already."""
    if rows:
        await tx.run(_insert_new(table, tx.is_postgres, tells=False), list(rows))


async def upsert(
    tx: Tx, table: Table, rows: Sequence[dict[str, Any]], *, key: Sequence[str], keep: Sequence[str] = ()
) -> None:
    """Insert rows, or overwrite those with the same key. Columns in `keep` lose nothing to a null."""
    if not rows:
        return
    await tx.run(_upsert(table, tx.is_postgres, tuple(rows[0]), tuple(key), tuple(keep)), list(rows))


# Built once for each shape: they are the most frequent writes.


@cache
def _insert_new(table: Table, is_postgres: bool, *, tells: bool = True) -> Any:
    statement = inserting(table, is_postgres=is_postgres)
    # Read by RETURNING, as psycopg's rowcount does not tell for an INSERT.
    unless_there = statement.on_conflict_do_nothing()
    return unless_there.returning(*table.primary_key.columns) if tells else unless_there


@cache
def _upsert(
    table: Table, is_postgres: bool, names: tuple[str, ...], key: tuple[str, ...], keep: tuple[str, ...]
) -> Any:
    statement = inserting(table, is_postgres=is_postgres)
    new = statement.excluded
    changed = {
        name: func.coalesce(new[name], table.c[name]) if name in keep else new[name]
        for name in names
        if name not in key
    }
    return statement.on_conflict_do_update(index_elements=list(key), set_=changed)
