"""Unload and close: money coming back from a card."""

from decimal import Decimal
from typing import Any

import httpx
import pytest

from tests.sandbox_partner.conftest import Answered, Api, Hand

UNLOAD = "POST /cards/{cardId}/unload"


@pytest.fixture
async def card(api: Api, hand: Hand) -> str:
    """A card holding 40 of a float of 100."""
    await hand("account", monthly_fee_usd="0")
    await hand("float", amount_usd="100")
    card = await api.order()
    await api.top_up(card, "40")
    return card


async def unload(api: Api, card: str, amount: str = "15.25", idem: str = "unload-1") -> Answered:
    return await api.post(f"/cards/{card}/unload", {"amount_usd": Decimal(amount)}, idem=idem)


async def balances(api: Api, card: str) -> tuple[Any, Any]:
    return (await api.float())["balance_usd"], (await api.get(f"/cards/{card}")).data["balance_usd"]


@pytest.mark.rule("R119")
async def test_an_unload_moves_money_back_once_and_tells_by_event_once(api: Api, card: str) -> None:
    """R119, U2, U15."""
    for _ in range(2):
        data = (await unload(api, card)).data
        assert data == {
            "card_id": card, "unloaded_usd": Decimal("15.25"), "partner_balance_usd": Decimal("75.25"),
        }  # fmt: skip
    assert await balances(api, card) == (Decimal("75.25"), Decimal("24.75"))
    row = (await api.ledger())[0]
    assert (row["kind"], row["reference"], row["card_id"]) == ("refund", "unload:unload-1", card)
    assert (await api.get("/events?type=card.unloaded")).data["total"] == 1


async def test_the_replay_of_an_unload_is_a_conflict_under_the_switch(
    api: Api, card: str, hand: Hand
) -> None:
    """U2."""
    await hand("account", unload_replay="conflict")
    await unload(api, card)
    assert (await unload(api, card)).refusal == (409, "ALREADY_PROCESSED")


@pytest.mark.rule("R118")
async def test_402_on_an_unload_is_about_the_card(api: Api, card: str) -> None:
    """R118; the key stays unused."""
    assert (await unload(api, card, "40.01")).refusal == (402, "INSUFFICIENT_FUNDS")
    assert (await unload(api, card, "40")).status == 200


@pytest.mark.parametrize("amount", ["0", "-1", "1.005"])
@pytest.mark.rule("R030", "R031")
async def test_an_unload_takes_cents_above_zero(api: Api, card: str, amount: str) -> None:
    """R030, R031."""
    assert (await unload(api, card, amount)).refusal == (400, "BAD_REQUEST")


@pytest.mark.parametrize(("settled", "expected"), [("credited", (75, 25)), ("refunded", (60, 40))])
@pytest.mark.rule("R120", "R121")
async def test_an_unload_that_died_midway_is_on_neither_side_until_settled(
    api: Api, card: str, hand: Hand, settled: str, expected: tuple[int, int]
) -> None:
    """R120, R121."""
    await hand.fault("drop_midway", UNLOAD)
    with pytest.raises(httpx.TransportError):
        await unload(api, card, "15")
    assert await balances(api, card) == (60, 25)
    assert (await unload(api, card, "15")).refusal == (409, "ALREADY_PROCESSED")

    await hand("unloads/unload-1/resolve", **{"as": settled})

    assert await balances(api, card) == expected
    assert (await unload(api, card, "15")).status == (200 if settled == "credited" else 409)


async def test_a_processor_that_refuses_an_unload_moves_nothing(api: Api, card: str, hand: Hand) -> None:
    await hand.fault("processor", UNLOAD, processor="401")
    assert (await unload(api, card)).refusal == (503, "UPSTREAM_AUTH")
    assert await balances(api, card) == (60, 40)
    assert (await unload(api, card)).status == 200


@pytest.mark.rule("R135", "R136", "R138", "R201")
async def test_closing_sweeps_the_balance_and_replays(api: Api, card: str) -> None:
    """R135, R136, R138, R201: no event, a refund row with the card's id."""
    for _ in range(2):
        data = (await api.post(f"/cards/{card}/close", idem="close-1")).data
        assert data == {"card_id": card, "returned_usd": 40, "partner_balance_usd": 100}
    row = (await api.ledger())[0]
    assert (row["kind"], row["amount_usd"], row["card_id"]) == ("refund", 40, card)
    assert (await api.get(f"/cards/{card}")).data["card"]["status"] == "DELETED"
    assert (await api.get("/events")).data["total"] == 0


@pytest.mark.parametrize(("switch", "refusal"), [("bad_request", 400), ("conflict", 409)])
async def test_a_closed_card_cannot_be_closed_again(
    api: Api, card: str, hand: Hand, switch: str, refusal: int
) -> None:
    """U37."""
    await hand("account", close_again=switch)
    await api.post(f"/cards/{card}/close")
    assert (await api.post(f"/cards/{card}/close", idem="later")).status == refusal


@pytest.mark.rule("R135")
async def test_an_unreadable_balance_keeps_the_card_open(api: Api, card: str, hand: Hand) -> None:
    """R135."""
    await hand(f"cards/{card}", balance_readable=False)
    assert (await api.post(f"/cards/{card}/close", idem="close-1")).refusal == (503, "UNAVAILABLE")
    assert (await hand.state())["cards"][0]["status"] == "ACTIVE"

    await hand(f"cards/{card}", balance_readable=True)
    assert (await api.post(f"/cards/{card}/close", idem="close-1")).data["returned_usd"] == 40


@pytest.mark.rule("R098", "R131")
async def test_a_closed_card_takes_no_new_top_up_but_replays_a_done_one(api: Api, card: str) -> None:
    """R098, R131, U35."""
    await api.post(f"/cards/{card}/close")
    assert (await api.top_up(card, "1", idem="new")).refusal == (400, "BAD_REQUEST")
    assert (await api.top_up(card, "40")).data["credited_usd"] == 40
    assert (await unload(api, card, "1")).refusal == (402, "INSUFFICIENT_FUNDS")
    assert (await api.post(f"/cards/{card}/freeze", {"frozen": True})).refusal == (400, "BAD_REQUEST")


async def test_an_overdrawn_card_stays_open_and_says_why(api: Api, card: str, hand: Hand) -> None:
    """The balance can be read, so no retry shortly helps; a top-up does."""
    await hand(f"cards/{card}", status="ACTIVE")
    bought = await hand.buy(card, "20")
    await hand(f"purchases/{bought['transaction_id']}/settle", amount_usd="50")
    owed_usd = -(await api.get(f"/cards/{card}")).data["balance_usd"]
    assert owed_usd > 0
    refused = await api.post(f"/cards/{card}/close", idem="close-1")
    assert refused.refusal == (400, "BAD_REQUEST")
    assert f"{owed_usd:.2f}" in refused.body["error"]
    assert (await hand.state())["cards"][0]["status"] == "ACTIVE"
    await api.top_up(card, f"{owed_usd:.2f}", idem="owed")
    assert (await api.post(f"/cards/{card}/close", idem="close-1")).data["returned_usd"] == 0
