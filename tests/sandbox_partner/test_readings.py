"""Small print that is easy to get wrong, each read from the answers alone."""

import asyncio
import re
from typing import Any

import pytest

from sandbox.partner.http import Request
from sandbox.partner.server import answering, build_world, standing_key
from tests.sandbox_partner.conftest import Api, Hand

STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@pytest.mark.rule("R024")
async def test_every_timestamp_is_utc_with_milliseconds_and_z(api: Api, hand: Hand) -> None:
    """R024, U77."""
    left = await hand("scenarios/happy-day")
    await api.post("/funding", left["submit"])
    found: list[Any] = []

    def collect(value: Any, name: str = "") -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                collect(item, key)
        elif isinstance(value, list):
            for item in value:
                collect(item, name)
        elif name.endswith("_at") or name == "as_of":
            found.append(value)

    for path in ("/me", "/cards", "/ledger", "/events", "/funding"):
        collect((await api.get(path)).data)
    stamps = [stamp for stamp in found if stamp is not None]
    assert len(stamps) > 20
    assert all(STAMP.fullmatch(stamp) for stamp in stamps)


@pytest.mark.rule("R055", "R070")
async def test_active_counts_frozen_and_blocked_cards(api: Api, hand: Hand) -> None:
    """R055, R070: any status may come, and only DELETED is not active."""
    ids = [await api.order(f"o{number}") for number in range(3)]
    await hand(f"cards/{ids[0]}", status="BLOCKED")
    await hand(f"cards/{ids[1]}", status="FROZEN")
    await api.post(f"/cards/{ids[2]}/close")
    assert (await api.get("/me")).data["cards"] == {"total": 3, "active": 2, "limit": None}


@pytest.mark.rule("R202", "R203")
async def test_spent_falls_when_money_comes_back_from_a_card(api: Api, hand: Hand) -> None:
    """R203, R202: spent is net of unloads and closes."""
    await hand("account", monthly_fee_usd="1.5")
    await hand("float", amount_usd="100")
    card = await api.order()
    await api.top_up(card, "40")
    assert (await api.float())["spent_usd"] == 41.5
    await api.post(f"/cards/{card}/unload", {"amount_usd": 10}, idem="u")
    assert (await api.float())["spent_usd"] == 31.5
    await api.post(f"/cards/{card}/close")
    figures = await api.float()
    assert (figures["spent_usd"], figures["funded_usd"], figures["balance_usd"]) == (1.5, 100, 98.5)


@pytest.mark.rule("R032")
async def test_a_drained_card_reads_zero_and_an_unread_one_null(api: Api, hand: Hand) -> None:
    """R032."""
    card = await api.order()
    assert (await api.get(f"/cards/{card}")).data["balance_usd"] == 0
    await hand(f"cards/{card}", balance_readable=False)
    assert (await api.get(f"/cards/{card}")).data["balance_usd"] is None


@pytest.mark.rule("R100")
async def test_a_replay_rebuilds_the_requested_amount_from_credit_and_fee(api: Api, hand: Hand) -> None:
    """R100."""
    await hand("float", amount_usd="100")
    card = await api.order()
    await api.top_up(card, "25")
    again = (await api.top_up(card, "1")).data
    assert again["amount_requested_usd"] == again["credited_usd"] + again["fee_usd"] == 25


@pytest.mark.rule("R090", "R091")
async def test_funding_takes_no_idempotency_key_and_is_idempotent_on_the_hash(api: Api) -> None:
    """R090, R091: the header is not even looked at."""
    body = {"tx_hash": "0x" + "7" * 64, "network": "polygon"}
    first = (await api.post("/funding", body, idem="not:a:key")).data
    again = (await api.post("/funding", {**body, "tx_hash": body["tx_hash"].upper().replace("X", "x")})).data
    assert again == first
    assert (await api.get("/funding")).data["total"] == 1


@pytest.mark.parametrize("key", ["abc\n", "\u0661", "é", "a b", "a\x00", " abc"])
@pytest.mark.rule("R087")
def test_a_key_is_matched_whole_and_in_ascii(key: str) -> None:
    """R087: what no HTTP library would send, sent past it."""
    world = build_world()
    headers = [("X-API-Key", standing_key(world)), ("Idempotency-Key", key)]
    request = Request("POST", "/api/partner/v1/cards", headers=headers, body=b"{}")
    answer = asyncio.run(answering.handle(world, request))
    world.store.close()
    assert answer.status == 400
    assert b"Idempotency-Key" in answer.body


def test_two_idempotency_keys_are_refused() -> None:
    """U23."""
    world = build_world()
    headers = [("X-API-Key", standing_key(world)), ("Idempotency-Key", "a"), ("idempotency-key", "a")]
    answer = asyncio.run(
        answering.handle(world, Request("POST", "/api/partner/v1/cards", headers=headers, body=b"{}"))
    )
    world.store.close()
    assert (answer.status, b"Idempotency-Key" in answer.body) == (400, True)
