"""What is wrong with settings, in sentences: `people.approvers[2] is 'bob', which is not an "@group", …`.

A validator raises ValueError with what follows the name of the setting. What pydantic finds by itself is put
into the same form here.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, InitErrorDetails

from bot.config.forms import Form

Where = tuple[str | int, ...]


class Unusable(Exception):
    """`problems` are sentences, one each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


class ConfigError(Unusable):
    """The file cannot be used."""


class SettingsError(Unusable):
    """The environment cannot be used."""


def refuse(problems: Iterable[tuple[Where, str]]) -> None:
    """Raise all of these, each a place below the value being validated and a phrase; nothing if there are none."""
    found = [
        InitErrorDetails(type="value_error", loc=where, input=None, ctx={"error": ValueError(phrase)})
        for where, phrase in problems
    ]
    if found:
        raise ValidationError.from_exception_data("settings", found)


def sentences(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Every problem that pydantic found in `model`: the setting's name, what is wrong with it, what is meant."""
    found = error.errors(include_url=False, include_input=False)
    return [f"{_name(one['loc'])} {_phrase(one, model)}" for one in found]


def unknown(name: str, known: Iterable[str], *, prefix: str = "") -> str:
    """The name that was probably meant, as a sentence with a space before it; empty where none is near.

    `prefix` is not compared: that two names begin with it does not make them near.
    """
    rests = [one.removeprefix(prefix) for one in known if one.startswith(prefix)]
    near = difflib.get_close_matches(name.removeprefix(prefix), rests, n=1)
    return f" Did you mean {prefix}{near[0]}?" if near else ""


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that an annotation names, such as `Tier` in `tuple[Tier, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from models_in(inner)


def fields_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Its fields by the names that people write."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _name(where: Where) -> str:
    """`("people", "delegations", 0, "to")` → `people.delegations[1].to`"""
    parts = (f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in where)
    return "".join(parts).removeprefix(".")


def _phrase(error: ErrorDetails, model: type[BaseModel]) -> str:
    context: dict[str, Any] = error.get("ctx", {})
    match error["type"]:
        case "value_error":
            return str(context["error"])
        case "missing":
            return _needed(error["loc"], model)
        case "extra_forbidden":
            *parent, name = error["loc"]
            return f"is not known.{unknown(str(name), fields_of(_at(parent, model)))}"
        case "model_type":
            return "must be a table."
        case "tuple_type":
            return "must be a list."
        case "string_type":
            return "must be a text."
        case "int_type":
            return "must be a whole number."
        case "bool_type":
            return "must be true or false."
        case "greater_than_equal":
            return f"must be at least {context['ge']}."
        case "literal_error":
            return f"must be {context['expected'].replace(chr(39), '')}."
        case _:
            return f"cannot be used: {error['msg']}."


def _needed(where: Where, model: type[BaseModel]) -> str:
    *parent, name = where
    field = fields_of(_at(parent, model))[str(name)]
    form = next((part for part in field.metadata if isinstance(part, Form)), None)
    return f"is needed: {form.what}." if form else "is needed."


def _at(where: Iterable[str | int], model: type[BaseModel]) -> type[BaseModel]:
    """The model of the table at this place in the file."""
    for part in where:
        if isinstance(part, str):
            model = next(models_in(fields_of(model)[part].annotation))
    return model
