"""Deposits, commission and payouts: the optional route, much of it invented."""

from decimal import Decimal
from typing import Any

import httpx
import pytest

from tests.sandbox_partner.conftest import Api, Hand


@pytest.fixture
async def card(api: Api, hand: Hand) -> str:
    await hand("account", deposits_enabled=True)
    await api.call("PUT", "/fees", {"markup_pct": Decimal("0.02")})
    return await api.order()


async def quote(api: Api, card: str, **more: Any) -> Any:
    return await api.post(
        "/deposits", {"card_id": card, "asset": "USDT", "chain": "TRON", "amount_usd": 200, **more}
    )


@pytest.mark.rule("R249", "R251")
async def test_a_quote_has_no_status_and_its_fee_is_both_shares(api: Api, card: str) -> None:
    """R249, R251, N4."""
    shown = (await quote(api, card)).data
    assert "status" not in shown
    assert (shown["svc_fee_usd"], shown["partner_fee_usd"], shown["fee_usd"]) == (3, 4, 7)
    assert (shown["card_credit_usd"], shown["send_amount"]) == (193, "200.00")
    [record] = (await api.get("/deposits")).data["deposits"]
    assert (record["id"], record["status"], record["credit_usd"]) == (shown["deposit_id"], "pending", 193)
    assert (record["tx_hash"], record["credited_at"], record["amount_expected"]) == (None, None, "200.00")


@pytest.mark.rule("R250")
async def test_on_a_shared_address_the_amount_must_match_to_the_digit(api: Api, card: str) -> None:
    """R250."""
    solana = [(await quote(api, card, chain="SOLANA")).data for _ in range(2)]
    tron = (await quote(api, card)).data
    assert [shown["exact_amount_required"] for shown in (*solana, tron)] == [True, True, False]
    assert len({shown["deposit_address"] for shown in solana}) == 1
    assert solana[0]["send_amount"] != solana[1]["send_amount"]
    assert all(isinstance(shown["send_amount"], str) and len(shown["send_amount"]) == 10 for shown in solana)


@pytest.mark.rule("R207", "R251", "R253", "R254")
async def test_a_deposit_credits_the_card_and_the_markup_becomes_commission_when_it_lands(
    api: Api, hand: Hand, card: str
) -> None:
    """R207, R251, R253, R254: the float and its ledger do not move."""
    before = await api.float()
    shown = (await quote(api, card)).data
    assert (await api.get("/me")).data["earnings"]["accrued_usd"] == 0
    await hand(f"deposits/{shown['deposit_id']}/confirm")
    assert await api.balance(card) == 193
    assert await api.float() == before
    earnings = (await api.get("/me")).data["earnings"]
    assert (earnings["accrued_usd"], earnings["owed_usd"], earnings["last_payout_at"]) == (4, 4, None)
    [record] = (await api.get("/deposits")).data["deposits"]
    assert record["status"] == "credited"
    assert len(record["tx_hash"]) == 64
    assert (await api.events())[-1]["type"] == "deposit.credited"

    await hand("payouts", amount_usd="1.5")
    earnings = (await api.get("/me")).data["earnings"]
    assert (earnings["accrued_usd"], earnings["paid_out_usd"], earnings["owed_usd"]) == (
        4,
        Decimal("1.5"),
        Decimal("2.5"),
    )
    assert earnings["last_payout_at"]
    assert "owed" in await hand.refused("payouts", amount_usd="2.51")
    assert (await hand("payouts"))["owed_usd"] == "0"


@pytest.mark.rule("R048")
async def test_pending_deposits_keep_the_markup_they_were_quoted_at(api: Api, hand: Hand, card: str) -> None:
    """R048."""
    first = (await quote(api, card)).data
    await api.call("PUT", "/fees", {"markup_pct": Decimal("0.1")})
    assert (await quote(api, card)).data["partner_fee_usd"] == 20
    await hand(f"deposits/{first['deposit_id']}/confirm", amount_usd="100")
    assert (await api.get("/me")).data["earnings"]["accrued_usd"] == 2
    assert await api.balance(card) == Decimal("96.5")


async def test_a_deposit_expires_or_is_cancelled(api: Api, hand: Hand, card: str) -> None:
    """N2."""
    ids = [(await quote(api, card)).data["deposit_id"] for _ in range(3)]
    await hand(f"deposits/{ids[0]}/cancel")
    await hand(f"deposits/{ids[1]}/expire")
    await hand("clock", advance_seconds=24 * 3600)
    assert [one["status"] for one in (await api.get("/deposits")).data["deposits"]] == [
        "expired",
        "expired",
        "cancelled",
    ]
    late = await hand.http.post(f"deposits/{ids[2]}/confirm", json={})
    assert late.status_code == 409


BAD: list[dict[str, Any]] = [
    {"asset": "DOGE"}, {"chain": "MARS"}, {"amount_usd": 0}, {"amount_usd": "5"}, {"amount_usd": 5.001}, {"card_id": 5},
    {"asset": "USDT-ERC20"},
]  # fmt: skip


@pytest.mark.parametrize("change", BAD)
async def test_a_bad_deposit_is_refused(api: Api, card: str, change: dict[str, Any]) -> None:
    assert (await quote(api, card, **change)).refusal == (400, "BAD_REQUEST")
    assert (await api.get("/deposits")).data["total"] == 0


@pytest.mark.rule("R008", "R252")
async def test_deposits_need_an_agreement_and_an_own_open_card(api: Api, hand: Hand, card: str) -> None:
    """R252, R008."""
    assert (await quote(api, "z" * 32)).refusal == (404, "NOT_FOUND")
    pending = (await quote(api, card)).data["deposit_id"]
    await api.post(f"/cards/{card}/close")
    assert (await quote(api, card)).refusal == (400, "BAD_REQUEST")
    assert (await hand.http.post(f"deposits/{pending}/confirm", json={})).status_code == 409
    await hand("account", deposits_enabled=False)
    assert (await quote(api, card)).refusal == (400, "BAD_REQUEST")


async def test_the_documented_profile_has_no_deposit_event(api: Api, hand: Hand, card: str) -> None:
    """N5, N11."""
    await hand("account", profile="documented")
    shown = (await quote(api, card)).data
    await hand(f"deposits/{shown['deposit_id']}/confirm")
    async with httpx.AsyncClient() as http:
        listed = await http.get(f"{api.http.base_url}deposits", headers={"X-API-Key": api.key})
    assert list(listed.json()["data"]) == ["deposits"]
    assert await api.events() == []
