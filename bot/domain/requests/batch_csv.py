"""Reading a list of rows that a person uploaded or pasted as CSV. Pure.

RFC 4180 with what spreadsheets make of it: a byte-order mark, semicolons or tabs, any order of columns.
It is strict where a guess could move money: an unknown column, a missing one, a row with more or fewer
cells than the header is an error with its line number, and all errors are reported at once.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

MAX_BYTES = 200_000
# Approvals hold for 15 minutes, and so many rows leave the API's rate limit a share for people.
MAX_ROWS = 100
DELIMITERS = ",;\t"
_SHOWN = 40
_NOT_A_WORD = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Column:
    """A column that is known: the field it fills, the name shown for it, and other names it goes by."""

    field: str
    label: str
    names: frozenset[str]
    optional: bool

    @classmethod
    def of(cls, field: str, label: str, *others: str, optional: bool = False) -> Column:
        return cls(field, label, frozenset(map(header_key, (field, label, *others))), optional)


@dataclass(frozen=True, slots=True)
class Row:
    """One row as typed: texts by field. `line` is where it begins in the file, the header being line 1.

    `headers`: by field, what the file calls its column, as `header_key` compares names. `delimiter` is what stands
    between its cells.
    """

    line: int
    texts: Mapping[str, str]
    headers: Mapping[str, str] = field(default_factory=dict, compare=False)
    delimiter: str = field(default=",", compare=False)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at a line; line 0 is the file as a whole."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"Line {self.line}: {self.text}" if self.line else self.text


class Unreadable(ValueError):
    """The list cannot be taken as it is. `problems` are all of them, in the order of the file."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


def header_key(name: str) -> str:
    """A column's name as it is compared: `Amount (USD)` is `amount_usd`."""
    return _NOT_A_WORD.sub("_", name.strip().casefold()).strip("_")


def decode(content: bytes) -> str:
    """The text of an uploaded file: UTF-8, or UTF-16 with its mark. Raises `Unreadable`."""
    if len(content) > MAX_BYTES:
        raise _whole(f"The file has {len(content):,} bytes; at most {MAX_BYTES:,} are read.")
    is_wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        text = content.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError:
        raise _whole("This is not text in UTF-8. In a spreadsheet, save it as “CSV UTF-8”.") from None
    if "\0" in text:
        raise _whole("This isn't a CSV file but something binary. In a spreadsheet, save it as “CSV UTF-8”.")
    return text


def columns_named(text: str) -> frozenset[str]:
    """The names in the header row, compared by `header_key`, by the delimiter that finds most of them."""
    head = next((line for line in text.removeprefix("\ufeff").splitlines() if line.strip()), "")
    cells = max((head.split(delimiter) for delimiter in DELIMITERS), key=len)
    return frozenset(map(header_key, cells))


def read(text: str, columns: Sequence[Column]) -> list[Row]:
    """The rows under a header of these columns, in any order. Raises `Unreadable` with every problem."""
    text = text.removeprefix("\ufeff")
    if len(text.encode()) > MAX_BYTES:
        raise _whole(f"The list has more than {MAX_BYTES:,} bytes.")
    delimiter = _delimiter(text, columns)
    records = _records(text, delimiter)
    if not records:
        raise _whole(f"The list is empty. Its first line names the columns: {_names(columns)}.")
    _, header = records[0]
    fields = _fields(header, columns)
    if len(records) == 1:
        raise _whole("There is a header and no row under it.")
    if len(records) - 1 > MAX_ROWS:
        raise _whole(
            f"There are {len(records) - 1} rows; at most {MAX_ROWS} go into one request. Split the list."
        )
    headers = dict(zip(fields, map(header_key, header), strict=True))
    return [replace(row, headers=headers, delimiter=delimiter) for row in _rows(records[1:], fields)]


def _records(text: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """The records with the line each begins at; empty lines count as lines and are no records."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    found: list[tuple[int, list[str]]] = []
    begins = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                found.append((begins, cells))
            begins = reader.line_num + 1
    except csv.Error:
        text = "The quotes do not match: a cell that begins with a quote ends with one, and a quote inside is doubled."
        raise Unreadable([Problem(begins, text)]) from None
    return found


def _delimiter(text: str, columns: Sequence[Column]) -> str:
    """The one under which the header names most known columns; a comma where they are alike."""
    known = frozenset[str]().union(*(column.names for column in columns))
    head = next((line for line in text.splitlines() if line.strip()), "")

    def named(delimiter: str) -> int:
        return len({*map(header_key, head.split(delimiter))} & known)

    return max(DELIMITERS, key=named)


def _fields(header: Sequence[str], columns: Sequence[Column]) -> list[str]:
    """The field of each cell by its place. Raises `Unreadable` for unknown, doubled and missing columns."""
    problems: list[Problem] = []
    fields: list[str] = []
    for cell in header:
        column = next((c for c in columns if header_key(cell) in c.names), None)
        if column is None:
            name = cell.strip()[:_SHOWN]
            said = f"The column “{name}” is not known." if name else "A column has no name."
            problems.append(Problem(1, f"{said} Known are: {_names(columns)}."))
        elif column.field in fields:
            problems.append(Problem(1, f"The column {column.label} is there twice."))
        fields.append(column.field if column is not None else "")
    missing = [column.label for column in columns if not column.optional and column.field not in fields]
    if missing:
        problems.append(Problem(1, f"The header does not name: {', '.join(missing)}."))
    if problems:
        raise Unreadable(problems)
    return fields


def _rows(records: Sequence[tuple[int, list[str]]], fields: Sequence[str]) -> list[Row]:
    problems: list[Problem] = []
    rows: list[Row] = []
    for line, cells in records:
        if len(cells) != len(fields):
            problems.append(
                Problem(line, f"This row has {_counted(len(cells))}; the header has {_counted(len(fields))}.")
            )
            continue
        rows.append(Row(line, {name: cell.strip() for name, cell in zip(fields, cells, strict=True)}))
    if problems:
        raise Unreadable(problems)
    return rows


def _counted(cells: int) -> str:
    return "1 cell" if cells == 1 else f"{cells} cells"


def _names(columns: Sequence[Column]) -> str:
    return ", ".join(f"{c.label} (may be left out)" if c.optional else c.label for c in columns)


def _whole(text: str) -> Unreadable:
    return Unreadable([Problem(0, text)])
