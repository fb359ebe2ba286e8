"""A simulator written to a file and read into another: a bug report is one file."""

import base64
from typing import Any

import httpx
import pytest

from sandbox.partner.server import serve
from tests.sandbox_partner.conftest import Api, Hand


async def written(hand: Hand) -> Any:
    return (await hand.http.get("snapshot")).json()


async def test_another_simulator_goes_on_where_the_file_was_written(api: Api, hand: Hand) -> None:
    await hand("clock", mode="frozen", set="2026-03-02T09:00:00Z")
    card = await api.loaded(hand, "120.50")
    await hand.buy(card, "7")
    before, file = await hand.state(), await written(hand)
    assert api.key not in str(file)
    other = await serve(port=0, seed="another")
    try:
        async with httpx.AsyncClient(base_url=other.control_url + "/", trust_env=False) as http:
            theirs = Hand(http)
            await theirs("snapshot", **file)
            after = await theirs.state()
            assert after.pop("keys")[:-1] == before.pop("keys")
            assert after == before
            await theirs("clock", advance_seconds=60)
            assert (await theirs.state())["invariants"]["ok"]
        async with httpx.AsyncClient(base_url=other.base_url, trust_env=False) as http:
            answer = await http.get(f"/cards/{card}", headers={"X-API-Key": api.key})
            assert answer.json()["data"]["card"]["id"] == card
    finally:
        await other.close()


async def test_a_large_simulator_fits_too(api: Api, hand: Hand) -> None:
    """More than an ordinary body may hold."""
    await hand("account", monthly_fee_usd="0")
    for number in range(3):
        await hand("float", amount_usd=str(number + 1))
    file = await written(hand)
    padded = {**file, "content": file["content"] + " " * 400_000}
    assert (await hand.http.post("snapshot", json=padded)).status_code in (200, 400)
    await hand("snapshot", **file)
    assert len(await api.ledger()) == 3


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 1}, "version"), ({"content": "not base64!"}, "content"), ({"half": "slack"}, "half"),
        ({"content": base64.b64encode(b"not compressed").decode()}, "content"), ({"more": 1}, "more"),
    ],
)  # fmt: skip
async def test_a_file_that_is_no_snapshot_is_refused_and_nothing_is_lost(
    api: Api, hand: Hand, change: dict[str, Any], said: str
) -> None:
    await hand("float", amount_usd="5")
    file = await written(hand)
    assert said in await hand.refused("snapshot", **{**file, **change})
    assert len(await api.ledger()) == 1


async def test_the_key_of_the_simulator_that_reads_a_file_goes_on_working(api: Api, hand: Hand) -> None:
    """No key is in the file, so whoever gets it has no other."""
    await hand("keys", every=True, rate_limit_per_minute=7)
    card = await api.order()
    file = await written(hand)
    other = await serve(port=0, seed="another")
    try:
        assert other.key != api.key
        async with httpx.AsyncClient(base_url=other.url, trust_env=False) as http:
            answer = await http.post("/_control/snapshot", json=file)
            assert answer.status_code == 200
            assert len(answer.text) < 200
            listed = await http.get(f"/api/partner/v1/cards/{card}", headers={"X-API-Key": other.key})
            assert listed.json()["data"]["card"]["id"] == card
    finally:
        await other.close()
