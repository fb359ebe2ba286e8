"""Every named scenario brings about what its name says."""

from decimal import Decimal
from typing import Any

import httpx
import pytest

from sandbox.partner.background import signature
from sandbox.partner.scenarios import FUNDING, SCENARIOS
from tests.sandbox_partner.conftest import ORDER, Api, Hand, Receiver

REASONS = [name for name in FUNDING if name.split("-")[1] in ("rejected", "review", "credited")]


async def play(hand: Hand, name: str) -> dict[str, Any]:
    left: dict[str, Any] = await hand(f"scenarios/{name}")
    assert len({card.lower() for card in left["cards"]}) < len(left["cards"])  # a pair differs in case only
    return left


@pytest.mark.by_turns(5)
@pytest.mark.parametrize("name", REASONS)
@pytest.mark.rule(
    "R176",
    "R177",
    "R178",
    "R179",
    "R180",
    "R181",
    "R182",
    "R183",
    "R184",
    "R185",
    "R186",
    "R187",
    "R188",
    "R189",
    "R190",
    "R191",
)
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


@pytest.mark.rule("R204", "R205")
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


async def lived(hand: Hand, left: dict[str, Any]) -> None:
    """What is left to do after a scenario's set-up."""
    for step in left["after"]:
        await hand(step["path"], **step["body"])


async def test_a_close_with_a_pending_purchase_is_followed_by_its_settlement(api: Api, hand: Hand) -> None:
    left = await play(hand, "close-with-pending")
    swept = (await api.post(f"/cards/{left['closes']}/close")).data["returned_usd"]
    await lived(hand, left)
    [row] = await api.history(left["closes"])
    assert (row["status"], row["amount_usd"]) == ("settled", Decimal("33.33"))
    assert swept == Decimal(320) - Decimal("35.35")


@pytest.mark.rule("R228")
async def test_an_outage_of_three_hours_ends_in_eight_attempts_and_nothing_is_lost(
    api: Api, hand: Hand, receiver: Receiver
) -> None:
    """R228."""
    left = await play(hand, "webhook-outage-3h")
    await hand("deliveries", map={"hooks.example.com": receiver.url})
    await lived(hand, left)
    event = (await api.events())[-1]
    assert (event["delivered"], event["attempts"], receiver.got) == (False, 8, [])
    await api.post(f"/events/{event['id']}/redeliver")
    await hand("clock", advance_seconds=0)
    assert [body["id"] for body in receiver.bodies] == [event["id"]]


async def test_a_rotation_in_the_middle_of_a_backlog_signs_all_of_it(
    api: Api, hand: Hand, receiver: Receiver
) -> None:
    left = await play(hand, "rotation-during-backlog")
    await hand("deliveries", map={"hooks.example.com": receiver.url})
    shown = (await api.call("PUT", "/webhook", {"url": left["webhook"], "rotate": True})).data
    await lived(hand, left)
    await hand("clock", advance_seconds=0)
    assert len(receiver.got) == 2
    for _, _, headers, body in receiver.got:
        assert headers["X-SVC-Signature"] == signature(shown["secret"], headers["X-SVC-Timestamp"], body)


@pytest.mark.rule("R208", "R209")
async def test_a_secret_that_was_lost_can_only_be_rotated(api: Api, hand: Hand) -> None:
    """R208, R209."""
    left = await play(hand, "secret-lost")
    with pytest.raises(httpx.TransportError):
        await api.call("PUT", "/webhook", {"url": left["webhook"]})
    assert (await api.call("PUT", "/webhook", {"url": left["webhook"]})).data["secret"] is None
    assert (await api.call("PUT", "/webhook", {"url": left["webhook"], "rotate": True})).data["secret"]


@pytest.mark.rule("R231", "R244")
async def test_a_settlement_can_arrive_before_its_authorization(
    api: Api, hand: Hand, receiver: Receiver
) -> None:
    """R231, R244."""
    await play(hand, "settlement-first")
    await hand("deliveries", map={"hooks.example.com": receiver.url})
    await hand("clock", advance_seconds=60)
    assert [body["data"]["event"] for body in receiver.bodies] == ["cleared", "authorized"]


@pytest.mark.parametrize(
    ("name", "events", "amount_usd"),
    [("partial-reversal-then-settlement", 3, "40.40"), ("amount-mismatch", 2, "41.92")],
)
async def test_purchases_whose_figures_change(
    api: Api, hand: Hand, name: str, events: int, amount_usd: str
) -> None:
    left = await play(hand, name)
    legs = [
        event
        for event in await api.events()
        if event["payload"].get("transaction_id") == left["transaction_id"]
    ]
    assert len(legs) == events
    [row] = await api.history(left["cards"][0])
    assert (row["status"], row["amount_usd"]) == ("settled", Decimal(amount_usd))


async def test_eight_declines_of_two_causes(api: Api, hand: Hand) -> None:
    left = await play(hand, "decline-cluster")
    codes = [event["payload"]["decline_reason"]["code"] for event in await api.events("&type=card.declined")]
    assert sorted(codes) == sorted(left["causes"] * 4)


@pytest.mark.parametrize("name", ["threeds-endpoint-down", "threeds-not-enabled"])
async def test_3d_secure_that_cannot_complete(api: Api, hand: Hand, name: str) -> None:
    """U51."""
    await hand("clock", mode="frozen")
    left = await play(hand, name)
    await lived(hand, left)
    [row] = await api.history(left["cards"][0])
    assert row["decline_reason"]["code"] == "security_check_failed"


async def test_the_happy_day_has_purchases_and_a_refund(api: Api, hand: Hand) -> None:
    left = await play(hand, "happy-day")
    rows = [row for card in left["cards"] for row in await api.history(card)]
    assert sorted(row["status"] for row in rows) == ["pending", "refunded", "settled", "settled"]


def test_every_scenario_of_the_guide_is_here() -> None:
    assert set(SCENARIOS) - set(FUNDING) == {
        "happy-day", "topup-lost-after-commit", "topup-lost-before-commit", "topup-processor-5xx-then-credited",
        "topup-processor-5xx-then-refunded", "topup-processor-409-refund", "topup-503-spent-key",
        "topup-404-hides-replay", "topup-402-headroom", "unload-lost-answer", "close-unreadable-balance",
        "close-with-pending", "quota-mid-batch", "month-end", "webhook-outage-3h", "rotation-during-backlog",
        "secret-lost", "settlement-first", "partial-reversal-then-settlement", "amount-mismatch", "decline-cluster",
        "blocked-card", "threeds-endpoint-down", "threeds-not-enabled", "reversal-negative-float", "storm-429",
        "odd-shapes",
    }  # fmt: skip


async def test_a_snapshot_brings_everything_back_with_its_clock(api: Api, hand: Hand) -> None:
    await hand("clock", mode="frozen", set="2026-03-02T09:00:00Z")
    left = await play(hand, "happy-day")
    before = await hand.state()
    await hand("snapshots/clean")
    for _ in range(2):
        await api.top_up(left["cards"][0], "5")
        await hand("clock", advance_seconds=86400 * 40)
        await hand.fault("reset")
        first = await api.order("after", partner_ref="x")
        await hand("snapshots/clean/restore")
        assert await hand.state() == before
        assert (await hand.http.get("journal")).json() == {"requests": []}
    assert await api.order("after", partner_ref="x") == first  # ids go on where they were
    missing = await hand.http.post("snapshots/none/restore", json={})
    assert (missing.status_code, "clean" in missing.json()["error"]) == (404, True)
