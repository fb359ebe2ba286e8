"""What the client knows against what the service says of itself: each planted difference is reported."""

import asyncio
import copy
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.partner import models, shapes
from bot.partner.calls import cards as card_calls
from bot.partner.calls import deposits as deposit_calls
from bot.partner.certainty import documented
from bot.partner.client import ENDPOINTS
from bot.partner.endpoints import Endpoint
from bot.partner.key_guard import AccessRefused
from bot.partner.openapi import expected_schema, openapi_fetch
from bot.partner.openapi.drift import Difference, Weight, compare
from bot.partner.openapi.openapi_fetch import NoDescription
from bot.partner.shapes import Shape
from sandbox.partner.server import serve
from tests.partner.every_call import ANSWERS, BODIES, KEYED, QUERIES
from tests.support.partner_api import BASE_URL, CannedApi

B, C, A = Weight


def schema(shape: Shape) -> dict[str, Any]:
    """A shape as the service would write it down, each kind at its narrowest."""
    kind = "number" if "number" in shape.kinds else min(shape.kinds)
    found: dict[str, Any] = {"type": [kind, "null"] if shape.nullable else kind}
    if shape.values:
        found["enum"] = [*shape.values, *([None] if shape.nullable else [])]
    if shape.items is not None:
        found["items"] = schema(shape.items)
    if shape.fields is not None:
        found["properties"] = {name: schema(inner) for name, inner in shape.fields.items()}
        found["required"] = [name for name, inner in shape.fields.items() if inner.required]
    return found


def content(of: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": of}}}


def operation(endpoint: Endpoint, data: Shape) -> dict[str, Any]:
    sent = endpoint.sent
    success = {"type": "object", "properties": {"data": schema(data)}, "required": ["data"]}
    responses: dict[str, Any] = {"200": content(success)}
    for status in sorted({status for status, _ in documented(endpoint)}):
        codes = [code for other, code in documented(endpoint) if other == status]
        error = {"properties": {"code": {"type": "string"}, "error": {"type": "string"}}}
        responses[str(status)] = content({"allOf": [error, {"properties": {"code": {"enum": codes}}}]})
    found: dict[str, Any] = {"responses": responses}
    found["parameters"] = [{"in": "query", "name": name, "schema": {}} for name in sent.query]
    if sent.keyed:
        found["parameters"].append({"in": "header", "name": "Idempotency-Key", "required": False})
    if sent.body:
        fields = {name: {"type": kind} for name, kind in sent.body.items()}
        found["requestBody"] = content({"properties": fields, "required": list(fields)[:1]})
    return found


def description() -> dict[str, Any]:
    """What a service would publish that is exactly as the client knows it."""
    paths: dict[str, Any] = {}
    for endpoint, data in ((endpoint, endpoint.shape) for endpoint in ENDPOINTS):
        wrapped = Shape(frozenset({"object"}), fields={"qzx": data}) if data.items is not None else data
        paths.setdefault(endpoint.template, {})[endpoint.method.lower()] = operation(endpoint, wrapped)
    envelopes = {
        name: {"post": {"requestBody": content({"properties": {"data": schema(shape)}})}}
        for name, shape in expected_schema.event_data().items()
    }
    info = {"title": "x", "version": expected_schema.VERSION}
    return {"openapi": "3.1.0", "info": info, "paths": paths, "webhooks": envelopes}


FULL = description()


def test_a_description_that_says_what_we_know_has_no_difference() -> None:
    assert compare(FULL) == []


def test_what_we_know_is_worked_out_for_every_endpoint_and_event() -> None:
    assert set(expected_schema.event_data()) == {
        "card.authorized", "card.transaction", "card.declined", "card.unloaded", "card.status_changed",
        "card.3ds_challenge", "float.credited",
    }  # fmt: skip


def test_what_is_said_to_be_sent_is_what_the_calls_send() -> None:
    for endpoint in ENDPOINTS:
        sent = endpoint.sent
        assert set(QUERIES.get(endpoint, {})) <= set(sent.query), endpoint
        assert sent.keyed is (endpoint in KEYED)
        if endpoint is not deposit_calls.QUOTE_DEPOSIT:
            body = known_body(BODIES.get(endpoint, b"{}"))
            assert set(body) <= set(sent.body), endpoint
            assert bool(sent.body) is (endpoint in BODIES or endpoint is card_calls.BALANCES)


def known_body(raw: bytes) -> dict[str, Any]:
    import json

    value: dict[str, Any] = json.loads(raw)
    return value


@pytest.mark.parametrize("endpoint", [op for op in ENDPOINTS if op not in expected_schema.UNSHOWN])
def test_the_answers_of_the_document_have_the_form_that_is_said_to_be_needed(endpoint: Endpoint) -> None:
    """The tables of this file's other tests, held against the answers written out by hand."""

    def check(shape: Shape, value: Any, place: str) -> None:
        if value is None:
            assert shape.nullable, place
        elif isinstance(value, dict) and shape.fields is not None:
            needed = {name for name, inner in shape.fields.items() if inner.required}
            assert needed <= set(value) <= set(shape.fields), place
            for name, item in value.items():
                check(shape.fields[name], item, f"{place}.{name}")
        elif isinstance(value, list) and shape.items is not None:
            for item in value:
                check(shape.items, item, f"{place}[]")

    check(endpoint.shape, ANSWERS[endpoint], endpoint.value)


@pytest.mark.rule("R025", "R055", "R162")
def test_the_values_of_every_open_list_of_the_document_are_known() -> None:
    """R025, R055, R162: known, so that a new one is reported; never closed."""
    lists: list[tuple[type[models.Answer], str, int]] = [
        (models.Card, "status", 6), (models.BalanceRow, "error", 2), (models.Funding, "network", 3),
        (models.Funding, "status", 4), (models.Funding, "reason", 26), (models.Funding, "token", 2),
        (models.FundingAddress, "tokens", 2), (models.LedgerEntry, "kind", 5),
        (models.Transaction, "status", 7), (models.DeclineReason, "code", 14),
        (models.Event, "type", 7), (models.Redelivery, "type", 7), (models.Deposit, "status", 4),
        (models.ThreeDsMethod, "three_ds_method", 2),
    ]  # fmt: skip

    for model, name, count in lists:
        shape = (shapes.shape_of(model).fields or {})[name]
        values = shape.values or (shape.items.values if shape.items else ())
        assert len(set(values)) == count, (model, name)


# Planted differences

Change = Callable[[dict[str, Any]], object]


def at(found: dict[str, Any], path: str, method: str) -> dict[str, Any]:
    answer: dict[str, Any] = found["paths"][path][method]
    return answer


def data_of(found: dict[str, Any], path: str, method: str) -> dict[str, Any]:
    answer = at(found, path, method)["responses"]["200"]["content"]["application/json"]["schema"]
    data: dict[str, Any] = answer["properties"]["data"]
    return data


def refusal_of(found: dict[str, Any], path: str, method: str, status: str) -> Any:
    return at(found, path, method)["responses"][status]["content"]["application/json"]["schema"]["allOf"][1]


def body_of(found: dict[str, Any], path: str, method: str) -> dict[str, Any]:
    body: dict[str, Any] = at(found, path, method)["requestBody"]["content"]["application/json"]["schema"]
    return body


TOPUP, ME = ("/cards/{cardId}/topup", "post"), ("/me", "get")
CARDS, CARD = ("/cards", "get"), ("/cards/{cardId}", "get")


def card(found: dict[str, Any]) -> dict[str, Any]:
    inner: dict[str, Any] = data_of(found, *CARD)["properties"]["card"]
    return inner


PLANTED: dict[str, tuple[Change, Difference]] = {
    "an endpoint is gone": (
        lambda d: d["paths"].pop("/cards/{cardId}/3ds"),
        Difference(B, "PUT /cards/{cardId}/3ds", "This endpoint is not described any more."),
    ),
    "an endpoint is new": (
        lambda d: d["paths"].update({"/cards/{id}/shred": {"post": {"responses": {}}}}),
        Difference(A, "POST /cards/{}/shred", "A new endpoint."),
    ),
    "the version moved": (
        lambda d: d["info"].update(version="1.1.0"),
        Difference(C, "openapi.json", "Its version is 1.1.0, not 1.0.0."),
    ),
    "a field we need is gone": (
        lambda d: (
            data_of(d, *TOPUP)["properties"].pop("credited_usd"),
            data_of(d, *TOPUP)["required"].remove("credited_usd"),
        ),
        Difference(
            B,
            "POST /cards/{cardId}/topup data.credited_usd",
            "It is not described any more, and we need it.",
        ),
    ),
    "a field we need may be missing": (
        lambda d: data_of(d, *TOPUP)["required"].remove("credited_usd"),
        Difference(B, "POST /cards/{cardId}/topup data.credited_usd", "It may be missing."),
    ),
    "a field we need may be null": (
        lambda d: data_of(d, *TOPUP)["properties"]["credited_usd"].update(type=["number", "null"]),
        Difference(B, "POST /cards/{cardId}/topup data.credited_usd", "It may be null."),
    ),
    "a field we need may be null, said in the older way": (
        lambda d: data_of(d, *TOPUP)["properties"]["credited_usd"].update(nullable=True),
        Difference(B, "POST /cards/{cardId}/topup data.credited_usd", "It may be null."),
    ),
    "an amount became a text": (
        lambda d: data_of(d, *TOPUP)["properties"]["credited_usd"].update(type="string"),
        Difference(
            B,
            "POST /cards/{cardId}/topup data.credited_usd",
            "It may be string; we read integer or number.",
        ),
    ),
    "a balance became nullable in a nested object": (
        lambda d: data_of(d, *ME)["properties"]["float"]["properties"]["available_usd"].update(
            {"anyOf": [{"type": "number"}, {"type": "null"}]}
        ),
        Difference(B, "GET /me data.float.available_usd", "It may be null."),
    ),
    "a field we could do without is gone": (
        lambda d: card(d)["properties"].pop("last4"),
        Difference(C, "GET /cards/{cardId} data.card.last4", "It is not described any more."),
    ),
    "a field is new": (
        lambda d: card(d)["properties"].update(color={"type": "string"}),
        Difference(A, "GET /cards/{cardId} data.card.color", "A new field."),
    ),
    "a status is new": (
        lambda d: card(d)["properties"]["status"]["enum"].append("DORMANT"),
        Difference(A, "GET /cards/{cardId} data.card.status", "A new value: DORMANT."),
    ),
    "a field of a row in an envelope that is not shown is gone": (
        lambda d: data_of(d, "/funding", "get")["properties"]["qzx"]["items"]["required"].remove("tx_hash"),
        Difference(B, "GET /funding data[].tx_hash", "It may be missing."),
    ),
    "an answer whose envelope is not shown has nothing of what we need": (
        lambda d: data_of(d, "/funding", "get")["properties"].update(qzx={"type": "string"}),
        Difference(B, "GET /funding data", "It may be object; we read array."),
    ),
    "an error code is new": (
        lambda d: refusal_of(d, *TOPUP, "409")["properties"]["code"]["enum"].append("ON_HOLD"),
        Difference(
            C,
            "POST /cards/{cardId}/topup",
            "It may be refused with 409 ON_HOLD, which we do not know here.",
        ),
    ),
    "a known code has a new place": (
        lambda d: refusal_of(d, *CARDS, "404")["properties"]["code"]["enum"].append("QUOTA"),
        Difference(C, "GET /cards", "It may be refused with 404 QUOTA, which we do not know here."),
    ),
    "an error status is new": (
        lambda d: at(d, *CARDS)["responses"].update({"423": {"description": "Locked"}}),
        Difference(C, "GET /cards", "It may be refused with 423, which we do not know here."),
    ),
    "a body needs more": (
        lambda d: body_of(d, *TOPUP)["required"].append("purpose"),
        Difference(B, "POST /cards/{cardId}/topup", "Its body requires purpose, which is not sent."),
    ),
    "a body field is of another kind": (
        lambda d: body_of(d, *TOPUP)["properties"]["amount_usd"].update(type="string"),
        Difference(B, "POST /cards/{cardId}/topup body.amount_usd", "It is to be string, not number."),
    ),
    "a body field is refused": (
        lambda d: (
            body_of(d, "/cards", "post")["properties"].pop("partner_ref"),
            body_of(d, "/cards", "post").update(additionalProperties=False),
        ),
        Difference(B, "POST /cards body.partner_ref", "This field of the body is not described."),
    ),
    "a query parameter is required": (
        lambda d: at(d, *CARDS)["parameters"].append({"in": "query", "name": "tenant", "required": True}),
        Difference(B, "GET /cards", "It requires the query parameter tenant."),
    ),
    "a query parameter is gone": (
        lambda d: at(d, *CARDS)["parameters"].pop(0),
        Difference(C, "GET /cards", "The query parameter limit is not described any more."),
    ),
    "a money call takes no key any more": (
        lambda d: at(d, *TOPUP)["parameters"].clear(),
        Difference(
            B,
            "POST /cards/{cardId}/topup",
            "It is not said to take an Idempotency-Key: a repeat may act twice.",
        ),
    ),
    "an event is new": (
        lambda d: d["webhooks"].update({"card.exploded": {}}),
        Difference(A, "event card.exploded", "A new type of event."),
    ),
    "an event lost what we need of it": (
        lambda d: d["webhooks"]["float.credited"]["post"]["requestBody"]["content"]["application/json"][
            "schema"
        ]["properties"]["data"]["required"].remove("funding_id"),
        Difference(B, "event float.credited data.funding_id", "It may be missing."),
    ),
    "a success is not described": (
        lambda d: at(d, *CARDS)["responses"].pop("200"),
        Difference(B, "GET /cards", "No success with `data` is described."),
    ),
}


@pytest.mark.parametrize(("change", "shown"), PLANTED.values(), ids=PLANTED)
def test_each_difference_is_reported_and_nothing_else(change: Change, shown: Difference) -> None:
    found = copy.deepcopy(FULL)
    change(found)

    assert compare(found) == [shown]


def test_the_gravest_difference_comes_first() -> None:
    found = copy.deepcopy(FULL)
    for name in ("an endpoint is new", "a status is new", "an error code is new", "an endpoint is gone"):
        PLANTED[name][0](found)

    assert [one.weight for one in compare(found)] == [B, C, A, A]


def test_the_way_a_description_is_written_makes_no_difference() -> None:
    """References, `nullable`, other names of path parameters, the base path in the paths."""
    found = copy.deepcopy(FULL)
    found["components"] = {"schemas": {"Card": card(found), "Loop": {"$ref": "#/components/schemas/Loop"}}}
    data_of(found, *CARD)["properties"]["card"] = {"$ref": "#/components/schemas/Card", "description": "x"}
    found["components"]["schemas"]["Card"]["properties"]["last4"] = {"type": "string", "nullable": True}
    renamed = {path.replace("{cardId}", "{card_id}"): item for path, item in found["paths"].items()}
    found["paths"] = {f"/api/partner/v1{path}": item for path, item in renamed.items()}

    assert compare(found) == []


def test_a_field_that_only_some_alternatives_require_may_be_missing() -> None:
    found = copy.deepcopy(FULL)
    data = data_of(found, *TOPUP)
    full, part = copy.deepcopy(data), copy.deepcopy(data)
    part["required"].remove("fee_usd")
    data.clear()
    data["oneOf"] = [full, part]

    assert compare(found) == [Difference(B, "POST /cards/{cardId}/topup data.fee_usd", "It may be missing.")]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
PLACES = [
    ("paths",), ("info",), ("paths", "/me"), ("paths", "/me", "get"), ("webhooks",),
    ("webhooks", "float.credited"), ("paths", "/me", "get", "responses"),
    ("paths", "/cards", "get", "parameters"), ("paths", "/cards/{cardId}/topup", "post", "requestBody"),
    ("paths", "/me", "get", "responses", "200", "content", "application/json", "schema"),
    ("paths", "/me", "get", "responses", "200", "content", "application/json", "schema", "properties", "data"),
    ("paths", "/me", "get", "responses", "404", "content", "application/json", "schema"),
]  # fmt: skip
WORDS = (
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "allOf",
    "anyOf",
    "oneOf",
    "$ref",
    "const",
    "in",
    "name",
)


@settings(max_examples=40)
@given(place=st.sampled_from(PLACES), value=JSON, word=st.sampled_from(WORDS), wrap=st.booleans())
def test_a_description_of_any_form_is_compared_and_never_an_error(
    place: tuple[str, ...], value: Any, word: str, wrap: bool
) -> None:
    found = copy.deepcopy(FULL)
    node = found
    for name in place[:-1]:
        node = node[name]
    node[place[-1]] = ([{word: value}] if place[-1] == "parameters" else {word: value}) if wrap else value

    for one in compare(found):
        assert one.says
        assert len(one.says) < 300


def test_no_description_at_all_is_one_difference() -> None:
    empty: list[dict[str, Any]] = [{}, {"paths": []}, {"paths": {"/me": []}}]
    for nothing in empty:
        assert [one.says for one in compare(nothing)] == ["It describes no endpoint at all."]


# Fetching it


async def test_the_description_is_fetched_without_the_key() -> None:
    """U70."""
    api = CannedApi(httpx.Response(200, json=FULL))

    found = await openapi_fetch.fetch(BASE_URL + "/", transport=api)

    assert found == FULL
    assert api.requests[0].url == f"{BASE_URL}/openapi.json"
    assert not {"x-api-key", "authorization", "cookie"} & set(api.requests[0].headers)


@pytest.mark.parametrize(
    "step",
    [
        httpx.Response(404, json={"error": "No.", "code": "NOT_FOUND"}),
        httpx.Response(200, html="<h1>Docs</h1>"),
        httpx.Response(200, json=[1]),
        httpx.ConnectError("down"),
        httpx.ReadTimeout("slow"),
        ConnectionResetError("reset"),
    ],
)
async def test_what_is_no_description_is_said_in_words(step: httpx.Response | Exception) -> None:
    with pytest.raises(NoDescription, match=r"\.$"):
        await openapi_fetch.fetch(BASE_URL, transport=CannedApi(step))


async def test_a_description_that_never_ends_is_given_up_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    class Drips(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            while True:
                yield b" "
                await asyncio.sleep(0.01)

    class Dripping(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, stream=Drips())

    monkeypatch.setattr(openapi_fetch, "RECORD_READ_SECONDS", 0.1)
    with pytest.raises(NoDescription, match="in time"):
        await openapi_fetch.fetch(BASE_URL, transport=Dripping())


@pytest.mark.parametrize(
    "leads_to",
    [
        {"$ref": "#/components/schemas/Loop"},
        {"$ref": "#/components/schemas/Nothing"},
        {"$ref": "elsewhere.json#/components/schemas/Loop"},
        {"$ref": "#/info/version"},
    ],
)
def test_a_reference_that_leads_nowhere_says_nothing(leads_to: dict[str, str]) -> None:
    reader = openapi_fetch.Reader(
        {"info": {"version": "1"}, "components": {"schemas": {"Loop": {"$ref": "#/components/schemas/Loop"}}}}
    )
    assert reader.read(leads_to) == openapi_fetch.Described()


async def test_a_description_of_any_size_is_not_taken() -> None:
    fits, too_large = (
        httpx.Response(200, content=b"{}".ljust(size))
        for size in (openapi_fetch.MOST_BYTES, openapi_fetch.MOST_BYTES + 1)
    )

    assert await openapi_fetch.fetch(BASE_URL, transport=CannedApi(fits)) == {}
    with pytest.raises(NoDescription, match="larger"):
        await openapi_fetch.fetch(BASE_URL, transport=CannedApi(too_large))


async def test_a_pattern_that_names_the_nul_is_no_reason_to_refuse_a_description() -> None:
    api = CannedApi(httpx.Response(200, content=b'{"pattern":"[^\\u0000]*","maximum":0.5}'))

    assert await openapi_fetch.fetch(BASE_URL, transport=api) == {"pattern": "[^\0]*", "maximum": 0.5}


async def test_a_redirect_is_not_followed() -> None:
    api = CannedApi(httpx.Response(302, headers={"Location": "/elsewhere"}), httpx.Response(200, json=FULL))

    with pytest.raises(NoDescription, match="302"):
        await openapi_fetch.fetch(BASE_URL, transport=api)
    assert len(api.requests) == 1


async def test_a_bad_address_is_refused_before_the_fetch() -> None:
    with pytest.raises(AccessRefused):
        await openapi_fetch.fetch("ftp://example.com")


async def test_the_simulator_describes_what_the_client_knows_and_marks_what_it_made_up() -> None:
    """Two readings of one document, held against each other: `countersign doctor` has nothing to say."""
    running = await serve(port=0)
    try:
        found = compare(await openapi_fetch.fetch(running.base_url))
    finally:
        await running.close()

    assert found == []
