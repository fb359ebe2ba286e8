"""INSERT … ON CONFLICT, which the two databases spell alike but SQLAlchemy keeps apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Table, func
from sqlalchemy.dialects import postgresql, sqlite

from storage.transaction import Tx


async def insert_new(tx: Tx, table: Table, values: dict[str, Any]) -> bool:
    """Insert unless a unique rule says that it is there already; True when it is new."""
    statement: Any = (postgresql if tx.is_postgres else sqlite).insert(table).values(values)
    # Asked for by RETURNING, as psycopg's rowcount does not tell for an INSERT.
    kept = statement.on_conflict_do_nothing().returning(*table.primary_key.columns)
    return (await tx.run(kept)).first() is not None


async def upsert(
    tx: Tx, table: Table, rows: Sequence[dict[str, Any]], *, key: Sequence[str], keep: Sequence[str] = ()
) -> None:
    """Insert rows, or overwrite those with the same key. Columns in `keep` lose nothing to a null."""
    if not rows:
        return
    statement: Any = (postgresql if tx.is_postgres else sqlite).insert(table)
    new = statement.excluded
    changed = {
        name: func.coalesce(new[name], table.c[name]) if name in keep else new[name]
        for name in rows[0]
        if name not in key
    }
    await tx.run(statement.on_conflict_do_update(index_elements=list(key), set_=changed), list(rows))
