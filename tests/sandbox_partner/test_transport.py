"""Keys, scopes, the rate limit, paths and methods, and reading the account."""

import json
from decimal import Decimal
from typing import Any

import pytest

from sandbox.partner.routes import OPERATIONS
from tests.sandbox_partner.conftest import Api, Hand

pytestmark = pytest.mark.by_turns(4)

EVERY = [(operation.method, operation.path.replace("{cardId}", "x").replace("{fundingId}", "y"))
         for operation in OPERATIONS]  # fmt: skip


@pytest.mark.rule("R007")
async def test_the_four_causes_of_401_cannot_be_told_apart(api: Api, hand: Hand) -> None:
    """R007."""
    revoked = (await hand("keys"))["key"]
    await hand("keys", key=revoked, revoked=True)
    bodies = []
    for key in ("", "svc_live_0000000012345678", revoked):
        answer = await api.call("GET", "/me", headers={"X-API-Key": key})
        assert answer.refusal == (401, "UNAUTHORIZED")
        bodies.append(answer.body)
    await hand("account", suspended=True)
    bodies.append((await api.get("/me")).body)
    assert all(body == bodies[0] for body in bodies)


@pytest.mark.rule("R006")
async def test_a_bearer_token_works_everywhere_but_by_a_switch_on_me(api: Api, hand: Hand) -> None:
    """R006, U10."""
    headers = {"Authorization": f"Bearer {api.key}"}
    for path, status in (("/me", 401), ("/fees", 200)):
        await hand("account", bearer_on_me="refuse")
        response = await api.http.get(path, headers=headers)
        assert response.status_code == status
    await hand("account", bearer_on_me="accept")
    assert (await api.http.get("/me", headers=headers)).status_code == 200


@pytest.mark.parametrize(("method", "path"), EVERY)
@pytest.mark.rule("R008", "R009", "R010")
async def test_each_operation_needs_its_own_scope_and_names_it(
    api: Api, hand: Hand, method: str, path: str
) -> None:
    """R008, R009, R010."""
    operation = next(one for one, at in zip(OPERATIONS, EVERY, strict=True) if at == (method, path))
    others = sorted({one.scope for one in OPERATIONS} - {operation.scope})
    key = (await hand("keys", scopes=others))["key"]

    answer = await api.call(method, path, headers={"X-API-Key": key})

    assert answer.refusal == (403, "FORBIDDEN")
    assert operation.scope in answer.body["error"]


@pytest.mark.rule("R018", "R019", "R021")
async def test_the_limit_is_a_rolling_minute_of_the_simulators_clock(api: Api, hand: Hand) -> None:
    """R018, R019, R021, U53."""
    await hand("clock", mode="frozen")
    key = (await hand("keys", rate_limit_per_minute=3))["key"]
    slow = Api(api.http, key)
    for remaining in ("2", "1", "0"):
        answer = await slow.get("/fees")
        assert answer.headers["x-ratelimit-remaining"] == remaining
        assert answer.headers["x-ratelimit-limit"] == "3"
        await hand("clock", advance_seconds=20)
    assert (await slow.get("/fees")).status == 200  # the first call is a minute old
    refused = await slow.get("/fees")
    assert refused.refusal == (429, "RATE_LIMITED")
    assert refused.headers["retry-after"] == "60"
    assert (await api.get("/fees")).status == 200  # another key has its own allowance


@pytest.mark.parametrize(
    ("method", "path"),
    [("DELETE", "/me"), ("PUT", "/cards"), ("GET", "/cards/x/topup"), ("HEAD", "/me"), ("OPTIONS", "/me")],
)
@pytest.mark.rule("R013", "R015")
async def test_a_wrong_method_is_405_bad_request_after_the_key(api: Api, method: str, path: str) -> None:
    """R013, R015, U73."""
    response = await api.http.request(method, path, headers={"X-API-Key": api.key})
    assert response.status_code == 405
    if method != "HEAD":
        assert response.json()["code"] == "BAD_REQUEST"
    assert (await api.http.request(method, path)).status_code == 401


@pytest.mark.parametrize("path", ["/nothing", "/me/", "/cards/a/b/c", "/cards/a%2Fb", "//me"])
@pytest.mark.rule("R001")
async def test_an_unknown_path_is_a_flat_404(api: Api, path: str) -> None:
    """R001, U72, U74."""
    assert (await api.get(path)).refusal == (404, "NOT_FOUND")


@pytest.mark.rule("R016", "R017", "R044", "R046", "R051")
async def test_me_shows_the_account_and_never_the_key(api: Api, hand: Hand) -> None:
    """R016, R017, R044, R046, R051."""
    await hand("account", load_pct="0.025")
    await api.call("PUT", "/fees", {"markup_pct": Decimal("0.01")})
    data = (await api.get("/me")).data
    assert (data["key"]["mode"], data["key"]["prefix"]) == ("live", api.key[:17])
    assert api.key not in str(data)
    assert data["fees"]["svc_pct"] == Decimal("0.025")
    assert data["fees"]["example_on_100_usd"] == {
        "svc_fee_usd": Decimal("2.5"), "your_fee_usd": 1, "lands_on_card_usd": Decimal("96.5"),
    }  # fmt: skip
    assert (data["float"]["limit_usd"], data["cards"]["limit"]) == (None, None)


@pytest.mark.parametrize(("given", "stored"), [("0", "0"), ("0.5", "0.5"), ("0.0123456", "0.01235")])
@pytest.mark.rule("R047")
async def test_the_markup_is_stored_at_five_decimals(api: Api, given: str, stored: str) -> None:
    """R047."""
    data = (await api.call("PUT", "/fees", {"markup_pct": Decimal(given)})).data
    assert data["your_markup_pct"] == Decimal(stored)
    assert (await api.get("/fees")).data == data


@pytest.mark.parametrize("given", [-0.01, 0.50001, "0.1", None, True, []])
@pytest.mark.rule("R047")
async def test_a_markup_outside_its_range_is_refused(api: Api, given: Any) -> None:
    """R047."""
    raw = b'{"markup_pct": %s}' % json.dumps(given).encode()
    assert (await api.call("PUT", "/fees", raw=raw)).refusal == (400, "BAD_REQUEST")


@pytest.mark.parametrize("path", ["/ledger", "/events"])
@pytest.mark.parametrize(
    "query", ["limit=101", "limit=abc", "limit=-1", "limit=1.5", "page=x", "page=-1", "limit=%D9%A1"]
)
@pytest.mark.rule("R073", "R193", "R235")
async def test_ledger_and_events_refuse_bad_pages(api: Api, path: str, query: str) -> None:
    """R073, R193, R235, U44."""
    assert (await api.get(f"{path}?{query}")).refusal == (400, "BAD_REQUEST")


@pytest.mark.rule("R193", "R194", "R196", "R197")
async def test_the_ledger_pages_and_reads_total_zero_past_its_end(api: Api, hand: Hand) -> None:
    """R193, R194, R196, R197."""
    for number in range(1, 6):
        await hand("float", amount_usd=str(number))
    page = (await api.get("/ledger?limit=2&page=3")).data
    assert [row["amount_usd"] for row in page["entries"]] == [1]
    assert (page["count"], page["page"], page["total"], page["total_pages"]) == (1, 3, 5, 3)
    past = (await api.get("/ledger?limit=2&page=4")).data
    assert (past["entries"], past["total"]) == ([], 0)
    assert past["total_pages"] >= 1
    assert len((await api.get("/ledger?limit=0&page=0")).data["entries"]) == 1


@pytest.mark.rule("R235", "R236")
async def test_events_are_filtered_by_type_and_from_an_inclusive_moment(api: Api, hand: Hand) -> None:
    """R235, R236, U76."""
    await hand("clock", mode="frozen", set="2026-01-01T00:00:00Z")
    card = await api.order()
    for frozen in (True, False):
        await api.post(f"/cards/{card}/freeze", {"frozen": frozen})
        await hand("clock", advance_seconds=60)

    assert (await api.get("/events?since=2026-01-01T00:01:00Z")).data["total"] == 1
    assert (await api.get("/events?since=2026-01-01T02:01:00%2B02:00")).data["total"] == 1
    assert (await api.get("/events?since=2026-01-01T00:01:00.0001Z")).data["total"] == 0
    assert (await api.get("/events?type=nothing.known")).data["events"] == []
    assert (await api.get("/events?since=yesterday")).refusal == (400, "BAD_REQUEST")


@pytest.mark.rule("R027")
async def test_money_is_never_rounded_on_its_way_through_json(api: Api, hand: Hand) -> None:
    """R027: a value that a double cannot hold."""
    await hand("float", amount_usd="123456789.1234567891")
    assert (await api.float())["balance_usd"] == Decimal("123456789.1234567891")
    assert (await api.ledger())[0]["amount_usd"] == Decimal("123456789.1234567891")


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "PATCH", "OPTIONS", "HEAD"])
async def test_the_description_is_read_and_nothing_else(api: Api, method: str) -> None:
    answer = await api.http.request(method, "/openapi.json")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")


@pytest.mark.parametrize("path", ["/ledger", "/events", "/funding", "/deposits", "/cards/{}/transactions"])
async def test_a_page_far_beyond_the_end_is_empty_and_says_its_own_number(api: Api, path: str) -> None:
    card = await api.order()
    for asked, shown in {
        "00000000000000000000000007": 7,
        "5000000000": 5_000_000_000,
        "9" * 400: 2**53 - 1,
    }.items():
        data = (await api.get(f"{path.format(card)}?page={asked}")).data
        assert (data["page"], data["count"]) == (shown, 0)
