"""Where PostgreSQL numbers rows by itself: no number that none can follow, and none under which rows are already.

Both keep messages, and all that comes with them, from being written. SQLite takes the number after the highest.
"""

from __future__ import annotations

from sqlalchemy import column, func, select, table

from storage.columns import MOST
from storage.tables import metadata
from storage.transaction import Tx


async def put_right(tx: Tx) -> list[str]:
    """Tables whose numbers somebody else moved. From now on they go on after the rows that are there."""
    found = list[str]()
    for numbered in metadata.sorted_tables if tx.is_postgres else ():
        numbers = numbered.autoincrement_column
        if numbers is None:
            continue
        named = select(func.pg_get_serial_sequence(numbered.name, numbers.name))
        sequence = (await tx.run(named)).scalar_one()
        if sequence is None:
            continue
        newest = (await tx.run(select(func.max(numbers)).where(numbers < MOST))).scalar_one() or 0
        schema, _, name = str(sequence).rpartition(".")
        last = table(name.strip('"'), column("last_value"), schema=schema.strip('"') or None)
        number = (await tx.run(select(last.c.last_value))).scalar_one()
        if number >= MOST or number < newest:
            await tx.run(select(func.setval(sequence, max(newest, 1))))
            found.append(numbered.name)
    return found
