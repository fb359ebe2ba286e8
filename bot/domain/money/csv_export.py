"""Lines of a CSV file by RFC 4180, in which no cell runs as a formula.

A text that a spreadsheet would take for a formula gets an apostrophe before it. Numbers stay numbers: a
number column is exempt from the apostrophe, and only where its text is a plain number.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal

from bot.domain.money.amounts import plain

# What makes a spreadsheet run a cell, the full-width forms included.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\0", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")

Cell = str | int | Decimal | datetime | None


def line(cells: Iterable[Cell]) -> str:
    """One record with its CRLF. None is an empty cell; amounts in plain digits, times in UTC as ISO 8601."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\r\n").writerow([_text(cell) for cell in cells])
    return written.getvalue()


def guarded(text: str) -> str:
    """Text that no spreadsheet runs."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def _text(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, datetime):
        return cell.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
    if isinstance(cell, Decimal | int):
        number = plain(cell) if isinstance(cell, Decimal) else str(cell)
        return number if _NUMBER.fullmatch(number) else guarded(number)
    return guarded(cell)
