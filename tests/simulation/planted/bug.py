"""A planted bug: a patch that behaves as the bot does, until the moment at which the bug makes a difference."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from tests.simulation import statements

Acts = Callable[[], bool]
"""Asked where the bug would do something else than the bot: True = do it. Whoever asks was reached, either way."""
Plant = Callable[[ExitStack, Acts], None]


@dataclass(frozen=True)
class Bug:
    """`plant` puts it in until the stack closes; one of `rules` must be broken then. `defect`: its number in the review
    of the money path, where it was one of those."""

    name: str
    rules: tuple[str, ...]
    plant: Plant
    defect: str = ""


def put(stack: ExitStack, where: Any, name: str, what: Any) -> None:
    """Replace `where.name` until the stack closes."""
    stack.enter_context(patch.object(where, name, what))


def peek(tx: Any, statement: Any) -> list[Any]:
    """What the database of a transaction has, without anybody else getting a turn: what only looks changes nothing."""
    connection = tx.connection
    found = statements.execute(connection._connection, connection.dbapi, statement)
    return list(found.scalars().all())


def peek_into(store: Any, statement: Any) -> list[Any]:
    """The same outside of a transaction."""
    connection = store._reader.take()
    try:
        found = statements.execute(connection._connection, connection.dbapi, statement)
        return list(found.scalars().all())
    finally:
        store._reader.give_back(connection)
