"""JSON in and out with exact numbers: a number on the wire is an int or a Decimal, never a float."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec

from sandbox.partner.money import plain

_LARGEST_EXPONENT = 400  # a little beyond a double; larger numbers cannot be written out


def _number(text: str) -> Decimal:
    value = Decimal(text)
    if abs(value.adjusted()) > _LARGEST_EXPONENT:
        raise ValueError("a number is out of range")
    return value


_DECODER = msgspec.json.Decoder(float_hook=_number)
_ENCODER = msgspec.json.Encoder(decimal_format="number")


class Malformed(ValueError):
    """The bytes are not JSON (NaN, Infinity, a BOM and an empty body included)."""


class OutOfRange(Malformed):
    """The bytes are JSON with a number that no amount, count or id needs."""


def decode(raw: bytes) -> Any:
    """Decode a body; raises Malformed."""
    try:
        return _DECODER.decode(raw)
    except msgspec.ValidationError as error:  # of a number: nothing else is validated here
        raise OutOfRange(str(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, RecursionError, ArithmeticError) as error:
        raise Malformed(str(error)) from error


def encode(value: Any) -> bytes:
    """Encode dicts, lists, text, numbers and Decimals; Decimals become plain JSON numbers."""
    return _ENCODER.encode(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return plain(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def stamp(moment: datetime) -> str:
    """ISO 8601 UTC with milliseconds and Z (U77)."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def moment(text: str) -> datetime:
    """The aware UTC datetime of an ISO 8601 text with an offset or Z; raises ValueError."""
    parsed = datetime.fromisoformat(text)
    if parsed.tzinfo is None:
        raise ValueError(f"{text} has no offset")
    return parsed.astimezone(UTC)
