"""The list of rules, and those that no other file shows: what the API does not offer, and how it embeds."""

import re
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiohttp import web
from playwright.async_api import Page

from sandbox.partner.accounts import Settings
from sandbox.partner.control import CALLS
from sandbox.partner.openapi import document as openapi_document
from sandbox.partner.scenarios import SCENARIOS
from sandbox.partner.schemas import PAYLOADS
from tests.sandbox_partner.conftest import ORDER, Api, Hand
from tests.support.chromium import CHROMIUM, a_browser
from tests.support.docs_scripts import docs_script

pytestmark = pytest.mark.by_turns(4)

ROOT = Path(__file__).parents[2]


def test_every_rule_is_proved_by_a_test_or_says_why_not() -> None:
    rules = docs_script("rules")
    found = rules.proofs()
    assert sorted(found) == sorted(rules.RULES), "a mark names a rule that is not one"
    without = {rule for rule, tests in found.items() if not tests}
    assert without <= set(rules.UNTESTED)


def test_the_page_of_rules_names_only_tests_that_exist_and_a_proof_of_each_rule() -> None:
    rules = docs_script("rules")
    lines = rules.TARGET.read_text(encoding="utf-8").splitlines()
    shown = {line[2:6]: set(re.findall("`([^`]+)`", line)) for line in lines if re.match(r"\| R\d", line)}
    found = rules.proofs()
    assert sorted(shown) == sorted(rules.RULES)
    for rule, tests in shown.items():
        assert tests <= set(found[rule]), f"{rule}: run python docs/rules.py"
        assert tests or rule in rules.UNTESTED, f"{rule}: run python docs/rules.py"


@pytest.mark.rule("R026")
async def test_the_version_is_in_the_base_path_and_nothing_answers_without_it(api: Api) -> None:
    """R026: a client that drops the path of its base address gets a 404, not another version."""
    base = str(api.http.base_url).rstrip("/")
    assert base.endswith("/api/partner/v1")
    async with httpx.AsyncClient() as http:
        for root in (
            base.removesuffix("/api/partner/v1"),
            base.removesuffix("/v1"),
            base.replace("/v1", "/v2"),
        ):
            answer = await http.get(f"{root}/me", headers={"X-API-Key": api.key})
            assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")


@pytest.mark.rule("R216")
async def test_a_registration_that_could_not_be_saved_reads_like_a_bad_address(api: Api, hand: Hand) -> None:
    """R216: the same 400 for an address that was right; nothing was saved."""
    await hand.fault("status", "PUT /webhook", status=400)
    good = {"url": "https://hooks.example.com/"}
    refused = [
        await api.call("PUT", "/webhook", good),
        await api.call("PUT", "/webhook", {"url": "https://localhost/"}),
    ]
    assert [answer.refusal for answer in refused] == [(400, "BAD_REQUEST")] * 2
    assert (await api.get("/webhook")).data["webhook"] is None
    assert (await api.call("PUT", "/webhook", good)).data["secret"]


@pytest.mark.rule("R028")
async def test_rounding_each_row_breaks_the_sum(api: Api, hand: Hand) -> None:
    """R028: three thirds of a cent are a cent in the balance and nothing row by row."""
    for _ in range(3):
        await hand("float", amount_usd="0.0033333333")
    amounts = [Decimal(row["amount_usd"]) for row in await api.ledger()]
    cent = Decimal("0.01")
    balance_usd = Decimal((await api.float())["balance_usd"])
    assert sum(amounts) == balance_usd
    assert balance_usd.quantize(cent) == cent
    assert sum(amount.quantize(cent) for amount in amounts) == 0


@pytest.mark.rule("R043", "R192")
async def test_the_total_rate_is_charged_on_no_route(api: Api, hand: Hand) -> None:
    """R043, R192: funding pays the load rate alone, a top-up nothing."""
    await api.call("PUT", "/fees", {"markup_pct": Decimal("0.1")})
    fees = (await api.get("/fees")).data
    assert fees["total_pct"] == fees["load_from_float_pct"] + Decimal("0.1")
    await hand("wallets", address="0xaa", owner="self")
    tx_hash = "0x" + "7" * 64
    sent = {"network": "POLYGON", "tx_hash": tx_hash, "senders": ["0xAA"], "token": "USDC", "amount": "100"}
    await hand("chain/transfers", **sent)
    funded = (await api.post("/funding", {"tx_hash": tx_hash, "network": "POLYGON"})).data
    assert funded["fee_usd"] == 100 * fees["load_from_float_pct"]
    card = await api.order()
    assert (await api.top_up(card, "50")).data["fee_usd"] == 0


@pytest.mark.rule("R045")
async def test_the_rate_card_does_not_tell_what_a_purchase_was_charged(api: Api, hand: Hand) -> None:
    """R045: rounding by part, and legs with fees of their own, leave it behind."""
    card = await api.loaded(hand)
    bought = await hand.buy(card, "10.10", kind="high_risk")
    await hand(f"purchases/{bought['transaction_id']}/settle", fee_usd="0.40")
    [row] = await api.history(card)
    rates = (await api.get("/fees")).data["transaction"]
    by_rate = Decimal("10.10") * (rates["usd_purchase_pct"] + rates["high_risk_surcharge_pct"])
    assert row["provider_fee_usd"] != by_rate
    assert row["provider_fee_usd"] == Decimal("0.60")


@pytest.mark.rule("R058", "R080")
async def test_a_reference_may_repeat_and_nothing_is_found_by_it(api: Api) -> None:
    """R058, R080: unknown query parameters change nothing, so no search hides there."""
    for number in range(2):
        await api.order(f"o{number}", partner_ref="emp-7")
    for query in ("partner_ref=other", "last4=0000", "name=nobody", "search=x"):
        cards = (await api.get(f"/cards?{query}")).data["cards"]
        assert [card["partner_ref"] for card in cards] == ["emp-7", "emp-7"]


@pytest.mark.rule("R066", "R012")
async def test_an_email_is_passed_on_and_never_readable_again(api: Api, hand: Hand) -> None:
    """R066; R012: a key for cards alone cannot read its own allowance either."""
    card = await api.order(email="canary@example.org")
    seen = [(await api.get(path)).body for path in (f"/cards/{card}", "/cards", "/me", "/events", "/ledger")]
    assert "canary" not in str([*seen, await hand.state()])
    cards_only = Api(api.http, (await hand("keys", scopes=["cards:read", "cards:write", "cards:pan"]))["key"])
    assert (await cards_only.get("/me")).refusal == (403, "FORBIDDEN")


@pytest.mark.rule("R020")
async def test_too_many_pending_has_no_retry_after(api: Api) -> None:
    """R020."""
    for number in range(6):
        answer = await api.post("/funding", {"tx_hash": f"0x{number:064x}", "network": "POLYGON"})
    assert answer.refusal == (429, "TOO_MANY_PENDING")
    assert "retry-after" not in answer.headers


@pytest.mark.rule("R004", "R005")
async def test_an_answer_cut_off_by_a_proxy_is_not_json(api: Api, hand: Hand) -> None:
    """R004, R005: what a client must count as no answer; the work was done all the same."""
    await hand("float", amount_usd="100")
    await hand.fault("garbage", "POST /cards")
    response = await api.http.post(
        "/cards", json=ORDER, headers={"X-API-Key": api.key, "Idempotency-Key": "o1"}
    )
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        response.json()
    assert (await api.get("/cards")).data["count"] == 1


OUTER = """<!doctype html><title>Partner</title>
<iframe id="frame" src="%s" width="420" height="240" %s></iframe>
<script>
window.told = [];
addEventListener("message", (event) => window.told.push({ data: event.data, origin: event.origin }));
</script>"""


@pytest.fixture
async def page() -> AsyncIterator[Page]:
    async with a_browser() as browser:
        yield await browser.new_page()


async def serve_text(text: str) -> tuple[web.ServerRunner, str]:
    async def answer(_request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(text=text, content_type="text/html")

    server = web.ServerRunner(web.Server(answer))
    await server.setup()
    await web.TCPSite(server, "127.0.0.1", 0).start()
    return server, f"http://127.0.0.1:{server.addresses[0][1]}/"


@pytest.mark.rule("R150")
@pytest.mark.skipif(
    not CHROMIUM.exists(), reason="Chromium is not installed: the details page was not embedded"
)
@pytest.mark.parametrize("allow", ['allow="clipboard-write"', ""])
async def test_the_embedded_page_tells_its_parent_of_a_copy_and_without_leave_does_nothing(
    page: Page, api: Api, allow: str
) -> None:
    """R150 and the embedding contract: another origin's frame, its message, and the silent copy control."""
    card = await api.order()
    url = (await api.get(f"/cards/{card}/pan")).data["details_url"]
    server, outer = await serve_text(OUTER % (url, allow))
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.goto(outer)
    frame = page.frame_locator("#frame")
    number = (await frame.locator("#pan").inner_text()).replace(" ", "")
    assert len(number) == 16
    await frame.get_by_role("button", name="Copy card number").click()
    if allow:
        await page.wait_for_function("window.told.length > 0")
    else:
        await page.wait_for_timeout(300)
    displayed: list[Any] = await page.evaluate("window.told")
    origin = url.split("/card-details")[0]
    wanted = [{"data": {"type": "svc-card-copy-result", "ok": True}, "origin": origin}]
    assert displayed == (wanted if allow else [])
    await server.cleanup()


def test_the_page_of_the_simulator_names_every_control_call_setting_and_scenario() -> None:
    page = (ROOT / "docs" / "simulator.md").read_text(encoding="utf-8")
    for name in (*Settings.__struct_fields__, *SCENARIOS):
        assert f"`{name}`" in page, name
    for call in CALLS:
        last = call.path.rpartition("/")[2]
        assert (
            f"`{call.method} {call.path}`" in page or f"`{last}`" in page or f"`{call.method} {last}`" in page
        ), call


def codes_described() -> set[str]:
    document = openapi_document.document()
    found = set()
    for methods in document["paths"].values():
        for described in methods.values():
            for status, response in described["responses"].items():
                if status >= "300":
                    response = document["components"]["responses"][response["$ref"].rpartition("/")[2]]
                    schema = response["content"]["application/json"]["schema"]
                    named = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
                    found |= set(named["properties"]["code"]["enum"])
    return found


@pytest.mark.rule("R001", "R003")
async def test_every_error_code_comes_about_without_being_forced(api: Api, hand: Hand) -> None:
    """R001, R003: all seventeen, each from its own cause."""
    await hand("clock", mode="frozen")
    await hand("account", countries_refused=[850], monthly_fee_usd="0")
    card = await api.order()
    orders: list[dict[str, Any]] = [
        {"card_holder_name": "ß"},
        {"email": "x"},
        {"phone": "1"},
        {"phone_country_code": 850},
        {"phone": 1},
    ]
    seen = [await api.post("/cards", {**ORDER, **change}) for change in orders]
    narrow = Api(api.http, (await hand("keys", scopes=["users:read"]))["key"])
    seen += [await narrow.get("/cards"), await Api(api.http, "").get("/me"), await api.get("/cards/x")]
    seen.append(await api.top_up(card, "1"))  # an empty float
    await hand("float", amount_usd="10")
    await hand.fault("processor", processor="401")
    seen += [await api.top_up(card, "1", idem="spent"), await api.top_up(card, "1", idem="spent")]
    await hand.fault("processor", processor="5xx")
    seen.append(await api.top_up(card, "1", idem="open"))
    await hand("account", cards_limit=1)
    seen.append(await api.post("/cards", ORDER, idem="o2"))

    hashes = [f"0x{number:064x}" for number in range(8)]
    sent = {"network": "POLYGON", "senders": ["0xBB"], "token": "USDC", "amount": "20"}
    for tx_hash in hashes[6:]:
        await hand("chain/transfers", tx_hash=tx_hash, **sent)
    await hand(f"chain/transfers/{hashes[7]}/credited_elsewhere")
    other = Api(api.http, (await hand("keys", account=(await hand("accounts"))["account"]))["key"])
    assert (await other.post("/funding", {"tx_hash": hashes[6], "network": "POLYGON"})).status == 200
    seen += [await api.post("/funding", {"tx_hash": tx_hash, "network": "POLYGON"}) for tx_hash in hashes[6:]]
    seen += [await api.post("/funding", {"tx_hash": tx_hash, "network": "POLYGON"}) for tx_hash in hashes[:6]]
    slow = Api(api.http, (await hand("keys", rate_limit_per_minute=1))["key"])
    seen += [await slow.get("/fees"), await slow.get("/fees")]

    codes = {answer.body["code"] for answer in seen if answer.status >= 300}
    assert codes == codes_described()
    assert len(codes) == 17


async def test_every_event_type_comes_about(api: Api, hand: Hand) -> None:
    await hand("account", threeds_webhook_enabled=True, deposits_enabled=True)
    card = await api.loaded(hand, "100")
    await api.call("PUT", "/webhook", {"url": "https://hooks.example.com/"})
    await api.call("PUT", f"/cards/{card}/3ds", {"method": "webhook"})
    bought = await hand.buy(card, "5")
    await hand(f"purchases/{bought['transaction_id']}/settle")
    await hand.buy(card, "5", decline_code="unknown")
    await hand(f"cards/{card}/3ds", amount_usd="5", merchant="Web Shop")
    await api.post(f"/cards/{card}/unload", {"amount_usd": 1}, idem="u")
    await api.post(f"/cards/{card}/freeze", {"frozen": True})
    body = {"card_id": card, "asset": "USDC", "chain": "TRON", "amount_usd": 5}
    await hand(f"deposits/{(await api.post('/deposits', body)).data['deposit_id']}/confirm")
    await hand("wallets", address="0xaa", owner="self")
    sent = {
        "network": "POLYGON",
        "tx_hash": "0x" + "7" * 64,
        "senders": ["0xAA"],
        "token": "USDC",
        "amount": "100",
    }
    await hand("chain/transfers", **sent)
    await api.post("/funding", {"tx_hash": sent["tx_hash"], "network": "POLYGON"})
    for event in await api.events():
        api.description.check_event(event["type"], event["payload"])
    await hand("account", profile="scrambled")
    await hand(f"cards/{card}", status="ACTIVE")
    await hand.buy(card, "1")
    types = {event["type"] for event in (await hand.state())["events"]}
    assert types == set(PAYLOADS)
