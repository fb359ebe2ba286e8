"""Bodies at the edges of what JSON can say, for every number and text that an OpenAPI document describes."""

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

#: Written as they travel: some are no JSON at all, or no number that a float holds.
NUMBERS = (
    "0", "-1", "0.5", "5e-324", "1e10", "1e11", "1e12", "1e30", "1e308", "-1e308", "1e400", "-1e400", "NaN", "Infinity",
    "-Infinity", "9223372036854775807", "9223372036854775808", "1" + 400 * "0", "1" + 5000 * "0",
)  # fmt: skip
TEXTS = tuple(
    json.dumps(text)
    for text in (
        "", "\x00", "\ud800", "../../etc/passwd", "x" * 300, "x" * 70_000, "1e308", "NaN", "-Infinity",
        "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00",
    )
)  # fmt: skip


def extremes(document: Json, **known: str) -> Iterator[tuple[str, str, str]]:
    """Path, name of the field and body of each: the described example with one field at one of its edges.

    `known` are ids to put into the examples, by the name of their field.
    """
    schemas = document["components"]["schemas"]
    for path, methods in document["paths"].items():
        if "requestBody" not in methods.get("post", {}):
            continue
        schema = methods["post"]["requestBody"]["content"]["application/json"]["schema"]
        schema = schemas[schema["$ref"].rpartition("/")[2]]
        example = schema.get("examples", [{}])[0]
        example |= {name: value for name, value in known.items() if name in example}
        for name, field in schema["properties"].items():
            for raw in _edges(field):
                yield path, name, json.dumps({**example, name: "@"}).replace('"@"', raw)
            for within, raw in _edges_within(field, schemas):
                item = {**next(iter(example.get(name) or [{}])), within: "@"}
                yield path, f"{name}.{within}", json.dumps({**example, name: [item]}).replace('"@"', raw)


def _edges_within(field: Json, schemas: Json) -> Iterator[tuple[str, str]]:
    """The same for the fields of the objects in a list."""
    for one in field.get("anyOf", [field]):
        items = one.get("items", {})
        items = schemas[items["$ref"].rpartition("/")[2]] if "$ref" in items else items
        for name, below in items.get("properties", {}).items():
            for raw in _edges(below):
                yield name, raw


def _edges(field: Json) -> tuple[str, ...]:
    taken = {kind for one in field.get("anyOf", [field]) for kind in _kinds(one)}
    return (NUMBERS if taken & {"number", "integer"} else ()) + (TEXTS if "string" in taken else ())


def _kinds(field: Json) -> list[str]:
    kind = field.get("type", [])
    return [kind] if isinstance(kind, str) else kind
