"""The form of what goes out and of what comes back, as data worked out from the models."""

import types
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Union, get_args, get_origin

from bot.partner import models
from bot.partner.models import events as typed
from bot.partner.secret import Secret

_NUMBER = frozenset({"number", "integer"})
_KINDS: Mapping[Any, frozenset[str]] = {
    str: frozenset({"string"}),
    Secret: frozenset({"string"}),
    datetime: frozenset({"string"}),
    bool: frozenset({"boolean"}),
    int: _NUMBER,
    Decimal: _NUMBER,
}
_OBJECT = frozenset({"object"})
_ARRAY = frozenset({"array"})


@dataclass(frozen=True, slots=True)
class Shape:
    """A JSON value as the client takes it: of one of `kinds`, which are names of JSON Schema.

    `fields` are those of an object, `items` the rows of a list, `values` the words known for a text.
    An object whose `fields` are None may hold anything.
    """

    kinds: frozenset[str]
    required: bool = True
    nullable: bool = False
    values: tuple[str, ...] = ()
    fields: Mapping[str, "Shape"] | None = None
    items: "Shape | None" = None


def shape_of(model: type[models.Answer]) -> Shape:
    """The form an answer must have to be read as this model, by its names on the wire."""
    fields: dict[str, Shape] = {}
    for name, info in model.model_fields.items():
        wire_name = info.validation_alias if isinstance(info.validation_alias, str) else name
        words = next((item.values for item in info.metadata if isinstance(item, models.Known)), ())
        if name not in ("raw", *_OURS.get(model, ())):
            fields[wire_name] = replace(_shape(info.annotation, words), required=info.is_required())
    return Shape(_OBJECT, fields=fields)


# Fields that we fill ourselves.
_OURS: Mapping[type[models.Answer], tuple[str, ...]] = {typed.ThreeDsChallenge: ("code",)}


def _shape(annotation: Any, words: tuple[str, ...]) -> Shape:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _shape(arguments[0], words)
    if origin in (Union, types.UnionType):
        (inner,) = (item for item in arguments if item is not type(None))
        return replace(_shape(inner, words), nullable=True)
    if origin is tuple:
        return Shape(_ARRAY, items=_shape(arguments[0], words))
    if origin is not None:
        return Shape(_OBJECT)
    if issubclass(annotation, models.Answer):
        return shape_of(annotation)
    return Shape(_KINDS[annotation], values=words)


def holding(**fields: Shape) -> Shape:
    """An object with these fields."""
    return Shape(_OBJECT, fields=fields)


def rows_of(model: type[models.Answer]) -> Shape:
    """A list of what this model reads."""
    return Shape(_ARRAY, items=shape_of(model))


COUNTED = {name: Shape(_NUMBER, required=False) for name in ("count", "page", "total", "total_pages")}
"""What a list may say of itself beside its rows."""

PAGED = COUNTED | dict(shape_of(models.PageCounts).fields or {})
COUNT = {"count": COUNTED["count"]}
OF_A_CARD = {"card_id": Shape(frozenset({"string"}), required=False)}


@dataclass(frozen=True, slots=True)
class Sent:
    """What goes out: the parameters of the query, the body's fields and their kinds, an idempotency key."""

    query: tuple[str, ...] = ()
    body: Mapping[str, str] = field(default_factory=dict)
    keyed: bool = False


NOTHING_SENT = Sent()
