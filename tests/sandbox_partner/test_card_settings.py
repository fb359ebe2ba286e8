"""Limits, phone, 3-D Secure mode, and card details with their two addresses."""

import asyncio
from typing import Any

import httpx
import pytest

from sandbox.partner.server import Running
from tests.sandbox_partner.conftest import Api, Hand

UNSET = {"daily_limit": None, "weekly_limit": None, "monthly_limit": None, "per_transaction_limit_usd": 5000}


async def put(api: Api, path: str, body: Any, idem: str | None = None) -> Any:
    return await api.call("PUT", path, body, idem=idem)


@pytest.mark.rule("R051", "R122", "R123", "R124", "R125")
async def test_limits_start_unset_and_what_is_not_named_keeps_its_value(api: Api) -> None:
    """R051, R122, R123, R124, R125."""
    card = await api.order()
    path = f"/cards/{card}/limits"
    assert (await api.get(path)).data == {"card_id": card, **UNSET}
    assert (await put(api, path, {"daily_limit": 50, "monthly_limit": 700})).data["monthly_limit"] == 700
    after = (await put(api, path, {"daily_limit": 80})).data
    assert (after["daily_limit"], after["weekly_limit"], after["monthly_limit"]) == (80, None, 700)
    assert (await api.get(path)).data == after


BAD_LIMITS: list[Any] = [
    {}, {"daily_limit": 0}, {"daily_limit": None}, {"daily_limit": -1}, {"daily_limit": "50"}, {"daily_limit": True},
    {"weekly_limit": 0.001}, {"per_transaction_limit_usd": 9}, {"daily_limit": 5, "yearly_limit": 5}, [], None,
]  # fmt: skip


@pytest.mark.parametrize("body", BAD_LIMITS)
@pytest.mark.rule("R029", "R030", "R122", "R123")
async def test_a_limit_cannot_be_removed_zero_or_unheard_of(api: Api, body: Any) -> None:
    """R029, R030, R122, R123."""
    card = await api.order()
    await put(api, f"/cards/{card}/limits", {"daily_limit": 50})
    assert (await put(api, f"/cards/{card}/limits", body)).refusal == (400, "BAD_REQUEST")
    assert (await api.get(f"/cards/{card}/limits")).data["daily_limit"] == 50


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("limits", {"daily_limit": 5}),
        ("phone", {"phone_country_code": 49, "phone": "15123456789"}),
        ("3ds", {"method": "webhook"}),
    ],
)
async def test_nothing_can_be_set_on_a_closed_or_unknown_card(api: Api, path: str, body: Any) -> None:
    """U35; GET limits still answers."""
    card = await api.order()
    await put(api, "/webhook", {"url": "https://hooks.example.com/"})
    assert (await put(api, f"/cards/{'z' * 32}/{path}", "not an object")).refusal == (404, "NOT_FOUND")
    await api.post(f"/cards/{card}/close")
    assert (await put(api, f"/cards/{card}/{path}", body)).refusal == (400, "BAD_REQUEST")
    assert (await api.get(f"/cards/{card}/limits")).status == 200


BAD_PHONES: list[tuple[Any, str]] = [
    ({}, "BAD_REQUEST"), ({"phone_country_code": "49", "phone": "15123456789"}, "BAD_REQUEST"),
    ({"phone_country_code": 49, "phone": 15123456}, "BAD_REQUEST"),
    ({"phone_country_code": 49, "phone": "12"}, "INVALID_PHONE"),
    ({"phone_country_code": 49, "phone": "7777777"}, "INVALID_PHONE"),
    ({"phone_country_code": 850, "phone": "15123456789"}, "PHONE_COUNTRY_NOT_ALLOWED"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "code"), BAD_PHONES)
@pytest.mark.rule("R064", "R065", "R067")
async def test_a_phone_is_held_to_the_rules_of_an_order(api: Api, hand: Hand, body: Any, code: str) -> None:
    """R064, R065, R067."""
    await hand("account", countries_refused=[850])
    card = await api.order()
    assert (await put(api, f"/cards/{card}/phone", body)).refusal == (400, code)


@pytest.mark.rule("R133")
async def test_a_phone_is_neither_echoed_nor_readable(api: Api, hand: Hand) -> None:
    """R133."""
    card = await api.order()
    answer = await put(api, f"/cards/{card}/phone", {"phone_country_code": 49, "phone": "15198761234"})
    assert answer.data == {"card_id": card, "updated": True}
    assert "15198761234" not in str([await hand.state(), (await api.get(f"/cards/{card}")).body])


@pytest.mark.rule("R139", "R140", "R141", "R142")
async def test_webhook_mode_needs_an_endpoint_and_is_a_one_way_door(api: Api, hand: Hand) -> None:
    """R139, R140, R141, R142, U31, U52: an unready program is not refused, and no endpoint tells the mode."""
    card = await api.order()
    path = f"/cards/{card}/3ds"
    assert (await put(api, path, {"method": "webhook"})).refusal == (400, "BAD_REQUEST")
    await put(api, "/webhook", {"url": "https://hooks.example.com/"})
    for body in ({"method": "sms"}, {"method": "WEBHOOK"}, {"method": None}, {}):
        assert (await put(api, path, body)).refusal == (400, "BAD_REQUEST")
    assert (await put(api, path, {"method": "webhook"}, "bad key!")).refusal == (400, "BAD_REQUEST")
    for _ in range(2):
        answer = await put(api, path, {"method": "webhook"}, "same-key")
        assert answer.data == {"card_id": card, "three_ds_method": "webhook"}
    assert (await put(api, path, {"method": "sms"})).refusal == (400, "BAD_REQUEST")
    assert "webhook" not in str((await api.get(f"/cards/{card}")).body)
    assert (await hand.state())["events"] == []


@pytest.mark.parametrize("call", [("PUT", "limits"), ("PUT", "phone"), ("PUT", "3ds"), ("GET", "pan")])
async def test_a_processor_that_does_not_agree_changes_nothing(
    api: Api, hand: Hand, call: tuple[str, str]
) -> None:
    card = await api.order()
    await put(api, "/webhook", {"url": "https://hooks.example.com/"})
    method, path = call
    bodies = {
        "limits": {"daily_limit": 5},
        "phone": {"phone_country_code": 1, "phone": "2025550123"},
        "3ds": {"method": "webhook"},
    }
    before = (await hand.state())["cards"]
    for processor, refusal in (
        ("5xx", (502, "UNAVAILABLE")),
        ("401", (503, "UPSTREAM_AUTH")),
        ("capacity", (502, "UNAVAILABLE")),
    ):
        await hand.fault("processor", f"{method} /cards/{{cardId}}/{path}", processor=processor)
        assert (await api.call(method, f"/cards/{card}/{path}", bodies.get(path))).refusal == refusal
    assert (await hand.state())["cards"] == before


@pytest.mark.rule("R143", "R144")
async def test_each_pan_call_mints_an_address_and_the_json_holds_no_card_number(api: Api, hand: Hand) -> None:
    """R143, R144."""
    await hand("clock", mode="frozen", set="2026-03-02T09:00:00Z")
    card = await api.order()
    await api.post(f"/cards/{card}/close")
    first, second = [(await api.get(f"/cards/{card}/pan")).data for _ in range(2)]
    assert set(first) == {"card_id", "details_url", "expiration_month", "expiration_year"}
    assert first["details_url"] != second["details_url"]
    assert (first["expiration_month"], first["expiration_year"]) == (3, 2030)
    await hand(f"cards/{(await api.order('open'))}", last4="4242")
    journal = (await hand.http.get("journal")).text
    assert first["details_url"] not in journal + str(await hand.state())


@pytest.mark.rule("R144", "R147")
async def test_details_that_are_not_there(api: Api, hand: Hand) -> None:
    """R144, R147: no address from the processor is a 502; an unknown expiry is null."""
    card = await api.order()
    await hand(f"cards/{card}", expiry_known=False)
    await hand(f"cards/{await api.order('closed')}", expiry_known=False)
    found = (await api.get(f"/cards/{card}/pan")).data
    assert (found["expiration_month"], found["expiration_year"]) == (None, None)
    url = (await api.post(f"/cards/{card}/pan-token")).data["url"]
    await hand(f"cards/{card}", details_available=False)
    assert (await api.get(f"/cards/{card}/pan")).refusal == (502, "UNAVAILABLE")
    async with httpx.AsyncClient() as device:
        assert [(await device.get(url)).status_code for _ in range(2)] == [502, 404]


@pytest.mark.rule("R011", "R013", "R014", "R015")
async def test_card_details_need_their_own_scope_and_the_method_is_checked_before_the_key(
    api: Api, hand: Hand
) -> None:
    """R011, R014, R015, R013."""
    card = await api.order()
    all_but = (await hand("keys", scopes=["cards:read", "cards:write", "users:read", "users:write"]))["key"]
    plain, nobody = Api(api.http, all_but), Api(api.http, "")
    for method, path in (("GET", "pan"), ("POST", "pan-token")):
        refused = await plain.call(method, f"/cards/{card}/{path}")
        assert refused.refusal == (403, "FORBIDDEN")
        assert "cards:pan" in refused.body["error"]
        assert (await nobody.call("DELETE", f"/cards/{card}/{path}")).refusal == (405, "BAD_REQUEST")
        assert (await nobody.call(method, f"/cards/{card}/{path}")).refusal == (401, "UNAUTHORIZED")
    assert (await nobody.call("DELETE", f"/cards/{card}/limits")).refusal == (401, "UNAUTHORIZED")
    assert (await plain.call("DELETE", f"/cards/{card}/limits")).refusal == (405, "BAD_REQUEST")


@pytest.mark.rule("R143", "R149")
async def test_a_details_page_lives_for_600_seconds_and_then_is_plain_text(api: Api, hand: Hand) -> None:
    """R143, R149."""
    await hand("clock", mode="frozen")
    card = await api.order()
    url = (await api.get(f"/cards/{card}/pan")).data["details_url"]
    async with httpx.AsyncClient() as browser:
        await hand("clock", advance_seconds=599)
        page = await browser.get(url)
        assert (page.status_code, page.headers["content-type"][:9]) == (200, "text/html")
        assert "frame-options" not in str(page.headers).lower()
        await hand("clock", advance_seconds=1)
        for gone in (url, url[:-1] + ("0" if url[-1] != "0" else "1")):
            page = await browser.get(gone)
            assert page.headers["content-type"].startswith("text/plain")
            assert "<" not in page.text


@pytest.mark.rule("R145", "R147", "R148")
async def test_a_token_is_exchanged_once_by_a_device_without_a_key(api: Api, hand: Hand) -> None:
    """R145, R147, R148, U69: readable across origins, kept by no cache, and never a real number."""
    await hand("clock", mode="frozen")
    card = await api.order()
    minted = (await api.post(f"/cards/{card}/pan-token")).data
    assert (minted["expires_in"], minted["single_use"]) == (60, True)
    async with httpx.AsyncClient() as device:
        answer, again = await device.get(minted["url"]), await device.get(minted["url"])
        late = (await api.post(f"/cards/{card}/pan-token")).data["url"]
        previewed = (await api.post(f"/cards/{card}/pan-token")).data["url"]
        assert (await device.head(previewed)).status_code == 200  # a link preview is not the first use
        assert (await device.get(previewed)).status_code == 200
        assert (await device.head(previewed)).status_code == 404
        await hand("clock", advance_seconds=60)
        assert (await device.get(late)).status_code == 404
    details = answer.json()["data"]
    assert set(details) == {"pan", "cvv", "expiry_month", "expiry_year"}
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "no-store" in answer.headers["cache-control"]
    assert (again.status_code, again.headers["access-control-allow-origin"]) == (404, "*")
    state = await hand.state()
    assert details["pan"][-4:] == state["cards"][0]["last4"]
    assert _luhn(details["pan"]) != 0
    kept = str(state) + (await hand.http.get("journal")).text
    assert details["pan"] not in kept
    assert minted["url"] not in kept


def _luhn(number: str) -> int:
    total = 0
    for place, digit in enumerate(reversed(number)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10


@pytest.mark.rule("R145")
async def test_two_devices_cannot_both_exchange_one_token(api: Api, simulator: Running) -> None:
    """R145."""
    card = await api.order()
    url = (await api.post(f"/cards/{card}/pan-token")).data["url"]
    async with httpx.AsyncClient() as device:
        answers = await asyncio.gather(*(device.get(url) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [200, *[404] * 7]
