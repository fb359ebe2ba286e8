"""The served OpenAPI says what the document says: who may call, what a field may hold, what an error carries."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import jsonschema
import pytest

from sandbox.partner import codec
from sandbox.partner.openapi import document
from sandbox.partner.schemas import Schema, event_payloads, response_schemas
from tests.sandbox_partner.conftest import Api, Description, Hand

DESCRIBED = document.document()
SCHEMAS: dict[str, Any] = DESCRIBED["components"]["schemas"]


def operations() -> dict[str, dict[str, Any]]:
    return {
        f"{method.upper()} {path}": operation
        for path, methods in DESCRIBED["paths"].items()
        for method, operation in methods.items()
    }


def resolved(node: dict[str, Any]) -> dict[str, Any]:
    """The node that a reference leads to."""
    while "$ref" in node:
        found: Any = DESCRIBED
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        node = found
    return node


def test_only_me_is_declared_for_the_key_header_alone() -> None:
    """P2."""
    for name, operation in operations().items():
        wanted: list[dict[str, list[str]]] = (
            [{"key": []}] if name == "GET /me" else [{"key": []}, {"bearer": []}]
        )
        assert operation["security"] == wanted, name


def test_a_rate_limited_answer_has_retry_after_sixty_and_too_many_pending_has_not() -> None:
    """P3."""
    for name, operation in operations().items():
        answer = resolved(operation["responses"]["429"])
        header = resolved(answer["headers"]["Retry-After"])
        assert header["schema"]["const"] == 60, name
        assert resolved(header).get("required", False) is (name != "POST /funding"), name


ENUMS = {
    "DeclineReason.code": 14, "FundingSubmission.network": 3, "FundingSubmission.token": 3,
    "FundingSubmission.reason": 27, "LedgerEntry.kind": 5, "FundingBody.network": None, "Error.code": 17,
    "FundingAddress.network": 3, "ThreeDsBody.method": 1, "ThreeDs.three_ds_method": 1, "Key.scopes": None,
}  # fmt: skip


@pytest.mark.parametrize("name", ENUMS)
def test_a_closed_list_is_described_as_one(name: str) -> None:
    """P4."""
    table, field = name.split(".")
    found = SCHEMAS[table]["properties"][field]
    if name == "FundingBody.network":
        assert (
            found["pattern"] == "^([Pp][Oo][Ll][Yy][Gg][Oo][Nn]|[Bb][Nn][Bb]|[Bb][Ss][Cc]|[Bb][Aa][Ss][Ee])$"
        )
        return
    found = found["items"] if name == "Key.scopes" else found
    assert len(found["enum"]) == (ENUMS[name] or 7)


BOUNDS = {
    "FundingBody.tx_hash": {"pattern": "^0[xX][0-9a-fA-F]{64}$"},
    "FundingSubmission.tx_hash": {"pattern": "^0x[0-9a-f]{64}$"},
    "OrderBody.phone": {"pattern": "^[0-9]{4,15}$"},
    "PhoneBody.phone": {"pattern": "^[0-9]{4,15}$"},
    "OrderBody.card_holder_name": {"minLength": 1},
    "OrderBody.email": {"pattern": r"^[^@\s]+@[^@\s]*\.[^@\s]*$"},
    "CardDetails.expiration_month": {"minimum": 1, "maximum": 12},
    "CardDetails.expiration_year": {"minimum": 1000, "maximum": 9999},
    "MarkupBody.markup_pct": {"minimum": 0, "maximum": 0.5},
    "WebhookChanged.secret": {"pattern": "^whsec_[A-Za-z0-9_-]{32}$"},
    "Key.prefix": {"pattern": "^svc_live_[0-9a-f]{8}$"},
    "Card.card_holder_name": {"maxLength": 26},
    "OrderBody.partner_ref": {"maxLength": 128},
    "WebhookBody.url": {"maxLength": 2000, "pattern": "^[hH][tT][tT][pP][sS]://[^/?#]"},
    "BalancesBody.card_ids": {"maxItems": 1000, "uniqueItems": True},
    "TopUpBody.amount_usd": {"multipleOf": 0.01, "minimum": 0.01},
    "UnloadBody.amount_usd": {"multipleOf": 0.01, "exclusiveMinimum": 0},
    "LimitsBody.daily_limit": {"multipleOf": 0.01, "exclusiveMinimum": 0},
}  # fmt: skip


@pytest.mark.parametrize("name", BOUNDS)
def test_a_bound_is_the_documents_and_none_is_made_up(name: str) -> None:
    """P4: what the simulator adds for its own sake is not marked as coming from the document."""
    table, field = name.split(".")
    found = SCHEMAS[table]["properties"][field]
    said = {
        key: float(value) if not isinstance(value, str | bool | int) else value
        for key, value in found.items()
        if key not in ("type", "description", "items", "examples") and not key.startswith("x-")
    }
    assert said == BOUNDS[name]


def test_limits_need_at_least_one_field() -> None:
    assert SCHEMAS["LimitsBody"]["minProperties"] == 1


def described_things(node: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field, parameter and header of the description, wherever it stands, by its path."""
    if isinstance(node, list):
        for number, item in enumerate(node):
            yield from described_things(item, f"{path}/{number}")
    if not isinstance(node, dict):
        return
    for group in ("properties", "headers"):
        if isinstance(found := node.get(group), dict):
            yield from ((f"{path}/{group}/{name}", one) for name, one in found.items())
    if isinstance(found := node.get("parameters"), list):
        yield from ((f"{path}/parameters/{one['name']}", one) for one in found)
    for name, item in node.items():
        if name not in ("example", "examples"):
            yield from described_things(item, f"{path}/{name}")


SOURCES = {"spec", "invented"}


def test_every_field_parameter_and_header_is_described_and_says_where_it_is_from() -> None:
    found = dict(described_things(DESCRIBED))
    assert len(found) > 550
    for path, one in found.items():
        assert one.get("x-source") in SOURCES, path
        words = one.get("description", "")
        cited = "(API document: " in words
        assert cited if one["x-source"] == "spec" else "API document does not show it" in words, (path, words)


def test_every_table_operation_and_event_is_described() -> None:
    for name, table in SCHEMAS.items():
        assert "(API document: " in table["description"], name
    for name, operation in operations().items():
        assert operation["summary"], name
        assert "(API document: " in operation["description"], name
    assert all(one["post"]["summary"] for one in DESCRIBED["webhooks"].values())


def examples_of(node: Any) -> Iterator[tuple[dict[str, Any], Any]]:
    """Each schema that has an example, with it; and each body and answer."""
    if isinstance(node, list):
        for item in node:
            yield from examples_of(item)
    if isinstance(node, dict):
        if "schema" in node and "example" in node:
            yield node["schema"], node["example"]
        for example in node.get("examples", ()):
            yield node.get("schema", node), example
        for name, item in node.items():
            if name not in ("example", "examples"):
                yield from examples_of(item)


def plain(value: Any) -> Any:
    """With numbers that JSON Schema can check."""
    return codec.decode(codec.encode(value))


def test_every_example_fits_its_schema() -> None:
    checked = 0
    components = plain(DESCRIBED["components"])
    for schema, example in examples_of(DESCRIBED):
        whole = {**plain(schema), "components": components}
        jsonschema.Draft202012Validator(whole).validate(plain(example))
        checked += 1
    assert checked > 150


SUMS = {
    "Float": ("balance_usd", {"funded_usd": 1, "spent_usd": -1}),
    "FeeSummary": ("total_pct", {"svc_pct": 1, "your_markup_pct": 1}),
    "FeeSchedule": ("total_pct", {"load_from_float_pct": 1, "your_markup_pct": 1}),
    "Earnings": ("owed_usd", {"accrued_usd": 1, "paid_out_usd": -1}),
    "TopUp": ("credited_usd", {"amount_requested_usd": 1, "fee_usd": -1}),
    "FundingSubmission": ("credited_usd", {"amount_usd": 1, "fee_usd": -1}),
    "FloatCredited": ("credited_usd", {"amount_usd": 1, "fee_usd": -1}),
    "Transaction": ("fee_basis_usd", {"amount_usd": 1, "provider_fee_usd": -1}),
    "DepositQuote": ("fee_usd", {"svc_fee_usd": 1, "partner_fee_usd": 1}),
}


@pytest.mark.parametrize("name", SUMS)
def test_the_amounts_of_an_example_add_up(name: str) -> None:
    total, parts = SUMS[name]
    example = SCHEMAS[name]["examples"][0]
    assert example[total] == sum(Decimal(example[part]) * sign for part, sign in parts.items())


BODIES = {name: one for name, one in operations().items() if "requestBody" in one}


@pytest.mark.parametrize("name", BODIES)
async def test_the_example_of_a_body_is_taken_by_the_call(hand: Hand, name: str) -> None:
    method, path = name.split()
    card = (await hand.http.post("scenarios/happy-day", json={})).json()["cards"][0]
    await hand.http.post("account", json={"deposits_enabled": True, "threeds_webhook_enabled": True})
    key = (await hand.http.post("keys", json={})).json()["key"]
    base = str(hand.http.base_url).replace("/_control/", "/api/partner/v1")
    headers = {"X-API-Key": key, "Idempotency-Key": "example-1", "Content-Type": "application/json"}
    hook = {"url": "https://hooks.example.com/a"}
    (await hand.http.put(f"{base}/webhook", json=hook, headers=headers)).raise_for_status()
    example = plain(BODIES[name]["requestBody"]["content"]["application/json"]["example"])
    placeholder = SCHEMAS["Card"]["examples"][0]["id"]
    content = codec.encode(example).replace(placeholder.encode(), card.encode())
    answer = await hand.http.request(
        method, base + path.replace("{cardId}", card), content=content, headers=headers
    )
    assert answer.status_code in (200, 201), answer.text


ASSETS = ["USDC", "usdt", "USDT-TRC20", "", "EUR", "USDC-", "DAI-TRC20"]
CHAINS = ["TRON", "tron", "", "BITCOIN", "TRONX"]
URLS = ["https://a.example.com", "HTTPS://A.example.com/x", "https://", "HTTPS:///x", "http://a.example.com"]
TEXTS = [
    ("/deposits", "post", "DepositBody", "asset", ASSETS),
    ("/deposits", "post", "DepositBody", "chain", CHAINS),
    ("/webhook", "put", "WebhookBody", "url", URLS),
]


@pytest.mark.parametrize(
    ("path", "method", "table", "field", "values"), TEXTS, ids=lambda item: str(item)[:12]
)
async def test_a_text_is_described_as_narrowly_as_it_is_checked(
    api: Api, hand: Hand, path: str, method: str, table: str, field: str, values: list[str]
) -> None:
    """Findings of a long run of Schemathesis: bodies that the description allows and the simulator refuses."""
    await hand("account", deposits_enabled=True)
    card = await api.order()
    bodies: dict[str, dict[str, Any]] = {
        "/deposits": {"card_id": card, "asset": "USDT", "chain": "TRON", "amount_usd": 20},
        "/webhook": {"url": "https://a.example.com"},
    }
    body, described = bodies[path], SCHEMAS[table]["properties"][field]
    for value in values:
        taken = (await api.call(method.upper(), path, {**body, field: value})).status == 200
        assert jsonschema.Draft202012Validator(described).is_valid(value) == taken, (field, value)


@pytest.mark.parametrize("profile", ["documented", "scrambled"])
async def test_the_description_is_that_of_the_profile_that_answers(
    api: Api, hand: Hand, profile: str
) -> None:
    """Also without a key: then it is the first account's."""
    plain = (await api.http.get("/openapi.json")).json()
    await hand("account", profile=profile, monthly_fee_usd="0")
    shown = (await api.http.get("/openapi.json", headers={"X-API-Key": api.key})).json()
    assert shown == (await api.http.get("/openapi.json")).json()
    assert shown != plain
    described = Description(shown)
    other = Api(api.http, api.key, described)
    card = await other.order()
    await other.post(f"/cards/{card}/freeze", {"frozen": True})
    await other.post(f"/cards/{card}/freeze", {"frozen": False})
    await other.call("PUT", "/webhook", {"url": "https://hooks.example.com/x"})
    paths = ["/me", "/fees", "/ledger", "/funding", "/funding/addresses", "/deposits", "/events", "/webhook"]
    for path in (*paths, *(f"/cards/{card}{part}" for part in ("", "/limits", "/transactions", "/pan"))):
        assert (await other.get(path)).status == 200
    for event in (await other.get("/events")).data["events"]:
        described.check_event(event["type"], event["payload"])


@pytest.mark.parametrize("profile", ["documented", "scrambled"])
def test_examples_of_a_profile_are_as_its_schemas_say(profile: str) -> None:
    shown = document.document(profile)
    for schema in shown["components"]["schemas"].values():
        whole = {**schema, "components": shown["components"]}
        for example in schema.get("examples", ()):
            jsonschema.Draft202012Validator(whole).validate(codec.decode(codec.encode(example)))
    guessed = [
        name
        for table in (*response_schemas.__dict__.values(), *event_payloads.PAYLOADS.values())
        if isinstance(table, Schema) and table.name in shown["components"]["schemas"]
        for name, item in shown["components"]["schemas"][table.name]["properties"].items()
        if item["x-source"] == "invented"
    ]
    if profile == "documented":
        assert sorted(set(guessed)) == ["deposits", "funding"]
    else:
        assert all(re.fullmatch("k[0-9a-f]{9}", name) for name in guessed)
