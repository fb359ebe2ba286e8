"""CSV that no spreadsheet runs, and that every reader reads back."""

import csv
import io
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.domain.money import csv_export

# What a spreadsheet runs. Written out again, so that a start forgotten in the code is noticed here.
STARTS = ["=", "+", "-", "@", "\t", "\r", "\0", "＝", "＋", "－", "＠"]
TEXTS = st.one_of(
    st.text(max_size=60),
    st.tuples(st.sampled_from(STARTS), st.text(max_size=20)).map("".join),
)


def read_back(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


@given(st.lists(TEXTS, min_size=1, max_size=6))
@example(["=cmd|' /C calc'!A0", "＝1+1", "-1+1", 'a"b', "a,b\r\nc", "x;=cmd|' /C calc'!A1;y", 'x;"=1', "'=1"])
def test_no_text_begins_like_a_formula_and_all_of_it_comes_back(cells: list[str]) -> None:
    ((*found,),) = read_back(csv_export.line(cells))

    assert len(found) == len(cells)
    for cell, text in zip(found, cells, strict=True):
        assert not cell.startswith(tuple(STARTS))
        assert without_ours(cell, text) == text


def without_ours(cell: str, text: str) -> str:
    """The cell without the apostrophes that are not in the text: each stands directly before what could run."""
    kept, rest = [], text
    for n, character in enumerate(cell):
        if rest[:1] == character and not (character == "'" and cell[n + 1 : n + 2] == rest[:1] != "'"):
            rest = rest[1:]
            kept.append(character)
        else:
            assert character == "'", (cell, text)
            assert cell[n + 1] in STARTS, (cell, text)
    return "".join(kept)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.sampled_from(";\t|"))
@example(["shop", "x;=cmd|' /C calc'!A1;y"], ";")
@example(['x;"=1', 'x;""=1', "x; =1", "x;'=1"], ";")
@example(["\n=1", "a\n=1", "\r\n@x"], ";")
def test_no_cell_runs_where_another_character_parts_the_cells(cells: list[str], parts: str) -> None:
    """As a spreadsheet reads it in a country where the comma is in the numbers."""
    written = csv_export.line([text.replace("\0", "") for text in cells])

    for row in csv.reader(io.StringIO(written, newline=""), delimiter=parts):
        for cell in row:
            assert not cell.lstrip(' "').startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠")), (
                written,
                row,
            )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        *((same, same) for same in ("a-b@c", "a =1", "a'=1", "1-1", "a~=1", "~1", "x y", "", "'", " ")),
        *((f"{sign}1", f"'{sign}1") for sign in "=+-@＝＋－＠"),
        *((f"{start}1", f"'{start}1") for start in "\t\r\0"),
        *((f"a{part}-1", f"a{part}'-1") for part in ";|\t\r\n\0\v\f\x1c\x1d\x1e\x85\u2028\u2029"),
        *((f"{before}@x", f"{before}'@x") for before in (" ", '"', "'", "\u00a0", " \u00a0'\"")),
        ("--1", "'--1"),
        ("a;b-1;+1", "a;b-1;'+1"),
    ],
)
def test_an_apostrophe_stands_before_each_formula_and_nowhere_else(text: str, written: str) -> None:
    assert csv_export.guarded(text) == written


def test_every_cell_is_in_quotes() -> None:
    assert csv_export.line(["a", 1, Decimal("2.50"), None, "x;y"]) == '"a","1","2.50","","x;y"\r\n'


@given(st.lists(st.lists(TEXTS, min_size=2, max_size=4), min_size=1, max_size=5))
def test_records_stay_apart_whatever_stands_in_them(records: list[list[str]]) -> None:
    found = read_back("".join(map(csv_export.line, records)))

    assert [len(row) for row in found] == [len(row) for row in records]


@given(st.decimals(allow_nan=False, allow_infinity=False, places=10, min_value=-(10**12), max_value=10**12))
def test_amounts_stay_numbers_to_the_last_digit(amount: Decimal) -> None:
    ((cell,),) = read_back(csv_export.line([amount]))

    assert Decimal(cell) == amount
    assert "E" not in cell
    assert not cell.startswith("'")


def test_a_text_that_only_looks_like_a_negative_number_is_guarded() -> None:
    assert csv_export.line(["-5", Decimal(-5), -5]) == '"\'-5","-5","-5"\r\n'


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        csv_export.line([Decimal("NaN")])


def test_nothing_is_an_empty_cell_and_times_are_utc() -> None:
    at = datetime(2026, 3, 2, 9, 0, 0, 123000, tzinfo=UTC)

    assert csv_export.line([None, at, ""]) == '"","2026-03-02T09:00:00.123Z",""\r\n'
