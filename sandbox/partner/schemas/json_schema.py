"""A table of fields as JSON Schema, for the served OpenAPI description."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from sandbox.partner.schemas.fields import Field, Schema


def of_table(table: Schema, of: Callable[[Schema], dict[str, Any]]) -> dict[str, Any]:
    """JSON Schema of a table; `of` says how another table is referred to."""
    required = [item.name for item in table.fields if item.required]
    properties = {item.name: of_field(item, of) for item in table.fields}
    written: dict[str, Any] = {"type": "object", "properties": properties}
    if not table.fields:
        written["additionalProperties"] = True
    if table.closed:
        written["additionalProperties"] = False
    if table.filled:
        written["minProperties"] = 1
    return {**written, **({"required": required} if required else {})}


def of_field(item: Field, of: Callable[[Schema], dict[str, Any]]) -> dict[str, Any]:
    """JSON Schema of one field, with where it comes from."""
    written: dict[str, Any] = {"x-source": item.source}
    if isinstance(item.of, Schema) and item.kind == "object":
        reference = of(item.of)
        return {**written, **({"anyOf": [reference, {"type": "null"}]} if item.nullable else reference)}
    written["type"] = [item.kind, "null"] if item.nullable else item.kind
    if item.kind == "array" and item.of is not None:
        written["items"] = of(item.of) if isinstance(item.of, Schema) else _entry(item.of, of)
    bounds = {key: value for key, value in item.bounds.items() if key != "x-decimals"}
    if "x-decimals" in item.bounds:
        bounds["multipleOf"] = Decimal(1).scaleb(-item.bounds["x-decimals"])
    return {**written, **bounds}


def _entry(item: Field, of: Callable[[Schema], dict[str, Any]]) -> dict[str, Any]:
    return {key: value for key, value in of_field(item, of).items() if key != "x-source"}
