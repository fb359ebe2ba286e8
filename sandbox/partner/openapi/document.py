"""The served OpenAPI 3.1 description, written from the tables that check requests.

Each field says where it comes from: `x-source: spec` or `invented`.
"""

from __future__ import annotations

import functools
from typing import Any

from sandbox.partner import codec
from sandbox.partner.openapi import examples, fields_in_words, operations_in_words
from sandbox.partner.routes import BASE_PATH, OPERATIONS, Operation
from sandbox.partner.schemas import (
    Field,
    Schema,
    event_payloads,
    fields,
    json_schema,
    project,
    response_schemas,
)

Shared = dict[str, Any]
_COMMON_ERRORS = {
    401: ("UNAUTHORIZED",),
    403: ("FORBIDDEN",),
    405: ("BAD_REQUEST",),
    429: ("RATE_LIMITED",),
    500: ("UNAVAILABLE",),
}
_RATE_HEADERS = {
    name: {
        "description": fields_in_words.cited(*fields_in_words.HEADERS[name]),
        "schema": {"type": "integer"},
        "x-source": "spec",
    }
    for name in ("X-RateLimit-Limit", "X-RateLimit-Remaining")
}
_PARAMETERS: dict[str, Any] = {
    "cardId": "Vx3kQ0aZr8LmN2pTtYw7Bc9HdJfGs5Ue",
    "Idempotency-Key": "R-7K3M",
    "limit": 25,
    "page": 1,
    "offset": 0,
    "type": "card.authorized",
    "from_date": "2026-03-01",
    "to_date": "2026-03-31",
}
_TAGS = {
    "me": "Account",
    "fees": "Account",
    "ledger": "Account",
    "funding": "Account",
    "deposits": "Deposits",
}
_KEY_HEADER: list[dict[str, list[str]]] = [{"key": []}]
_EITHER: list[dict[str, list[str]]] = [{"key": []}, {"bearer": []}]
_ERROR_SENTENCES = {
    "ALREADY_CREDITED": "This transaction was already credited by other means.",
    "ALREADY_PROCESSED": "This Idempotency-Key belongs to a call that is in flight or has no recorded outcome.",
    "ALREADY_SUBMITTED": "Another account submitted this transaction.",
    "BAD_REQUEST": "amount_usd must be at least 0.01.",
    "FORBIDDEN": "This key lacks the scope cards:write.",
    "INSUFFICIENT_FUNDS": "The float does not hold that much; nothing was moved.",
    "NOT_FOUND": "The card was not found.",
    "RATE_LIMITED": "More than 120 requests in a minute.",
    "UNAUTHORIZED": "The API key is missing, unknown or revoked, or the account is suspended.",
    "UNAVAILABLE": "The card processor is unreachable or failing.",
    "UPSTREAM_AUTH": "The service could not authenticate to the card processor.",
}
_KEY_PATTERN = "^[A-Za-z0-9_-]{1,128}$"


@functools.cache
def served(profile: str = "plausible") -> bytes:
    """The description as it is sent to an account with this profile; it depends on nothing else that changes."""
    return codec.encode(document(profile))


def document(profile: str = "plausible") -> dict[str, Any]:
    """The whole description, of answers as this profile shows them."""
    whole = _document()
    if profile != "plausible":
        for table in _shown_tables():
            if table.name in whole["components"]["schemas"]:
                _cut(table, whole["components"]["schemas"][table.name], profile)
        for operation in OPERATIONS:
            described = whole["paths"][operation.path][operation.method.lower()]
            content = described["responses"][str(operation.status)]["content"]["application/json"]
            content["example"] = {"data": project(operation.answer, content["example"]["data"], profile)}
    return whole


def _shown_tables() -> list[Schema]:
    """Every table that answers and events are made of."""
    found: dict[str, Schema] = {}

    def add(of: Schema | Field | None) -> None:
        if isinstance(of, Field):
            add(of.of)
        elif of is not None and of.name not in found:
            found[of.name] = of
            for item in of.fields:
                add(item)

    for table in (*(operation.answer for operation in OPERATIONS), *event_payloads.PAYLOADS.values()):
        add(table)
    return list(found.values())


def _cut(table: Schema, written: dict[str, Any], profile: str) -> None:
    """Leave out or rename in a schema what the profile leaves out or renames in an answer."""
    names = {item.name: next(iter(project(table, {item.name: None}, profile)), None) for item in table.fields}
    written["properties"] = {
        shown: written["properties"][name] for name, shown in names.items() if shown is not None
    }
    required = [names[name] for name in written.get("required", ()) if names[name] is not None]
    written.pop("required", None)
    if required:
        written["required"] = required
    if "examples" in written:
        written["examples"] = [project(table, one, profile) for one in written["examples"]]


def _document() -> dict[str, Any]:
    schemas: dict[str, Any] = {}
    responses: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(
            operation, schemas, responses
        )
    for kind, payload in event_payloads.PAYLOADS.items():
        _reference(payload, schemas)
        schemas[payload.name]["x-event-type"] = kind
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Card Issuing Partner API (simulated)",
            "version": "1.0.0",
            "description": "Each field says in x-source whether the service documents it or this simulator made it up.",
        },
        "servers": [{"url": BASE_PATH}],
        "security": _EITHER,
        "paths": paths,
        "webhooks": {
            kind: _webhook(kind, payload, schemas) for kind, payload in event_payloads.PAYLOADS.items()
        },
        "components": {
            "schemas": schemas,
            "responses": dict(sorted(responses.items())),
            "securitySchemes": {
                "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
                "bearer": {"type": "http", "scheme": "bearer"},
            },
        },
    }


def _reference(table: Schema, schemas: dict[str, Any]) -> dict[str, Any]:
    if table.name not in schemas:
        written: dict[str, Any] = {}
        schemas[table.name] = written  # named before its fields, so that a table may refer to itself
        written["description"] = fields_in_words.of_table(table.name)
        written.update(json_schema.of_table(table, lambda inner: _reference(inner, schemas)))
        for item in table.fields:
            written["properties"][item.name]["description"] = fields_in_words.of_field(table.name, item)
        if table.fields:
            written["examples"] = [examples.example(table)]
    return {"$ref": f"#/components/schemas/{table.name}"}


def _operation(operation: Operation, schemas: Shared, responses: Shared) -> dict[str, Any]:
    words = operations_in_words.OPERATIONS[operation.name]
    wrapped = {
        "type": "object",
        "title": "".join(part.title() for part in words.operation_id.split("_")) + "Success",
        "properties": {
            "data": {
                **_reference(operation.answer, schemas),
                "description": fields_in_words.of_table(operation.answer.name),
                "x-source": "spec",
            }
        },
        "required": ["data"],
    }
    described: dict[str, Any] = {
        "operationId": words.operation_id,
        "summary": words.summary,
        "description": f"{words.description} (API document: {words.section}.)",
        "security": _KEY_HEADER if operation.path == "/me" else _EITHER,
        "x-scope": operation.scope,
        "x-scope-source": operation.scope_source,
        "tags": [_tag(operation)],
        "responses": {str(operation.status): _content("Success", wrapped)},
    }
    success = described["responses"][str(operation.status)]
    success["content"]["application/json"]["example"] = {"data": examples.example(operation.answer)}
    success["headers"] = _RATE_HEADERS
    parameters = _parameters(operation)
    if parameters:
        described["parameters"] = parameters
    if operation.body:
        content = _json(_reference(operation.body, schemas))
        content["content"]["application/json"]["example"] = examples.example(operation.body)
        described["requestBody"] = {
            "description": fields_in_words.of_table(operation.body.name), "required": True, **content
        }  # fmt: skip
    for status, codes in sorted({**_COMMON_ERRORS, **operation.codes}.items()):
        described["responses"][str(status)] = _error(
            status, codes + _COMMON_ERRORS.get(status, ()), schemas, responses
        )
    return described


def _tag(operation: Operation) -> str:
    first = operation.path.split("/")[1]
    if operation.method_first:
        return "Card details"
    return _TAGS.get(first, "Cards" if first == "cards" else "Webhooks and events")


def _webhook(kind: str, payload: Schema, schemas: dict[str, Any]) -> dict[str, Any]:
    """A delivery: the envelope around one event's payload, and the headers that sign it."""
    fields: dict[str, dict[str, Any]] = {
        "id": {"type": "string"},
        "type": {"const": kind},
        "created_at": {"type": "string", "format": "date-time"},
        "data": _reference(payload, schemas),
    }
    envelope = {
        "type": "object",
        "title": f"{payload.name}Delivery",
        "properties": {
            name: {**field, "description": fields_in_words.cited(words, "Events"), "x-source": "spec"}
            for (name, field), words in zip(fields.items(), fields_in_words.ENVELOPE.values(), strict=True)
        },
        "required": list(fields),
    }
    names = ("X-SVC-Event", "X-SVC-Delivery", "X-SVC-Timestamp", "X-SVC-Signature")
    headers = [
        {
            "name": name,
            "in": "header",
            "required": True,
            "description": fields_in_words.cited(*fields_in_words.HEADERS[name]),
            "schema": {"type": "string"},
            "x-source": "spec",
        }
        for name in names
    ]
    answers = {"200": {"description": "Any 2xx within 8 seconds"}}
    return {
        "x-source": "invented" if kind in event_payloads.INVENTED else "spec",
        "post": {
            "summary": fields_in_words.TABLES[payload.name][0],
            "parameters": headers,
            "requestBody": {"required": True, **_json(envelope)},
            "responses": answers,
        },
    }


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    section = operations_in_words.OPERATIONS[operation.name].section
    found = [_parameter("path", fields.string(name), section) for name in operation.pattern.groupindex]
    found += [_parameter("query", item, section) for item in operation.query]
    if operation.keyed:
        key = fields.string("Idempotency-Key", required=False, pattern=_KEY_PATTERN)
        found.append(_parameter("header", key, "Cards"))
    return found


def _parameter(place: str, item: Field, section: str) -> dict[str, Any]:
    schema = json_schema.of_field(item, lambda table: {"$ref": table.name})
    source = schema.pop("x-source")
    shown = _PARAMETERS[item.name] if item.name in _PARAMETERS else examples.value(item)
    schema["examples"] = [str(shown) if item.kind == "string" else shown]
    words = fields_in_words.PARAMETERS.get(item.name) or fields_in_words.FIELDS[item.name]
    return {
        "name": item.name,
        "in": place,
        "required": item.required,
        "description": f"{words} {fields_in_words.INVENTED}"
        if source == "invented"
        else fields_in_words.cited(words, section),
        "schema": schema,
        "x-source": source,
    }


def _error(status: int, codes: tuple[str, ...], schemas: Shared, responses: Shared) -> dict[str, Any]:
    """A reference to the answer with this status and these codes, which many operations share."""
    unique = sorted(set(codes))
    name = f"Error{status}" + "".join(code.title().replace("_", "") for code in unique)
    if name not in responses:
        _reference(response_schemas.ERROR, schemas)  # the whole list of codes, for those who want it
        error = schemas[response_schemas.ERROR.name]
        named = {**error["properties"]["code"], "enum": unique}
        example = {"error": _ERROR_SENTENCES.get(unique[0], "The request was refused."), "code": unique[0]}
        schemas[name] = {
            **error,
            "properties": {**error["properties"], "code": named},
            "examples": [example],
        }  # a schema by name, so that generated clients have it once
        answer = _content(" or ".join(unique), {"$ref": f"#/components/schemas/{name}"})
        answer["content"]["application/json"]["example"] = example
        if "RATE_LIMITED" in unique:
            answer["headers"] = {
                "Retry-After": {
                    "description": fields_in_words.cited(
                        "Always 60 seconds with RATE_LIMITED; absent with TOO_MANY_PENDING.", "Errors"
                    ),
                    "x-source": "spec",
                    "required": unique == ["RATE_LIMITED"],
                    "schema": {"type": "integer", "const": 60},
                }
            }
        responses[name] = answer
    return {"$ref": f"#/components/responses/{name}"}


def _content(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, **_json(schema)}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}
