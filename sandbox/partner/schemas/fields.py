"""Tables of fields: the names, kinds and bounds that a body or an answer is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

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
    of: Schema | Field | None = None
    kept: bool = False
    lenient: bool = False
    bounds: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Schema:
    """`closed`: a body with a field that is not named here is refused; `filled`: one without any field."""

    name: str
    fields: tuple[Field, ...]
    closed: bool = False
    filled: bool = False

    def __getitem__(self, name: str) -> Field:
        return next(item for item in self.fields if item.name == name)


def schema(name: str, *fields: Field, closed: bool = False, filled: bool = False) -> Schema:
    """A table of fields under the name it has in the served OpenAPI description."""
    return Schema(name, fields, closed, filled)


def string(name: str, **options: Any) -> Field:
    """A field of text. Options are those of `Field` and keywords of JSON Schema."""
    return _field(name, "string", options)


def number(name: str, **options: Any) -> Field:
    """A field that is a JSON number, read as an exact Decimal."""
    return _field(name, "number", options)


def integer(name: str, **options: Any) -> Field:
    """A field that is a whole JSON number."""
    return _field(name, "integer", options)


def boolean(name: str, **options: Any) -> Field:
    """A field that is true or false."""
    return _field(name, "boolean", options)


def array(name: str, of: Schema | Field, **options: Any) -> Field:
    """A field that is a list of objects of one table, or of plain values."""
    return _field(name, "array", {"of": of, **options})


def nested(name: str, of: Schema, **options: Any) -> Field:
    """A field that is an object of its own table."""
    return _field(name, "object", {"of": of, **options})


def moment(name: str, **options: Any) -> Field:
    """A field that is a date and time in ISO 8601 with an offset."""
    return _field(name, "string", {"format": "date-time", **options})


def _field(name: str, kind: Kind, options: dict[str, Any]) -> Field:
    own = {"nullable", "required", "source", "of", "kept", "lenient"}
    bounds = {key: value for key, value in options.items() if key not in own}
    return Field(name, kind, bounds=bounds, **{key: options[key] for key in own & options.keys()})
