"""The descriptions of the control calls of both halves, field by field: words, examples, what is required, answers."""

from collections.abc import Iterator
from typing import Any

import httpx
import jsonschema
import pytest

from sandbox.testing import PartnerSandbox, SlackSandbox

Json = dict[str, Any]


@pytest.fixture(params=["partner", "slack"])
def document(
    request: pytest.FixtureRequest, partner_sandbox: PartnerSandbox, slack_sandbox: SlackSandbox
) -> Json:
    half = partner_sandbox if request.param == "partner" else slack_sandbox
    return half.control("openapi.json", "GET")


def properties(node: Any, place: str) -> Iterator[tuple[str, Json]]:
    """Every property of every schema, with its place."""
    if isinstance(node, dict):
        for name, field in (node.get("properties") or {}).items():
            yield f"{place}.{name}", field
        for name, below in node.items():
            yield from properties(below, f"{place}/{name}")
    elif isinstance(node, list):
        for below in node:
            yield from properties(below, place)


def test_every_property_is_described(document: Json) -> None:
    found = list(properties(document, ""))
    assert len(found) > 60
    assert [place for place, field in found if len(field.get("description", "")) < 6] == []


def test_every_body_has_an_example_that_fits_and_is_required_where_a_field_is(document: Json) -> None:
    components = document["components"]["schemas"]
    for path, operations in document["paths"].items():
        if "post" not in operations:
            continue
        body = operations["post"]["requestBody"]
        schema = components[body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]]
        assert body["required"] is bool(schema.get("required")), path
        if schema["properties"]:
            [example] = schema["examples"]
            assert example, path
            checked = {**schema, "components": document["components"]}
            jsonschema.Draft202012Validator(checked).validate(example)


def test_every_path_that_names_something_says_what_is_answered_when_it_is_not_here(document: Json) -> None:
    for path, operations in document["paths"].items():
        for operation in operations.values():
            assert ("404" in operation["responses"]) is ("{" in path), path


def test_what_is_not_here_is_answered_with_what_the_description_says(partner_sandbox: PartnerSandbox) -> None:
    """Each call of the simulator that names something in its path, with a body that fits."""
    document = partner_sandbox.control("openapi.json", "GET")
    components = document["components"]["schemas"]
    with httpx.Client(trust_env=False) as http:
        for path, operations in document["paths"].items():
            if "{value1}" not in path or "post" not in operations:
                continue
            reference = operations["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
            body = (components[reference.rpartition("/")[2]].get("examples") or [{}])[0]
            name = "unknown" if path.endswith("/restore") else "zz"
            answer = http.post(partner_sandbox.url + path.replace("{value1}", name), json=body)
            wanted = (200,) if path.endswith("/snapshots/{value1}") else (400, 404)
            assert answer.status_code in wanted, (path, answer.text)
            assert str(answer.status_code) in operations["post"]["responses"], path
