"""Lines of a CSV file by RFC 4180, in which no cell runs as a formula, and every cell is in quotes.

A text that a spreadsheet would take for a formula gets an apostrophe before it, also where it would become a cell of
its own because the spreadsheet takes another character than the comma to part cells, as it does in many countries.
Numbers stay numbers: a number column is exempt from the apostrophe, and only where its text is a plain number.
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
_SIGNS = frozenset("=+-@＝＋－＠")
_UNSEEN_STARTS = ("\t", "\r", "\0")
# What parts cells where it is not the comma, and what may stand before a formula in a cell.
_PARTS, _BEFORE = frozenset(";|\t\r\n\0\v\f\x1c\x1d\x1e\x85\u2028\u2029"), frozenset(" \"'\u00a0")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")

Cell = str | int | Decimal | datetime | None


def line(cells: Iterable[Cell]) -> str:
    """One record with its CRLF. None is an empty cell; amounts in plain digits, times in UTC as ISO 8601."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\r\n", quoting=csv.QUOTE_ALL).writerow(
        [_text(cell) for cell in cells]
    )
    return written.getvalue()


def guarded(text: str) -> str:
    """Text that no spreadsheet runs. One apostrophe before each formula in it is ours, and nothing else is changed."""
    kept = ["'"] if text.startswith(_UNSEEN_STARTS) else []
    if _SIGNS.isdisjoint(text) and not kept:
        return text
    begins = True
    for character in text:
        if begins and character in _SIGNS:
            kept.append("'")
        kept.append(character)
        begins = character in _PARTS or (begins and character in _BEFORE)
    return "".join(kept)


def _text(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, datetime):
        return cell.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
    if isinstance(cell, Decimal | int):
        number = plain(cell) if isinstance(cell, Decimal) else str(cell)
        return number if _NUMBER.fullmatch(number) else guarded(number)
    return guarded(cell)
