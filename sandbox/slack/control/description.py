"""The control calls as OpenAPI 3.1, written from the fields that check their bodies."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sandbox.slack.control import fields_in_words
from sandbox.slack.control_fields import Fields, schema_of
from sandbox.slack.json_object import Json

#: Calls without a body: method, path, and what they do.
READS = (
    ("GET", "", "These calls."),
    ("GET", "openapi.json", "These calls as OpenAPI 3.1."),
    ("GET", "state", "Everything in the workspace."),
    (
        "GET",
        "snapshot",
        "Everything as one JSON object, for a file, without tokens and what is open.",
    ),
    ("GET", "see", "What one person sees: messages, modals, Home."),
    ("GET", "file/{file_id}", "What one person's client would save of a file."),
    ("DELETE", "faults", "Switch every fault off."),
)
_PARAMETERS: dict[str, list[Json]] = {
    "see": [{"name": "user", "in": "query", "required": True, "schema": {"type": "string"}}],
    "file/{file_id}": [
        {"name": "file_id", "in": "path", "required": True, "schema": {"type": "string"}},
        {"name": "user", "in": "query", "required": True, "schema": {"type": "string"}},
    ],
}


def document(bodies: Mapping[str, tuple[str, Fields]]) -> Json:
    """The whole description. `bodies` has the summary and the fields of each call with a body, by its path."""
    paths: Json = {}
    for method, path, summary in READS:
        operation = _operation(method, path, summary)
        if path in _PARAMETERS:
            operation["parameters"] = _PARAMETERS[path]
        paths.setdefault(full(path), {})[method.lower()] = operation
    schemas: Json = {}
    for path, (summary, fields) in bodies.items():
        operation = _operation("POST", path, summary)
        name = "".join(part.capitalize() for part in re.split("[/_]", path))
        schemas[name] = fields_in_words.described(path, schema_of(fields))
        operation["requestBody"] = {
            "required": bool(fields.needed),
            "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}},
        }
        paths.setdefault(full(path), {})["post"] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "Control calls of the Slack stand-in", "version": "1.0.0"},
        "paths": paths,
        "components": {"schemas": schemas},
    }


def full(path: str) -> str:
    """The path of a call, by its name."""
    return f"/_control/{path}" if path else "/_control"


def _operation(method: str, path: str, summary: str) -> Json:
    name = path.partition("{")[0].strip("/").replace("/", "_").replace(".", "_") or "index"
    missing = {"404": {"description": "What the path names is not here"}} if "{" in path else {}
    return {
        "operationId": f"{method.lower()}_{name}",
        "summary": summary,
        "responses": {
            "200": {"description": "Done", "content": {"application/json": {"schema": {"type": "object"}}}},
            "400": {"description": "A field that is unknown, missing or wrong, by its name"},
            **missing,
        },
    }
