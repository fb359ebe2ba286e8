"""A simulator over real HTTP, a raw client for the API and one for its control calls."""

from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

import httpx
import jsonschema
import msgspec
import pytest
from aiohttp import web

from sandbox.partner.openapi import document
from sandbox.partner.routes import table
from sandbox.partner.server import Running, serve

_DECODER = msgspec.json.Decoder(float_hook=Decimal)
_ENCODER = msgspec.json.Encoder(decimal_format="number")
ORDER = {
    "card_holder_name": "Ada Lovelace",
    "phone_country_code": 49,
    "phone": "15123456789",
    "email": "ada@example.com",
    "partner_ref": "emp-1",
}


class Answered:
    """An answer with its exact body."""

    def __init__(self, response: httpx.Response) -> None:
        self.status = response.status_code
        self.headers = response.headers
        self.body: Any = _DECODER.decode(response.content)

    @property
    def data(self) -> Any:
        assert self.status < 300, (self.status, self.body)
        assert set(self.body) == {"data"}
        return self.body["data"]

    @property
    def refusal(self) -> tuple[int, str]:
        """Status and code of an error, whose body is flat (R001)."""
        assert set(self.body) == {"error", "code"}, self.body
        return self.status, self.body["code"]


_PLAUSIBLE = document.document()


class Description:
    """The OpenAPI that the simulator serves: every answer of every test is held against it."""

    def __init__(self, shown: dict[str, Any] | None = None) -> None:
        self._document = shown or _PLAUSIBLE

    def check(self, method: str, path: str, status: int, body: Any) -> None:
        """Fail on an answer whose status or body the description does not allow."""
        found = self._operation(method, path.partition("?")[0])
        if found is None:
            assert status in (401, 404, 405, 429), (method, path, status)
            return
        allowed = found["responses"]
        assert str(status) in allowed, f"{method} {path} answered {status}, which is not described"
        answer = allowed[str(status)]
        if "$ref" in answer:
            answer = self._document["components"]["responses"][answer["$ref"].rpartition("/")[2]]
        schema = answer["content"]["application/json"]["schema"]
        whole = {**_strict(schema), "components": _strict(self._document["components"])}
        jsonschema.Draft202012Validator(whole).validate(body)

    def check_event(self, kind: str, payload: Any) -> None:
        """Fail on a payload that the described delivery of its type does not allow."""
        content = self._document["webhooks"][kind]["post"]["requestBody"]["content"]["application/json"]
        data = _strict(content["schema"]["properties"]["data"])
        whole = {**data, "components": _strict(self._document["components"])}
        jsonschema.Draft202012Validator(whole).validate(payload)

    def _operation(self, method: str, path: str) -> dict[str, Any] | None:
        at_path = table.at_path(unquote(path))
        for operation, _ in at_path:
            if operation.method == method:
                described: dict[str, Any] = self._document["paths"][operation.path][method.lower()]
                return described
        return None


def _strict(schema: Any) -> Any:
    """The same, with no properties but those named: a field that nobody described is a mistake."""
    if isinstance(schema, list):
        return [_strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {key: _strict(value) for key, value in schema.items()}
    if schema.get("type") == "object" and schema.get("properties"):
        strict["additionalProperties"] = False
    return strict


class Api:
    """A client that knows nothing but HTTP: what it checks is the simulator's word alone."""

    def __init__(self, http: httpx.AsyncClient, key: str, description: "Description | None" = None) -> None:
        self.http = http
        self.key = key
        self.description = description or Description()

    async def call(
        self, method: str, path: str, body: Any = None, *, idem: str | None = None, raw: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> Answered:  # fmt: skip
        sent = {
            "X-API-Key": self.key,
            **({"Idempotency-Key": idem} if idem is not None else {}),
            **(headers or {}),
        }
        content = raw if raw is not None else _ENCODER.encode(body) if body is not None else None
        answered = Answered(await self.http.request(method, path, content=content, headers=sent))
        self.description.check(method, path, answered.status, answered.body)
        return answered

    async def get(self, path: str) -> Answered:
        return await self.call("GET", path)

    async def post(self, path: str, body: Any = None, *, idem: str | None = None) -> Answered:
        return await self.call("POST", path, body, idem=idem)

    async def order(self, idem: str = "order-1", **changes: Any) -> str:
        """Order a card; its id."""
        card = (await self.post("/cards", {**ORDER, **changes}, idem=idem)).data["card"]
        return str(card["id"])

    async def top_up(self, card_id: str, amount_usd: str = "25.00", *, idem: str = "topup-1") -> Answered:
        return await self.post(f"/cards/{card_id}/topup", {"amount_usd": Decimal(amount_usd)}, idem=idem)

    async def loaded(self, hand: "Hand", amount_usd: str = "1000", idem: str = "loaded") -> str:
        """A card that holds an amount; its id."""
        await hand("account", monthly_fee_usd="0")
        await hand("float", amount_usd=amount_usd)
        card_id = await self.order(idem)
        await hand(f"cards/{card_id}", status="ACTIVE")
        assert (await self.top_up(card_id, amount_usd, idem=f"{idem}-topup")).status == 200
        return card_id

    async def history(self, card_id: str, query: str = "") -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = (await self.get(f"/cards/{card_id}/transactions{query}")).data[
            "transactions"
        ]
        return rows

    async def balance(self, card_id: str) -> Decimal:
        return Decimal((await self.get(f"/cards/{card_id}")).data["balance_usd"])

    async def events(self, query: str = "") -> list[dict[str, Any]]:
        """The log, oldest first."""
        found: list[dict[str, Any]] = (await self.get(f"/events?limit=100{query}")).data["events"]
        return found[::-1]

    async def ledger(self) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = (await self.get("/ledger?limit=100")).data["entries"]
        return entries

    async def float(self) -> dict[str, Any]:
        figures: dict[str, Any] = (await self.get("/me")).data["float"]
        return figures


class Hand:
    """The control API."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def __call__(self, path: str, **body: Any) -> Any:
        response = await self.http.post(path, json=body)
        assert response.status_code == 200, response.text
        return response.json()

    async def refused(self, path: str, **body: Any) -> str:
        """The sentence of a 400."""
        response = await self.http.post(path, json=body)
        assert response.status_code == 400, response.text
        return str(response.json()["error"])

    async def state(self) -> dict[str, Any]:
        state: dict[str, Any] = (await self.http.get("state")).json()
        return state

    async def buy(self, card_id: str, amount_usd: str = "10.00", **more: Any) -> Any:
        """A purchase on a card; what the terminal was given."""
        return await self("purchases", card_id=card_id, amount_usd=amount_usd, **more)

    async def fault(self, effect: str, operation: str = "POST /cards/{cardId}/topup", **more: Any) -> None:
        await self("faults", operation=operation, effect=effect, **more)


class Receiver:
    """A webhook endpoint: keeps what it is sent and answers what it is told to."""

    def __init__(self) -> None:
        self.got: list[tuple[str, str, dict[str, str], bytes]] = []
        self.answers: list[web.Response] = []
        self.status = 200
        self.url = ""

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        self.got.append((request.method, request.path_qs, dict(request.headers), body))
        return self.answers.pop(0) if self.answers else web.Response(status=self.status)

    @property
    def bodies(self) -> list[Any]:
        return [_DECODER.decode(body) for _, _, _, body in self.got if body]


@pytest.fixture
async def receiver(hand: "Hand") -> AsyncIterator[Receiver]:
    """An endpoint behind https://hooks.example.com, not yet registered; the clock stands still."""
    receiver = Receiver()
    server = web.ServerRunner(web.Server(receiver))
    await server.setup()
    site = web.TCPSite(server, "127.0.0.1", 0)
    await site.start()
    receiver.url = f"http://127.0.0.1:{server.addresses[0][1]}"
    await hand("clock", mode="frozen", set="2026-03-02T09:00:00Z")
    await hand("deliveries", map={"hooks.example.com": receiver.url})
    yield receiver
    await server.cleanup()


@pytest.fixture
async def simulator() -> AsyncIterator[Running]:
    running = await serve(port=0)
    yield running
    await running.close()


@pytest.fixture
async def api(simulator: Running) -> AsyncIterator[Api]:
    async with httpx.AsyncClient(base_url=simulator.base_url, trust_env=False, verify=False) as http:
        yield Api(http, simulator.key)


@pytest.fixture
async def hand(simulator: Running) -> AsyncIterator[Hand]:
    """The control API; every test ends with the invariants holding."""
    async with httpx.AsyncClient(base_url=simulator.control_url + "/", trust_env=False, verify=False) as http:
        hand = Hand(http)
        yield hand
        assert (await hand.state())["invariants"] == {"ok": True, "broken": []}
