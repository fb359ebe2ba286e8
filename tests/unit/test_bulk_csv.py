"""Lists of rows as people make them: what is read, and what is refused by its line."""

from __future__ import annotations

import csv
import io
import random
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.requests import MAX_ROWS, Column, Unreadable
from bot.domain.requests.batch_csv import MAX_BYTES, Problem, Row, columns_named, decode, read

CARD = Column.of("card", "Card", "last4")
AMOUNT = Column.of("amount_usd", "Amount (USD)", "amount")
REF = Column.of("partner_ref", "Partner reference", optional=True)
COLUMNS = (CARD, AMOUNT, REF)


def shown(text: str) -> list[str]:
    with pytest.raises(Unreadable) as refusal:
        read(text, COLUMNS)
    return [str(problem) for problem in refusal.value.problems]


@pytest.mark.parametrize(
    "text",
    [
        "card,amount\n4242,50\n",
        "card,amount\r\n4242,50\r\n",
        "\ufeffcard,amount\n4242,50",
        "Amount (USD);CARD\n50;4242",
        "amount_usd\tlast4\n50\t4242\n\n",
        '"Card","Amount"\n"4242"," 50 "',
        "\n\n card , amount \n4242,50\n,\n",
    ],
)
def test_the_same_list_is_read_from_every_spelling(text: str) -> None:
    assert [dict(row.texts) for row in read(text, COLUMNS)] == [{"card": "4242", "amount_usd": "50"}]


def test_a_row_knows_the_line_it_begins_at_whatever_stands_in_its_cells() -> None:
    text = 'card,amount\n"A\nB",1\n\nC,"2"\n'

    assert read(text, COLUMNS) == [
        Row(2, {"card": "A\nB", "amount_usd": "1"}),
        Row(5, {"card": "C", "amount_usd": "2"}),
    ]


def test_quotes_hold_delimiters_and_quotes() -> None:
    assert read('card,amount\n"A, ""B""","1,250.00"', COLUMNS)[0].texts == {
        "card": 'A, "B"',
        "amount_usd": "1,250.00",
    }


def test_every_fault_of_the_header_is_reported_at_once() -> None:
    assert shown("card,colour,card\nx,y,z") == [
        "Line 1: The column “colour” is not known. Known are: Card, Amount (USD), Partner reference (may be left out).",
        "Line 1: The column Card is there twice.",
        "Line 1: The header does not name: Amount (USD).",
    ]


def test_every_row_with_cells_too_many_or_too_few_is_reported_by_its_line() -> None:
    assert shown("card,amount\na,1\nb\nc,1,2\nd,4") == [
        "Line 3: This row has 1 cell; the header has 2 cells.",
        "Line 4: This row has 3 cells; the header has 2 cells.",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "The list is empty"),
        ("card,amount\n\n", "no row under it"),
        ('card,amount\n"a,1', "The quotes do not match"),
        ('card,amount\n"a"b,1', "The quotes do not match"),
        ("card,amount\n" + "a,1\n" * (MAX_ROWS + 1), f"There are {MAX_ROWS + 1} rows; at most {MAX_ROWS}"),
    ],
)
def test_what_is_no_list_is_refused_whole(text: str, said: str) -> None:
    assert said in shown(text)[0]


def test_a_column_goes_by_its_field_its_label_and_its_other_names() -> None:
    column = Column.of("amount_usd", "Sum", "Wanted (USD)")
    for name in ("amount_usd", "Amount USD", "SUM", "wanted_usd"):
        assert read(f"{name}\n50", [column])[0].texts == {"amount_usd": "50"}
    assert Column.of("a", "A").optional is False


def test_rows_are_alike_whatever_parts_them_and_know_what_did() -> None:
    (row,) = read("card;amount\n4242;50", COLUMNS)
    assert row == Row(2, {"card": "4242", "amount_usd": "50"})
    assert (row.delimiter, row.headers) == (";", {"card": "card", "amount_usd": "amount"})
    assert Row(1, {}).delimiter == ","
    assert "not known" in shown("card~amount\n4242~50")[0]


def test_a_refusal_says_every_problem_on_a_line_of_its_own() -> None:
    assert str(Unreadable([Problem(3, "one"), Problem(0, "two")])) == "Line 3: one\ntwo"
    assert shown("")[0].startswith("The list is empty.")
    assert shown('"card,amount\na,1')[0].startswith("Line 1: The quotes do not match")


def test_of_a_long_name_of_a_column_forty_signs_are_shown() -> None:
    assert f"“{'x' * 40}”" in shown(f"{'x' * 60},card,amount\n1,2,3")[0]


def test_a_mark_before_the_first_line_is_no_part_of_it() -> None:
    assert columns_named("\ufeff\ncard,amount\n1,2") == {"card", "amount"}
    assert read('\ufeff"Amount, USD",card\n1,2', COLUMNS)[0].texts == {"amount_usd": "1", "card": "2"}


def test_a_list_of_the_most_bytes_is_read_and_of_one_more_is_not() -> None:
    assert (MAX_BYTES, MAX_ROWS) == (200_000, 100)
    most = "card,amount\n" + f"{'é' * 40_000},1\n" * 2
    most += f"{'a' * (MAX_BYTES - len(most.encode()) - 3)},1\n"
    assert (len(read(most, COLUMNS)), decode(most.encode())) == (3, most)
    assert shown(f"{most} ") == ["The list has more than 200,000 bytes."]


def test_a_list_of_the_most_rows_is_read() -> None:
    assert len(read("card,amount\n" + "a,1\n" * MAX_ROWS, COLUMNS)) == MAX_ROWS


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("naïve".encode("cp1252"), "not text in UTF-8"),
        (b"a\x00b", "something binary"),
        (b"x" * 200_001, "at most 200,000"),
    ],
)
def test_what_is_no_text_is_refused_in_words(content: bytes, said: str) -> None:
    with pytest.raises(Unreadable, match=said):
        decode(content)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_what_spreadsheets_save_is_text(encoding: str) -> None:
    assert decode("card,äöü".encode(encoding)) == "card,äöü"
    assert decode("\ufeffcard,äöü".encode("utf-16-be")) == "card,äöü"


def test_the_header_tells_what_a_list_is_about() -> None:
    assert columns_named('\ufeff"Card";Amount (USD)\n1;2') == {"card", "amount_usd"}


CELLS = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=12)


@settings(max_examples=150)
@given(
    rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8),
    delimiter=st.sampled_from(",;\t"),
    swapped=st.booleans(),
)
def test_whatever_a_spreadsheet_writes_is_read_back_as_it_was(
    rows: list[tuple[str, str]], delimiter: str, swapped: bool
) -> None:
    written = io.StringIO()
    writer = csv.writer(written, delimiter=delimiter, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    order = (1, 0) if swapped else (0, 1)
    writer.writerow([("card", "amount")[n] for n in order])
    writer.writerows([[row[n] for n in order] for row in rows])
    kept = [{"card": c.strip(), "amount_usd": a.strip()} for c, a in rows if c.strip() or a.strip()]

    if not kept:
        assert "no row" in shown(written.getvalue())[0]
    else:
        assert [dict(row.texts) for row in read(written.getvalue(), COLUMNS)] == kept


@settings(max_examples=150)
@given(text=st.text(max_size=300), seed=st.integers(0, 99))
def test_no_text_makes_it_crash(text: str, seed: int) -> None:
    noise = list("card,amount\n" + text)
    random.Random(seed).shuffle(noise)
    for tried in (text, "card,amount\n" + text, "".join(noise)):
        with suppress(Unreadable):
            assert read(tried, COLUMNS)
