"""What happens while a call waits for the processor: others close, settle, order and reset."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from tests.sandbox_partner.conftest import ORDER, Answered, Api, Hand


@pytest.fixture
async def card(api: Api, hand: Hand) -> str:
    await hand("account", monthly_fee_usd="0")
    await hand("float", amount_usd="100")
    card = await api.order()
    await api.top_up(card, "30", idem="before")
    return card


@asynccontextmanager
async def waiting(
    api: Api, hand: Hand, path: str, body: object, idem: str
) -> AsyncIterator[asyncio.Task[Answered]]:
    """A call that has claimed its key and waits; the block runs meanwhile."""
    operation = "POST " + "/".join("{cardId}" if len(part) == 32 else part for part in path.split("/"))
    await hand.fault("delay", operation, seconds=0.4)
    task = asyncio.create_task(api.post(path, body, idem=idem))
    for _ in range(200):
        if any(entry["key"] == idem for entry in (await hand.state())["idempotency"]):
            break
    yield task


async def test_a_card_closed_meanwhile_gets_no_credit(api: Api, hand: Hand, card: str) -> None:
    async with waiting(api, hand, f"/cards/{card}/topup", {"amount_usd": 10}, "slow") as slow:
        await api.post(f"/cards/{card}/close")
    assert (await slow).refusal == (400, "BAD_REQUEST")
    assert (await api.float())["balance_usd"] == 100


async def test_a_top_up_settled_by_support_meanwhile_moves_once(api: Api, hand: Hand, card: str) -> None:
    async with waiting(api, hand, f"/cards/{card}/topup", {"amount_usd": 10}, "slow") as slow:
        await hand("topups/slow/resolve", **{"as": "credited"})
    assert (await slow).data["credited_usd"] == 10
    assert (await api.get(f"/cards/{card}")).data["balance_usd"] == 40


async def test_an_unload_settled_by_support_meanwhile_moves_once(api: Api, hand: Hand, card: str) -> None:
    async with waiting(api, hand, f"/cards/{card}/unload", {"amount_usd": 10}, "slow") as slow:
        await hand("unloads/slow/resolve", **{"as": "refunded"})
    assert (await slow).refusal == (409, "ALREADY_PROCESSED")
    assert (await api.get(f"/cards/{card}")).data["balance_usd"] == 30


@pytest.mark.rule("R068", "R069")
async def test_two_orders_at_once_cannot_share_the_last_allowance(api: Api, hand: Hand, card: str) -> None:
    """R068, R069."""
    await hand("account", cards_limit=2)
    async with waiting(api, hand, "/cards", ORDER, "slow") as slow:
        assert (await api.post("/cards", ORDER, idem="quick")).status == 201
    assert (await slow).refusal == (409, "QUOTA")
    assert (await api.get("/me")).data["cards"]["total"] == 2


@pytest.mark.parametrize("path", ["/cards", "/cards/{}/topup", "/cards/{}/unload"])
async def test_a_reset_meanwhile_leaves_nobody_to_answer(api: Api, hand: Hand, card: str, path: str) -> None:
    body = ORDER if path == "/cards" else {"amount_usd": 1}
    async with waiting(api, hand, path.format(card), body, "slow") as slow:
        await hand("reset")
        await hand("float", amount_usd="50")
        other = await api.order("after-reset")
        await api.top_up(other, "5", idem="after-reset-2")
    with pytest.raises(httpx.TransportError):
        await slow
    state = await hand.state()
    assert len(state["cards"]) == 1
    assert state["cards"][0]["balance_usd"] == "5"


@pytest.mark.parametrize(("kind", "settled"), [("topup", "credited"), ("unload", "refunded")])
async def test_support_cannot_put_money_on_a_closed_card(
    api: Api, hand: Hand, card: str, kind: str, settled: str
) -> None:
    await hand.fault("drop_midway", f"POST /cards/{{cardId}}/{kind}")
    with pytest.raises(httpx.TransportError):
        await api.post(f"/cards/{card}/{kind}", {"amount_usd": 10}, idem="dead")
    await api.post(f"/cards/{card}/close")

    response = await hand.http.post(f"{kind}s/dead/resolve", json={"as": settled})
    assert response.status_code == 409
    await hand(f"{kind}s/dead/resolve", **{"as": "refunded" if kind == "topup" else "credited"})
    assert (await api.float())["balance_usd"] == 100
