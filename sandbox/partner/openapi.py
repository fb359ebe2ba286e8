"""The served OpenAPI 3.1 description, written from the tables that check requests.

Each field says where it comes from: ``x-source: spec`` or ``invented``.
"""

from typing import Any

from sandbox.partner import answers, shapes, surface
from sandbox.partner.shapes import Field, Shape
from sandbox.partner.surface import BASE_PATH, Operation

_COMMON_ERRORS = {
    401: ("UNAUTHORIZED",),
    403: ("FORBIDDEN",),
    405: ("BAD_REQUEST",),
    429: ("RATE_LIMITED",),
    500: ("UNAVAILABLE",),
}
_KEY_PATTERN = "^[A-Za-z0-9_-]{1,128}$"


def document() -> dict[str, Any]:
    """The whole description."""
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    for operation in surface.OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schemas)
    for kind, payload in answers.PAYLOADS.items():
        _reference(payload, schemas)
        schemas[payload.name]["x-event-type"] = kind
    return {
        "openapi": "3.1.0",
        "info": {"title": "Card Issuing Partner API (simulated)", "version": "1.0.0"},
        "servers": [{"url": BASE_PATH}],
        "security": [{"key": []}, {"bearer": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
                "bearer": {"type": "http", "scheme": "bearer"},
            },
        },
    }


def _reference(table: Shape, schemas: dict[str, Any]) -> dict[str, Any]:
    if table.name not in schemas:
        schemas[table.name] = {}  # named before its fields, so that a table may refer to itself
        schemas[table.name].update(shapes.schema(table, lambda inner: _reference(inner, schemas)))
    return {"$ref": f"#/components/schemas/{table.name}"}


def _operation(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    wrapped = {
        "type": "object",
        "properties": {"data": _reference(operation.answer, schemas)},
        "required": ["data"],
    }
    described: dict[str, Any] = {
        "operationId": operation.handler.__name__,
        "summary": (operation.handler.__doc__ or operation.name).partition("\n")[0],
        "x-scope": operation.scope,
        "x-scope-source": operation.scope_source,
        "responses": {str(operation.status): _content("Success", wrapped)},
    }
    parameters = _parameters(operation)
    if parameters:
        described["parameters"] = parameters
    if operation.body:
        described["requestBody"] = {"required": True, **_json(_reference(operation.body, schemas))}
    for status, codes in sorted({**_COMMON_ERRORS, **operation.codes}.items()):
        described["responses"][str(status)] = _error(codes + _COMMON_ERRORS.get(status, ()), schemas)
    return described


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    found = [_parameter("path", shapes.string(name)) for name in operation.pattern.groupindex]
    found += [_parameter("query", item) for item in operation.query]
    if operation.keyed:
        found.append(
            _parameter("header", shapes.string("Idempotency-Key", required=False, pattern=_KEY_PATTERN))
        )
    return found


def _parameter(place: str, item: Field) -> dict[str, Any]:
    schema = shapes.field_schema(item, lambda table: {"$ref": table.name})
    source = schema.pop("x-source")
    return {"name": item.name, "in": place, "required": item.required, "schema": schema, "x-source": source}


def _error(codes: tuple[str, ...], schemas: dict[str, Any]) -> dict[str, Any]:
    reference = _reference(answers.ERROR, schemas)
    unique = list(dict.fromkeys(codes))
    return _content(" or ".join(unique), {"allOf": [reference, {"properties": {"code": {"enum": unique}}}]})


def _content(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, **_json(schema)}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}
