"""JSON with exact numbers: fractions become Decimal and never pass through a float, in or out.

Why not the usual ways: the standard library gives floats and accepts NaN; pydantic's JSON parser goes
through a double and spoils amounts with many digits; most encoders write a Decimal as a string, which
the API refuses [POST topup: strings rejected].
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

# A number with more digits or a larger exponent than this is no amount of money. Refusing it here
# keeps `1e999999999` from being written out as a gigabyte of zeros by whoever formats it.
_MOST_DIGITS = 60
_MOST_EXPONENT = 40
# A number no longer than this, written without an exponent, keeps within both whatever its digits are.
_SURELY_WITHIN = min(_MOST_DIGITS, _MOST_EXPONENT)


# No text of this API holds a NUL, and databases refuse it; a literal backslash before `u0000` is refused
# along with it, which nobody will miss.
_NUL = b"\\u0000"


class BadJson(ValueError):
    """The bytes are no JSON we accept, or the value has no exact JSON form. Never quotes the content."""


def decode(raw: bytes) -> Any:
    """The JSON value in `raw`: whole numbers as int, all others as Decimal with their scale kept.

    Raises BadJson for anything else than one JSON value in UTF-8: NaN, Infinity, a byte order mark,
    an empty body, lone surrogates, NUL in a text, nesting beyond the recursion limit, numbers no amount
    can have.
    """
    if _NUL in raw:
        raise BadJson("NUL in a text")
    try:
        return _DECODER.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadJson(type(error).__name__) from None


def encode(value: Any) -> bytes:
    """`value` as compact JSON bytes, keys in their order, numbers in plain digits.

    Takes dicts with string keys, lists, tuples, str, int, bool, None and Decimal. Raises BadJson for
    floats, NaN, infinities, NUL in a text and every other type.
    """
    try:
        raw = _ENCODER.encode(_exact(value))
    except (UnicodeEncodeError, RecursionError) as error:
        raise BadJson(type(error).__name__) from None
    if _NUL in raw:
        raise BadJson("NUL in a text")
    return raw


def _number(text: str) -> Decimal:
    if len(text) <= _SURELY_WITHIN and "e" not in text and "E" not in text:
        return Decimal(text)  # every amount there is: not taken apart a second time
    try:
        number = Decimal(text)
    except InvalidOperation:  # an exponent of more digits than an exponent can have
        raise BadJson("a number out of all proportion") from None
    _, digits, exponent = number.as_tuple()
    if len(digits) > _MOST_DIGITS or not isinstance(exponent, int) or abs(exponent) > _MOST_EXPONENT:
        raise BadJson("a number out of all proportion")
    return number


def _exact(value: Any) -> Any:
    """The same value with each Decimal replaced by its digits; refuses what has no exact form."""
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise BadJson("not a finite number")
        return msgspec.Raw(format(value, "f").encode("ascii"))
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise BadJson("a name that is not a string")
        return {name: _exact(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [_exact(item) for item in value]
    raise BadJson(f"a {type(value).__name__} has no exact JSON form")


_DECODER: msgspec.json.Decoder[Any] = msgspec.json.Decoder(float_hook=_number)
_ENCODER = msgspec.json.Encoder()
