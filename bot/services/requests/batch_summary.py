"""A batch in words: its sentence, its effect, and what speaks against it. Pure, from kept facts."""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal

from bot.operations import Concern, Facts, Line, Operation
from bot.services.requests import batch_warnings


def summary(cls: type[Operation], rows: int, total_usd: Decimal) -> str:
    cards = "1 card" if rows == 1 else f"{rows} cards"
    return cls.of_many().summary(cards, total_usd)


def lines(cls: type[Operation], rows: int, total_usd: Decimal, facts: Facts) -> list[Line]:
    """What the whole batch does, from the facts kept with it or read again."""
    return [("Rows", str(rows)), *cls.of_many().lines(rows, total_usd, facts)]


def concerns(
    cls: type[Operation], rows: int, total_usd: Decimal, facts: Facts, *, left_out: Collection[int] = ()
) -> list[Concern]:
    """Of the batch as a whole and of its rows; `left_out` are the numbers of rows no longer asked for."""
    of_rows = batch_warnings.concerns(facts, left_out=left_out)
    return cls.of_many().concerns(rows, total_usd, facts, of_rows)
