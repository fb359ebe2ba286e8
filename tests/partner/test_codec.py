"""JSON of the Partner API: no digit is lost on the way in or out, and nothing inexact gets through."""

import json
from decimal import Decimal, InvalidOperation
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.partner.codec import BadJson, decode, encode


def texts(size: int) -> st.SearchStrategy[str]:
    """Any text the API could send: no lone surrogates, no NUL, and no backslash that would spell one."""
    return st.text(st.characters(codec="utf-8", exclude_characters="\0\\"), max_size=size)


amounts = st.decimals(min_value=-(10**15), max_value=10**15, places=10, allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | st.integers(-(10**18), 10**18) | amounts | texts(20)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts(8), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.rule("R027")
@given(amounts)
def test_ten_decimals_behind_fifteen_digits_survive_both_ways(amount_usd: Decimal) -> None:
    """R027."""
    assert decode(encode({"amount_usd": amount_usd})) == {"amount_usd": amount_usd}


def test_the_way_that_loses_digits_really_loses_them() -> None:
    """The control: with floats the same figure comes back changed, so the test above can fail."""
    assert Decimal(repr(json.loads("1234567.1234567891"))) != Decimal("1234567.1234567891")
    assert decode(b"1234567.1234567891") == Decimal("1234567.1234567891")


@given(values)
def test_what_is_written_is_json_and_reads_back_the_same(value: Any) -> None:
    raw = encode(value)

    assert decode(raw) == value
    json.loads(raw)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20))
def test_numbers_are_written_in_plain_digits(amount: Decimal) -> None:
    assert not set(encode(amount)) - set(b"-0123456789.")


@pytest.mark.rule("R029")
def test_a_decimal_is_written_as_a_number_with_its_scale() -> None:
    """R029: a string would be refused."""
    assert encode({"amount_usd": Decimal("25.00")}) == b'{"amount_usd":25.00}'
    assert encode([Decimal("1E+2"), Decimal("1E-10"), True, 3]) == b"[100,0.0000000001,true,3]"


@pytest.mark.parametrize(
    "value",
    [
        0.1,
        [1.0],
        {"a": {"b": 2.5}},
        Decimal("NaN"),
        Decimal("Infinity"),
        b"x",
        {1: 2},
        {"a": object()},
        "\ud800",
        "a\0b",
    ],
)
def test_what_has_no_exact_form_is_not_written(value: Any) -> None:
    with pytest.raises(BadJson):
        encode(value)


@pytest.mark.parametrize(
    "raw",
    [b"", b"NaN", b"Infinity", b"-Infinity", b"01", b"1.", b"{", b"{} {}", b"'a'", b'{"a":NaN}',
     b'\xef\xbb\xbf{}', b'"\xff"', b'"\\ud800"', b'"a\\u0000"', b"[" * 100_000, b"1e999999999",
     b"0.7e-99999999999999999999", b"-1e400", b"1e-400",
     b"9" * 5000, b"0." + b"1" * 100],
)  # fmt: skip
def test_what_is_no_json_or_no_possible_amount_is_refused(raw: bytes) -> None:
    with pytest.raises(BadJson):
        decode(raw)


def _digits(size: int) -> st.SearchStrategy[str]:
    return st.text("0123456789", max_size=size)


# Numbers as JSON may write them: some ordinary, some as long as an amount may be, some longer.
_whole = st.just("0") | st.builds(str.__add__, st.sampled_from("123456789"), _digits(5) | _digits(70))
_exponents = st.just("") | st.builds(
    lambda letter, sign, power: f"{letter}{sign}{power}",
    st.sampled_from("eE"), st.sampled_from(["", "+", "-"]), st.integers(0, 90) | st.integers(0, 10**20),
)  # fmt: skip
_fractions = st.just("") | st.builds(
    lambda first, more: f".{first}{more}", st.sampled_from("05"), _digits(70)
)
_written = st.builds(
    lambda *parts: "".join(parts), st.sampled_from(["", "-"]), _whole, _fractions, _exponents
).filter(lambda text: set(text) & set(".eE"))


@settings(max_examples=500)
@given(_written)
def test_a_fraction_is_read_to_the_digit_or_refused_for_its_size(text: str) -> None:
    """At most 60 digits and 40 places, before the point or behind it, however it is written."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    _, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int) or len(digits) > 60 or abs(exponent) > 40:
        with pytest.raises(BadJson):
            decode(f'{{"balance_usd":{text}}}'.encode())
        return

    (read,) = decode(f'{{"balance_usd":{text}}}'.encode()).values()

    assert type(read) is Decimal
    assert read.as_tuple() == number.as_tuple()


def test_the_longest_number_that_is_read_and_the_first_that_is_not() -> None:
    assert decode(b"0." + b"1" * 40) == Decimal("0." + "1" * 40)
    with pytest.raises(BadJson):
        decode(b"0." + b"1" * 41)
    with pytest.raises(BadJson):
        decode(b"1e41")


def test_an_error_never_quotes_what_it_could_not_read() -> None:
    with pytest.raises(BadJson) as refused:
        decode(b'{"phone": "5551234567", ')

    assert "555" not in str(refused.value)
    assert refused.value.__cause__ is None
