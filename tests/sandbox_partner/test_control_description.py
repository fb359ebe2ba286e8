"""The control calls describe themselves, from the forms that check their bodies."""

from typing import Any

import jsonschema
import pytest

from tests.sandbox_partner.conftest import Hand

DIALECT = jsonschema.Draft202012Validator


async def test_every_control_call_is_described_with_its_body(hand: Hand) -> None:
    document = (await hand.http.get("openapi.json")).json()
    listed = (await hand.http.get("../_control")).json()["calls"]
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert len(described) == len(listed)
    assert ("POST", "/_control/purchases/{value1}/settle") in described
    for methods in document["paths"].values():
        for operation in methods.values():
            assert operation["summary"], operation
    ids = [
        operation["operationId"] for methods in document["paths"].values() for operation in methods.values()
    ]
    assert len(set(ids)) == len(ids)


BODIES: list[tuple[str, dict[str, Any], bool]] = [
    ("/_control/clock", {"advance_seconds": 5}, True), ("/_control/clock", {"advance": 5}, False),
    ("/_control/clock", {"mode": "stopped"}, False), ("/_control/float", {"amount_usd": "5.50"}, True),
    ("/_control/float", {}, False), ("/_control/account", {"phone_check": "possible"}, True),
    ("/_control/account", {"phone_check": "never"}, False), ("/_control/account", {"no_such": 1}, False),
    ("/_control/faults", {"operation": "GET /me", "effect": "reset"}, True),
    ("/_control/faults", {"effect": "x"}, False),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "fits"), BODIES)
async def test_the_description_takes_what_the_call_takes(
    hand: Hand, path: str, body: dict[str, Any], fits: bool
) -> None:
    document = (await hand.http.get("openapi.json")).json()
    content = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
    schema = {**content["schema"], "components": document["components"]}
    assert DIALECT(schema).is_valid(body) is fits
    answer = await hand.http.post(path.removeprefix("/_control/"), json=body)
    assert (answer.status_code == 200) is fits, answer.text


@pytest.mark.parametrize("raw", ['"12.3456789"', "12.3456789"])
async def test_an_amount_is_described_as_it_is_taken(hand: Hand, raw: str) -> None:
    """As a text and as a number, each to the last digit."""
    described = (await hand.http.get("openapi.json")).json()["components"]["schemas"]["FloatChange"]
    assert set(described["properties"]["amount_usd"]["type"]) == {"string", "number"}
    answer = (await hand.http.post("float", content=f'{{"amount_usd": {raw}}}')).json()
    assert answer["float"]["funded_usd"] == "12.3456789"


async def test_no_default_stands_where_a_field_that_is_left_out_keeps_its_value(hand: Hand) -> None:
    """A generator of clients takes a default for what happens, and may send it: each call would set all of them."""
    described = (await hand.http.get("openapi.json")).json()["components"]["schemas"]["Settings"]
    assert [name for name, field in described["properties"].items() if "default" in field] == []
    await hand("account", cards_limit=7)
    assert (await hand("account", phone_check="possible"))["cards_limit"] == 7


@pytest.mark.parametrize("ending", ["expire", "cancel"])
async def test_a_deposit_that_ends_without_money_has_no_amount(hand: Hand, ending: str) -> None:
    document = (await hand.http.get("openapi.json")).json()
    body = document["paths"][f"/_control/deposits/{{value1}}/{ending}"]["post"]["requestBody"]
    form = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    assert document["components"]["schemas"][form]["properties"] == {}
