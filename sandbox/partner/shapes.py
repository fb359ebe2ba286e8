"""Tables of fields: what a body must look like, and what an answer looks like.

One table serves three uses: request bodies are checked with it, the served OpenAPI is written from
it, and the answer profiles (`documented`, `scrambled`) are cut from it by each field's source.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from sandbox.partner import codec, money
from sandbox.partner.http import bad_request

Kind = Literal["string", "number", "integer", "boolean", "array", "object"]
Source = Literal["spec", "invented"]


@dataclass(frozen=True)
class Field:
    """`bounds` holds JSON Schema keywords; those that `_BOUNDS` knows are enforced on requests.

    `kept` marks an invented envelope key without which an answer would be empty: the
    `documented` profile leaves it in. A `lenient` field is described, but any value is let in.
    """

    name: str
    kind: Kind
    nullable: bool = False
    required: bool = True
    source: Source = "spec"
    of: Shape | Field | None = None
    kept: bool = False
    lenient: bool = False
    bounds: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Shape:
    """`closed`: a body with a field that is not named here is refused."""

    name: str
    fields: tuple[Field, ...]
    closed: bool = False

    def __getitem__(self, name: str) -> Field:
        return next(item for item in self.fields if item.name == name)


def shape(name: str, *fields: Field, closed: bool = False) -> Shape:
    return Shape(name, fields, closed)


def string(name: str, **options: Any) -> Field:
    return _field(name, "string", options)


def number(name: str, **options: Any) -> Field:
    return _field(name, "number", options)


def integer(name: str, **options: Any) -> Field:
    return _field(name, "integer", options)


def boolean(name: str, **options: Any) -> Field:
    return _field(name, "boolean", options)


def array(name: str, of: Shape | Field, **options: Any) -> Field:
    return _field(name, "array", {"of": of, **options})


def nested(name: str, of: Shape, **options: Any) -> Field:
    return _field(name, "object", {"of": of, **options})


def moment(name: str, **options: Any) -> Field:
    return _field(name, "string", {"format": "date-time", **options})


def _field(name: str, kind: Kind, options: dict[str, Any]) -> Field:
    own = {"nullable", "required", "source", "of", "kept", "lenient"}
    bounds = {key: value for key, value in options.items() if key not in own}
    return Field(name, kind, bounds=bounds, **{key: options[key] for key in own & options.keys()})


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
    "x-decimals": (lambda value, bound: money.decimals(Decimal(value)) <= bound, "has more than {} decimals"),
}


def check(table: Shape, value: Any) -> dict[str, Any]:
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


def read_body(table: Shape, raw: bytes | None) -> dict[str, Any]:
    """Decode and check a request body; every failure is a 400 BAD_REQUEST."""
    if raw is None:
        raise bad_request("The body is too large, or not what its headers say.")
    try:
        value = codec.decode(raw)
    except codec.Malformed as error:
        raise bad_request("The body is not valid JSON.") from error
    return check(table, value)


def project(table: Shape, data: dict[str, Any], profile: str) -> dict[str, Any]:
    """The answer as a profile shows it: all of it, documented keys only, or invented keys renamed."""
    if profile == "plausible" or not table.fields:  # an object without a table is shown as it is
        return data
    shown: dict[str, Any] = {}
    for item in table.fields:
        if item.name not in data:
            continue
        name = item.name
        if item.source == "invented":
            if profile == "documented" and not item.kept:
                continue
            name = scrambled(name) if profile == "scrambled" else name
        shown[name] = _projected(item.of, data[item.name], profile)
    return shown


def _projected(of: Shape | Field | None, value: Any, profile: str) -> Any:
    if not isinstance(of, Shape) or value is None:
        return value
    if isinstance(value, list):
        return [project(of, entry, profile) for entry in value]
    return project(of, value, profile)


def scrambled(name: str) -> str:
    """An invented key under a name nobody could guess, the same each time."""
    return "k" + hashlib.sha256(name.encode()).hexdigest()[:9]


def schema(table: Shape, of: Callable[[Shape], dict[str, Any]]) -> dict[str, Any]:
    """JSON Schema of a table; `of` says how another table is referred to."""
    required = [item.name for item in table.fields if item.required]
    properties = {item.name: field_schema(item, of) for item in table.fields}
    written: dict[str, Any] = {"type": "object", "properties": properties}
    if table.closed:
        written["additionalProperties"] = False
    return {**written, **({"required": required} if required else {})}


def field_schema(item: Field, of: Callable[[Shape], dict[str, Any]]) -> dict[str, Any]:
    """JSON Schema of one field, with where it comes from."""
    written: dict[str, Any] = {"x-source": item.source}
    if isinstance(item.of, Shape) and item.kind == "object":
        reference = of(item.of)
        return {**written, **({"anyOf": [reference, {"type": "null"}]} if item.nullable else reference)}
    written["type"] = [item.kind, "null"] if item.nullable else item.kind
    if item.kind == "array" and item.of is not None:
        written["items"] = of(item.of) if isinstance(item.of, Shape) else _entry(item.of, of)
    return {**written, **item.bounds}


def _entry(item: Field, of: Callable[[Shape], dict[str, Any]]) -> dict[str, Any]:
    return {key: value for key, value in field_schema(item, of).items() if key != "x-source"}


def names(fields: Sequence[Field]) -> list[str]:
    return [item.name for item in fields]
