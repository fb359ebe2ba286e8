"""Amounts: what a person may type, what they read, and sums that lose nothing."""

from decimal import Decimal, Inexact, InvalidOperation

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.money import InvalidAmount, exact_sum, format_usd, parse_usd, plain
from bot.domain.money.amounts import with_point

ACCEPTED = {
    "25": "25", "25.5": "25.5", "25.00": "25.00", "0.01": "0.01", "$25.00": "25.00", " 7 ": "7",
    "1,250.00": "1250.00", "1,250": "1250", "$1,234,567.89": "1234567.89", "1000000000": "1000000000",
    "1,000,000,000.00": "1000000000",
}  # fmt: skip

REFUSED = {
    "": "Enter an amount", "   ": "Enter an amount",
    "0": "more than zero", "0.00": "more than zero", "-1": "more than zero", "−1": "more than zero",
    "(5)": "more than zero", "$-5": "more than zero",
    "0.001": "two decimals", "25.999": "two decimals",
    "1e3": "without an exponent", "1E+2": "without an exponent",
    "1,50": "comma", "12,34.00": "comma", "1,2345": "comma", "1.250,00": "comma", "0,5": "comma",
    "1000000000.01": "at most", "1000000000000": "at most", "1,000,000,001": "at most",
    "twenty": "plain dollars", "NaN": "plain dollars", "Infinity": "plain dollars", "0x10": "plain dollars",
    "1_000": "plain dollars", "٢٥": "plain dollars", "２５": "plain dollars", "25 USD": "plain dollars",
    "+5": "plain dollars", "5.": "plain dollars", ".5": "plain dollars", "007": "plain dollars",
    "25\n": "plain dollars", "$": "plain dollars", "$$5": "plain dollars", "1.2.3": "plain dollars",
    "1 000": "plain dollars", "9" * 5000: "too long",
}  # fmt: skip


@pytest.mark.parametrize(("typed", "amount_usd"), ACCEPTED.items())
def test_plain_dollars_are_read_exactly(typed: str, amount_usd: str) -> None:
    assert parse_usd(typed) == Decimal(amount_usd)


@pytest.mark.parametrize(("typed", "reason"), REFUSED.items())
def test_everything_else_is_refused_with_a_sentence_and_an_example(typed: str, reason: str) -> None:
    with pytest.raises(InvalidAmount) as refused:
        parse_usd(typed)

    sentence = str(refused.value)
    assert reason in sentence
    assert "for example" in sentence
    assert sentence.endswith(".")
    assert len(sentence) < 150


def test_an_amount_without_cents_has_the_digits_that_requests_were_stored_with() -> None:
    """Bodies and digests are made of the text."""
    assert [str(parse_usd(typed)) for typed in ("25", "25.5", "25.50")] == ["25.0", "25.5", "25.50"]


def test_what_is_long_and_what_is_too_long_to_be_read_is_said() -> None:
    for typed, said in (("9" * 40, "at most"), ("x" * 40, "plain dollars"), ("9" * 41, "too long")):
        with pytest.raises(InvalidAmount, match=said):
            parse_usd(typed)


#: Of a file with semicolons: what is typed, and what is read for it; where nothing is, it comes back as it is.
WITH_A_COMMA = {
    "15,50": "15.50", " 15,5 ": "15.5", "$15,50": "$15.50", "0,5": "0.5", "1.250,00": "1250.00",
    "1.234.567,89": "1234567.89", "1234,567": "1234.567", "1.234,567": "1234.567", "12,3456": "12.3456",
    "123,4567": "123.4567",
    **{same: same for same in ("15.50", " 15 ", "1,250.00", "12.34,00", "01,5", ",5", "5,", "-1,5", "x", "")},
}  # fmt: skip


@pytest.mark.parametrize(("typed", "read"), WITH_A_COMMA.items())
def test_a_comma_before_the_cents_becomes_a_point_and_nothing_else_changes(typed: str, read: str) -> None:
    assert with_point(typed) == read


@pytest.mark.parametrize("typed", ["1,250", "12,345", "123,456", "$999,000", "0,001"])
def test_three_digits_after_the_comma_are_asked_about_where_they_may_be_thousands(typed: str) -> None:
    with pytest.raises(InvalidAmount, match="read in two ways"):
        with_point(typed)


@given(st.integers(min_value=1, max_value=10**11))
def test_every_amount_in_cents_survives_being_written_and_read(cents: int) -> None:
    amount_usd = Decimal(cents).scaleb(-2)

    assert parse_usd(plain(amount_usd)) == amount_usd
    assert parse_usd(format_usd(amount_usd).removesuffix(" USD")) == amount_usd


@given(st.text(max_size=60))
def test_no_text_at_all_gives_anything_but_an_amount_in_range_or_a_sentence(typed: str) -> None:
    try:
        amount_usd = parse_usd(typed)
    except InvalidAmount:
        return
    assert 0 < amount_usd <= 10**9
    assert amount_usd == amount_usd.quantize(Decimal("0.01"))


@pytest.mark.parametrize(
    ("amount_usd", "shown"),
    [
        (None, "unknown"),
        (Decimal("1234.5"), "1,234.50 USD"),
        (Decimal(0), "0.00 USD"),
        (Decimal("-0.00"), "0.00 USD"),
        (Decimal("-12.3"), "-12.30 USD"),
        (Decimal("1E+3"), "1,000.00 USD"),
        (Decimal("0.1234567891"), "0.1234567891 USD"),
        (Decimal("10.50000"), "10.50 USD"),
    ],
)
def test_an_amount_is_shown_in_full_and_an_unknown_one_never_as_zero(
    amount_usd: Decimal | None, shown: str
) -> None:
    assert format_usd(amount_usd) == shown


def test_plain_writes_no_exponent_and_refuses_what_is_no_number() -> None:
    assert plain(Decimal("1E+2")) == "100"
    assert plain(Decimal("1E-10")) == "0.0000000001"
    assert plain(Decimal("25.00")) == "25.00"
    for strange in ("NaN", "Infinity", "-Infinity"):
        with pytest.raises(ValueError, match="finite"):
            plain(Decimal(strange))


def test_a_sum_keeps_the_tenth_decimal_behind_twenty_digits() -> None:
    large, small = Decimal(12345678901234567890), Decimal("0.0000000001")

    assert exact_sum([large, small, -large]) == small


def test_a_sum_that_would_lose_a_digit_raises() -> None:
    with pytest.raises(Inexact):
        exact_sum([Decimal(10**49), Decimal("0.0000000001")])


def test_a_sum_has_fifty_digits_and_no_more() -> None:
    assert exact_sum([Decimal(10**49), Decimal(1)]) == Decimal(10**49 + 1)
    with pytest.raises(Inexact):
        exact_sum([Decimal(10**50), Decimal(1)])


def test_what_is_no_number_is_no_sum() -> None:
    with pytest.raises(InvalidOperation):
        exact_sum([Decimal("Infinity"), Decimal("-Infinity")])


def test_a_float_cannot_enter_a_sum() -> None:
    with pytest.raises(TypeError):
        exact_sum([Decimal(1), 0.1])  # type: ignore[list-item]  # the mistake under test
