"""Request bodies, decoded and checked against their table; each failure is a 400 BAD_REQUEST naming the field."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from sandbox.partner import codec, money
from sandbox.partner.http import bad_request
from sandbox.partner.schemas.fields import Field, Kind, Schema


def _is(kind: Kind, value: Any) -> bool:
    if kind == "number":
        return isinstance(value, int | Decimal) and not isinstance(value, bool)
    if kind == "integer":
        whole = isinstance(value, Decimal) and money.decimals(value) == 0
        return (isinstance(value, int) and not isinstance(value, bool)) or whole
    types: dict[str, type] = {"string": str, "boolean": bool, "array": list, "object": dict}
    return isinstance(value, types[kind])


_BOUNDS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    "minimum": (lambda value, bound: value >= bound, "must be at least {}"),
    "exclusiveMinimum": (lambda value, bound: value > bound, "must be greater than {}"),
    "maximum": (lambda value, bound: value <= bound, "must be at most {}"),
    "maxLength": (lambda value, bound: len(value) <= bound, "must be at most {} characters"),
    "maxItems": (lambda value, bound: len(value) <= bound, "must hold at most {} entries"),
    "x-simulator-maximum": (lambda value, bound: value <= bound, "must be at most {}"),
    "x-decimals": (lambda value, bound: money.decimals(Decimal(value)) <= bound, "has more than {} decimals"),
}


def check(table: Schema, value: Any) -> dict[str, Any]:
    """The fields of a request body that the table names; raises a 400 BAD_REQUEST naming the field.

    Fields the table does not name are ignored: the document refuses them on PUT limits only.
    """
    if not isinstance(value, dict):
        raise bad_request("The body must be a JSON object.")
    found: dict[str, Any] = {}
    unknown = sorted(set(value) - {item.name for item in table.fields}) if table.closed else []
    if unknown:
        raise bad_request(f"{unknown[0]} is not a field of this body.")
    for item in table.fields:
        if item.name not in value:
            if item.required:
                raise bad_request(f"{item.name} is required.")
            continue
        found[item.name] = _checked(item, value[item.name])
    return found


def _checked(item: Field, value: Any) -> Any:
    if item.lenient or (value is None and item.nullable):
        return value
    if not _is(item.kind, value):
        raise bad_request(f"{item.name} must be a JSON {item.kind}.")
    for name, bound in item.bounds.items():
        holds, words = _BOUNDS.get(name, (None, ""))
        if holds and not holds(value, bound):
            raise bad_request(f"{item.name} {words.format(bound)}.")
    if isinstance(item.of, Field):
        for entry in value:
            _checked(item.of, entry)
    return Decimal(value) if item.kind == "number" else int(value) if item.kind == "integer" else value


def read_body(table: Schema, raw: bytes | None) -> dict[str, Any]:
    """Decode and check a request body; every failure is a 400 BAD_REQUEST."""
    if raw is None:
        raise bad_request("The body is too large, or not what its headers say.")
    try:
        value = codec.decode(raw)
    except codec.OutOfRange as error:
        raise bad_request("The body holds a number that is out of range.") from error
    except codec.Malformed as error:
        raise bad_request("The body is not valid JSON.") from error
    return check(table, value)
