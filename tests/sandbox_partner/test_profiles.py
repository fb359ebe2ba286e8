"""The served OpenAPI, and the answers under each profile."""

import json

import httpx
import jsonschema
import pytest

from sandbox.partner.openapi import document as openapi_document
from sandbox.partner.routes import OPERATIONS
from sandbox.partner.server import Running
from tests.sandbox_partner.conftest import Api, Hand


async def test_the_description_is_served_without_a_key_and_covers_every_operation(
    simulator: Running, hand: Hand
) -> None:
    """U70."""
    async with httpx.AsyncClient(verify=False) as http:
        response = await http.get(simulator.base_url + "/openapi.json")
    document = response.json()
    assert (document["openapi"], document["info"]["version"]) == ("3.1.0", "1.0.0")
    described = {
        f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods
    }
    assert described == {operation.name for operation in OPERATIONS}
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
        for field in schema.get("properties", {}).values():
            assert field["x-source"] in ("spec", "invented")


def test_every_example_of_the_description_is_valid() -> None:
    document = json.loads(openapi_document.served())
    components = {"components": document["components"]}
    tried = 0
    for name, schema in document["components"]["schemas"].items():
        for example in schema.get("examples", []):
            jsonschema.Draft202012Validator({"$ref": f"#/components/schemas/{name}", **components}).validate(
                example
            )
            tried += 1
    for methods in document["paths"].values():
        for described in methods.values():
            for parameter in described.get("parameters", []):
                [example] = parameter["schema"]["examples"]
                jsonschema.Draft202012Validator(parameter["schema"]).validate(example)
            for response in described["responses"].values():
                if "$ref" in response:
                    response = document["components"]["responses"][response["$ref"].rpartition("/")[2]]
                content = response["content"]["application/json"]
                jsonschema.Draft202012Validator({**content["schema"], **components}).validate(
                    content["example"]
                )
                tried += 1
    assert tried > 90


async def test_the_documented_profile_leaves_invented_keys_out(api: Api, hand: Hand) -> None:
    """N3, N7."""
    await hand("account", profile="documented", monthly_fee_usd="0")
    card = await api.order()
    await api.post(f"/cards/{card}/freeze", {"frozen": True})

    listed = (await api.http.get("/funding", headers={"X-API-Key": api.key})).json()["data"]
    assert listed == {"funding": []}
    event = (await api.get("/events")).data["events"][0]
    assert event["payload"] == {"reason": "partner_freeze"}


async def test_the_scrambled_profile_renames_invented_keys_and_no_others(api: Api, hand: Hand) -> None:
    await hand("account", profile="scrambled")
    card = await api.order()
    await api.post(f"/cards/{card}/freeze", {"frozen": True})

    payload = (await api.get("/events")).data["events"][0]["payload"]
    assert payload["reason"] == "partner_freeze"
    assert "card_id" not in payload
    assert card in payload.values()
    listed = (await api.http.get("/funding", headers={"X-API-Key": api.key})).json()["data"]
    assert "funding" not in listed
    assert [] in listed.values()


@pytest.mark.rule("R198", "R199")
async def test_the_scrambled_profile_writes_open_references_otherwise_and_shown_ones_not(
    api: Api, hand: Hand
) -> None:
    """R198, R199, U15, U33, U60: a monthly fee still carries its card's id."""
    left = await hand("scenarios/reversal-negative-float")
    await hand(left["after"][0]["path"], decision="reverse")
    await api.post(f"/cards/{left['cards'][1]}/close")
    plain = [row["reference"] for row in (await api.ledger())]
    await hand("account", profile="scrambled")
    other = [row["reference"] for row in (await api.ledger())]
    assert len(plain) == len(other)
    for before, after in zip(plain, other, strict=True):
        shown = before.startswith(("topup:", "funding-")) and not before.startswith("funding-reversal")
        assert (before == after) == (
            shown or (before.startswith("funding-reversal") and not before.endswith(":fee"))
        )
        if before.startswith("card-fee:"):
            assert before.split(":")[1] in after


@pytest.mark.parametrize("profile", ["documented", "scrambled"])
async def test_documented_answers_are_the_same_in_every_profile(api: Api, hand: Hand, profile: str) -> None:
    await hand("float", amount_usd="12.5")
    plain = [(await api.get(path)).body for path in ("/me", "/fees", "/ledger", "/cards")]
    await hand("account", profile=profile)
    assert [(await api.get(path)).body for path in ("/me", "/fees", "/ledger", "/cards")] == plain
