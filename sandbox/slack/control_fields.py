"""Reading the body of a control call: known fields of known kinds, and a sentence for anything else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.slack.errors import BadAct
from sandbox.slack.json_object import Json

Read = Callable[[Any], Any]


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


def text(value: Any) -> str:
    """A text as it is. Raises BadAct for anything else."""
    if not isinstance(value, str):
        raise BadAct(f"a text is wanted, not {value!r}")
    return value


def texts(value: Any) -> list[str]:
    """A list of texts. Raises BadAct for anything else."""
    if not isinstance(value, list):
        raise BadAct(f"a list of texts is wanted, not {value!r}")
    return [text(one) for one in value]


def listing(value: Any) -> list[Any]:
    """A list of anything. Raises BadAct for what is no list."""
    if not isinstance(value, list):
        raise BadAct(f"a list is wanted, not {value!r}")
    return value


def boolean(value: Any) -> bool:
    """True or false. Raises BadAct for anything else."""
    if not isinstance(value, bool):
        raise BadAct(f"true or false is wanted, not {value!r}")
    return value


def whole(value: Any) -> int:
    """A whole number of at least 1. Raises BadAct for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise BadAct(f"a whole number of at least 1 is wanted, not {value!r}")
    return value


def number(value: Any) -> float:
    """A number, as a float. Raises BadAct for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadAct(f"a number is wanted, not {value!r}")
    return float(value)


def one_of(*allowed: str) -> Read:
    """A reader that takes one of these texts and raises BadAct for any other value."""

    def read(value: Any) -> str:
        if value not in allowed:
            raise BadAct(f"{value!r} is not one of {', '.join(allowed)}")
        return str(value)

    return read
