"""What the API's requests, answers and events are made of, field by field, as the document names them.

One table of fields (`Schema`) serves three uses: request bodies are checked with it, the served OpenAPI
description is written from it, and the answer profiles are cut from it. `fields` builds tables,
`response_schemas` and `event_payloads` are the tables, `profiles` cuts answers, `json_schema` writes them out.
"""

from __future__ import annotations

from sandbox.partner.schemas.event_payloads import PAYLOADS
from sandbox.partner.schemas.fields import Field, Schema, integer, moment, schema, string
from sandbox.partner.schemas.profiles import project, scrambled
from sandbox.partner.schemas.request_bodies import read_body

__all__ = [
    "PAYLOADS",
    "Field",
    "Schema",
    "event_payloads",
    "fields",
    "integer",
    "json_schema",
    "moment",
    "project",
    "read_body",
    "request_schemas",
    "response_schemas",
    "schema",
    "scrambled",
    "string",
]
