"""Looks through the cells that hold sealed values, and tells whether one opens where it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Text, literal, select, tuple_

from storage.errors import CannotOpen
from storage.sealed_columns import SEALED_COLUMNS, SealedColumn
from storage.transaction import Tx

BATCH: Final = 100
"""So many rows are read at a time."""
_DOES_NOT_OPEN = (CannotOpen, ValueError, TypeError, AttributeError)
"""What opening a value raises that nobody of us has sealed for its cell."""


async def opens_any(tx: Tx) -> bool:
    """Does one value open under this keyring, in this installation?"""
    for column in SEALED_COLUMNS:
        for rows in (await older(tx, column, None), await older(tx, column, None, is_current=True)):
            if any(opened(tx, column, one) is not None for one in rows):
                return True
    return False


async def older(tx: Tx, column: SealedColumn, after: Any, *, is_current: bool = False) -> Sequence[Any]:
    """The next rows whose value is not under the first master key, or those whose is, in the order of their keys."""
    names, its = list(column.table.primary_key), column.table.c
    version: ColumnElement[Any] = its[column.version] if column.version else literal(1)
    like = column.cell.cast(Text).like(f"v1.{tx.vault.primary_kid}.%")
    asked = select(
        its[column.key].label("key_of_row"),
        column.cell.label("sealed"),
        version.label("version_of_row"),
        *(its[name].label(f"bound_{name}") for name in column.bound),
        *(part.label(f"place_{part.name}") for part in names),
    ).where(column.cell.is_not(None), like if is_current else ~like)
    if after is not None:
        last = [literal(value, part.type) for value, part in zip(after, names, strict=True)]
        asked = asked.where(tuple_(*names) > tuple_(*last))
    return (await tx.run(asked.order_by(*names).limit(BATCH))).all()


def place(column: SealedColumn, one: Any) -> tuple[Any, ...]:
    return tuple(getattr(one, f"place_{part.name}") for part in column.table.primary_key)


def ref(column: SealedColumn, one: Any) -> Any:
    bound = (getattr(one, f"bound_{name}") for name in column.bound)
    return column.ref(one.key_of_row, one.version_of_row, *bound)


def opened(tx: Tx, column: SealedColumn, one: Any) -> bytes | None:
    try:
        return tx.vault.open(one.sealed, ref(column, one))
    except _DOES_NOT_OPEN:
        return None
