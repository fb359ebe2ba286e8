"""The number that comes after one in the database, which somebody else may have set to any other.

At the last number that a column takes, one more is none, and the deed would fail that counts it. So what we never come
to is taken for none of ours: it goes on from what the caller knows, as from the audit log.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, case

MOST: Final = 10**9
"""Nothing of ours is counted as far as that."""


def is_ours(number: int) -> bool:
    """Can this be a number that we have come to?"""
    return 0 <= number < MOST


def counted(number: int, *, known: int = 0) -> int:
    """A number as it was read; where it is none of ours, the one that is `known` in its place."""
    return number if is_ours(number) else known


def one_more(column: ColumnElement[Any], *, known: Any = 0) -> ColumnElement[Any]:
    """The same and one more, in a statement."""
    return case((column.between(0, MOST - 1), column + 1), else_=known + 1)
