"""The control calls as OpenAPI 3.1, written from the forms that check their bodies."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from sandbox.partner.accounts import Settings
from sandbox.partner.control import fields_in_words
from sandbox.partner.control.forms import ControlCall

_REFERENCE = "#/components/schemas/{name}"


def document(calls: tuple[ControlCall, ...]) -> dict[str, Any]:
    """The whole description; the segments of a path that a caller fills in are `value1`, `value2`."""
    forms = [_form(call) for call in calls]
    schemas, components = msgspec.json.schema_components(forms, ref_template=_REFERENCE)
    paths: dict[str, Any] = {}
    for call, schema in zip(calls, schemas, strict=True):
        path, values = _path(call)
        needs_body = bool(components[schema["$ref"].rpartition("/")[2]].get("required"))
        paths.setdefault(path, {})[call.method.lower()] = _operation(call, values, schema, needs_body)
    settings = components[Settings.__name__]["properties"]
    for field in settings.values():
        # What a new account begins with, not what a call sets that leaves the field out: that one keeps its value.
        field.pop("default", None)
    # The body of the call on settings also says whose they are.
    settings["account"] = {"type": ["string", "null"]}
    _let_numbers_in(components)
    fields_in_words.describe(components)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Control calls of the partner simulator", "version": "1.0.0"},
        "paths": paths,
        "components": {"schemas": components},
    }


def _let_numbers_in(schema: Any) -> None:
    """Amounts may come as numbers, too: they are read to the last digit."""
    if isinstance(schema, list):
        for one in schema:
            _let_numbers_in(one)
    elif isinstance(schema, dict):
        if schema.get("format") == "decimal" and schema.get("type") == "string":
            schema["type"] = ["string", "number"]
        for one in schema.values():
            _let_numbers_in(one)


def _form(call: ControlCall) -> Any:
    """What a body is checked with; the settings of an account are checked where they are stored."""
    return Settings if call.form == dict[str, Any] else call.form


def _path(call: ControlCall) -> tuple[str, list[str]]:
    values: list[str] = []

    def named(_: re.Match[str]) -> str:
        values.append(f"value{len(values) + 1}")
        return "{" + values[-1] + "}"

    return "/_control" + (f"/{re.sub('{}', named, call.path)}" if call.path else ""), values


def _operation(
    call: ControlCall, values: list[str], schema: dict[str, Any], needs_body: bool
) -> dict[str, Any]:
    words = (call.run.__doc__ or "").partition("\n")[0]
    name = re.sub("[^a-z0-9]+", "_", call.path.lower()).strip("_") or "index"
    described: dict[str, Any] = {
        "operationId": f"{call.method.lower()}_{name}",
        "summary": words,
        "responses": {
            "200": {"description": "Done", "content": {"application/json": {"schema": {"type": "object"}}}},
            "400": {"description": "A field that is unknown, missing or wrong, by its name"},
        },
        "parameters": [
            {"name": value, "in": "path", "required": True, "schema": {"type": "string"}} for value in values
        ],
    }
    if call.method == "POST":
        described["requestBody"] = {
            "required": needs_body,
            "content": {"application/json": {"schema": schema}},
        }
    if values:
        described["responses"]["404"] = {"description": "What the path names is not here"}
    return described
