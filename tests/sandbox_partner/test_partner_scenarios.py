"""Every named scenario brings about what its name says."""

from typing import Any

import httpx
import pytest

from sandbox.partner.scenarios import SCENARIOS
from sandbox.partner.scenarios_funding import FUNDING
from tests.sandbox_partner.conftest import ORDER, Api, Hand

REASONS = [name for name in FUNDING if name.split("-")[1] in ("rejected", "review", "credited")]


async def play(hand: Hand, name: str) -> dict[str, Any]:
    left: dict[str, Any] = await hand(f"scenarios/{name}")
    assert len({card.lower() for card in left["cards"]}) < len(left["cards"])  # a pair differs in case only
    return left


@pytest.mark.parametrize("name", REASONS)
async def test_a_funding_scenario_ends_in_its_status_and_reason(api: Api, hand: Hand, name: str) -> None:
    """R176 to R191: all 27 reasons can be brought about."""
    _, status, reason = name.split("-")
    await hand("clock", mode="frozen")
    left = await play(hand, name)
    submission = (await api.post("/funding", left["submit"])).data
    for step in left["after"]:
        await hand(step["path"].replace("{id}", submission["id"]), **step["body"])

    after = (await api.get(f"/funding/{submission['id']}")).data
    assert (after["status"], after["reason"]) == (status, reason)


def test_there_is_a_scenario_for_every_reason_of_the_document() -> None:
    assert len(REASONS) == 27


async def test_every_scenario_keeps_the_invariants(hand: Hand) -> None:
    for name in SCENARIOS:
        await play(hand, name)
        assert (await hand.state())["invariants"] == {"ok": True, "broken": []}, name


async def test_the_top_up_scenarios(api: Api, hand: Hand) -> None:
    async def tried(name: str, times: int) -> list[int | str]:
        left = await play(hand, name)
        seen: list[int | str] = []
        for _ in range(times):
            try:
                seen.append((await api.top_up(left["cards"][0], "150")).status)
            except httpx.TransportError:
                seen.append("lost")
        return seen

    assert await tried("topup-lost-after-commit", 2) == ["lost", 200]
    assert await tried("topup-lost-before-commit", 2) == ["lost", 200]
    assert await tried("topup-processor-409-refund", 2) == [502, 409]
    assert await tried("topup-503-spent-key", 2) == [503, 409]
    assert await tried("topup-404-hides-replay", 3) == ["lost", 404, 200]
    assert await tried("topup-402-headroom", 1) == [402]
    assert await tried("topup-processor-5xx-then-credited", 2) == [502, 409]


async def test_the_allowance_ends_in_the_middle_of_a_batch(api: Api, hand: Hand) -> None:
    await play(hand, "quota-mid-batch")
    statuses = [(await api.post("/cards", ORDER, idem=f"o{n}")).status for n in range(5)]
    assert statuses == [201, 201, 201, 409, 409]


async def test_a_month_ends_between_an_order_and_a_close(api: Api, hand: Hand) -> None:
    """R204, R205: two months in two hours for the one, the whole new month for the other."""
    await hand("clock", mode="frozen", set="2026-08-11T12:00:00Z")
    left = await play(hand, "month-end")
    for step in left["after"]:
        await hand(step["path"], **step["body"])
    await api.post(f"/cards/{left['closes']}/close")
    await hand("clock", advance_seconds=40 * 86400)

    def months(card: str) -> list[str]:
        return sorted(row["reference"][-7:] for row in rows if f"card-fee:{card}:" in str(row["reference"]))

    rows = await api.ledger()
    assert months(left["late"]) == ["2026-08", "2026-09", "2026-10"]
    assert months(left["closes"])[-1] == "2026-09"


async def test_a_reversal_leaves_a_negative_float(api: Api, hand: Hand) -> None:
    left = await play(hand, "reversal-negative-float")
    for step in left["after"]:
        await hand(step["path"], **step["body"])
    figures = await api.float()
    assert figures["balance_usd"] < 0
    assert figures["available_usd"] == 0


async def test_a_claim_gives_way_to_the_wallet_that_paid(api: Api, hand: Hand) -> None:
    left = await play(hand, "funding-claim-replaced")
    owner = left["submit"].pop("account")
    other = Api(api.http, (await hand("keys", account=owner))["key"])
    assert (await other.post("/funding", left["submit"])).status == 200
    assert (await api.get(f"/funding/{left['claim']}")).refusal == (404, "NOT_FOUND")


async def test_five_unverified_submissions_stand_in_the_way(api: Api, hand: Hand) -> None:
    left = await play(hand, "funding-five-unverified")
    assert (await api.post("/funding", left["submit"])).refusal == (429, "TOO_MANY_PENDING")


async def test_a_wrong_network_can_be_corrected(api: Api, hand: Hand) -> None:
    left = await play(hand, "funding-wrong-network")
    first = (await api.post("/funding", left["submit"])).data
    corrected = (await api.post("/funding", {**left["submit"], "network": "BASE"})).data
    assert (corrected["id"], corrected["network"]) == (first["id"], "BASE")
    assert corrected["amount_usd"] == 250
