"""Reading the body of a control call: known fields of known kinds, and a sentence for anything else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sandbox.slack.errors import BadAct
from sandbox.slack.json_object import Json

_LARGEST = 10.0**300


@dataclass(frozen=True)
class Read:
    """Takes the value of a field, or raises BadAct; `schema` says in JSON Schema what it takes."""

    take: Callable[[Any], Any]
    schema: Json

    def __call__(self, value: Any) -> Any:
        return self.take(value)


class Fields:
    """The fields of a call: those given here are required, those added by `optional` are not."""

    def __init__(self, **required: Read) -> None:
        self.needed = required
        self.allowed: dict[str, Read] = {}

    def optional(self, **allowed: Read) -> Fields:
        """The same fields with these as optional ones."""
        self.allowed = allowed
        return self


def take(body: Json, fields: Fields) -> Json:
    """The body, checked; a null for an optional field counts as not given. Raises BadAct."""
    for name in fields.needed:
        if body.get(name) is None:
            raise BadAct(f"{name} is missing")
    taken: Json = {}
    for name, value in body.items():
        read = fields.needed.get(name) or fields.allowed.get(name)
        if read is None:
            known = ", ".join(sorted({**fields.needed, **fields.allowed})) or "none"
            raise BadAct(f"unknown field {name!r} (known: {known})")
        if value is None:
            continue
        try:
            taken[name] = read(value)
        except BadAct as error:
            raise BadAct(f"{name}: {error}") from None
    return taken


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise BadAct(f"a text is wanted, not {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError:  # JSON can write half a character
        raise BadAct("the text has half a character in it") from None
    return value


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list):
        raise BadAct(f"a list of texts is wanted, not {value!r}")
    return [_text(one) for one in value]


def _listing(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise BadAct(f"a list is wanted, not {value!r}")
    return value


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadAct(f"true or false is wanted, not {value!r}")
    return value


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise BadAct(f"a whole number of at least 1 is wanted, not {value!r}")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadAct(f"a number is wanted, not {value!r}")
    if (
        not -_LARGEST <= value <= _LARGEST
    ):  # JSON as Python reads it has NaN and Infinity, and endless integers
        raise BadAct("the number is too large, or none")
    return float(value)


def _objects(value: Any) -> Json:
    if not isinstance(value, dict) or not all(isinstance(one, dict) for one in value.values()):
        raise BadAct("an object of objects is wanted")
    return value


text = Read(_text, {"type": "string"})
texts = Read(_texts, {"type": "array", "items": {"type": "string"}})
listing = Read(_listing, {"type": "array"})
boolean = Read(_boolean, {"type": "boolean"})
whole = Read(_whole, {"type": "integer", "minimum": 1})
number = Read(_number, {"type": "number"})
objects = Read(_objects, {"type": "object", "additionalProperties": {"type": "object"}})
anything = Read(lambda value: value, {})


def one_of(*allowed: str) -> Read:
    """A reader that takes one of these texts and raises BadAct for any other value."""

    def read(value: Any) -> str:
        if value not in allowed:
            raise BadAct(f"{value!r} is not one of {', '.join(allowed)}")
        return str(value)

    return Read(read, {"type": "string", "enum": list(allowed)})


def list_of(fields: Fields) -> Read:
    """A reader of a list of objects with these fields."""

    def read(value: Any) -> list[Json]:
        return [take(one if isinstance(one, dict) else {}, fields) for one in _listing(value)]

    return Read(read, {"type": "array", "items": schema_of(fields)})


def schema_of(fields: Fields) -> Json:
    """JSON Schema of a body with these fields; an optional one may be null."""
    optional = {
        name: {"anyOf": [read.schema, {"type": "null"}]} if read.schema else {}
        for name, read in fields.allowed.items()
    }
    written: Json = {
        "type": "object",
        "properties": {**{name: read.schema for name, read in fields.needed.items()}, **optional},
        "additionalProperties": False,
    }
    return {**written, **({"required": list(fields.needed)} if fields.needed else {})}
