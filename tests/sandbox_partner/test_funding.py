"""Funding from submission to its end, on scripted chains and the virtual clock."""

from decimal import Decimal
from typing import Any

import pytest

from tests.sandbox_partner.conftest import Api, Hand

WALLET = "0x" + "a1" * 20
HASH = "0x" + "Ab" * 32
HOUR = 3600


@pytest.fixture(autouse=True)
async def _frozen(hand: Hand) -> None:
    await hand("clock", mode="frozen", set="2026-03-10T09:00:00Z")
    await hand("wallets", address=WALLET, owner="self")


async def send(hand: Hand, amount: str = "250", network: str = "POLYGON", **more: Any) -> None:
    payment = {"senders": [WALLET], "token": "USDC", "amount": amount}
    await hand("chain/transfers", **{"network": network, "tx_hash": HASH, **payment, **more})


async def submit(api: Api, network: str = "POLYGON", tx_hash: str = HASH) -> dict[str, Any]:
    data: dict[str, Any] = (await api.post("/funding", {"tx_hash": tx_hash, "network": network})).data
    return data


async def now_reads(api: Api, submission: dict[str, Any]) -> tuple[str, str | None]:
    data = (await api.get(f"/funding/{submission['id']}")).data
    return data["status"], data["reason"]


@pytest.mark.rule("R165", "R166", "R192", "R198", "R260")
async def test_a_direct_transfer_from_a_registered_wallet_is_credited_inside_the_post(
    api: Api, hand: Hand
) -> None:
    """R165, R166, R192, R198, R260: fee on the load, two rows, one event."""
    await send(hand)

    data = await submit(api, "polygon")

    assert (data["status"], data["reason"], data["token"]) == ("credited", None, "USDC")
    assert (data["amount_usd"], data["fee_usd"], data["credited_usd"]) == (
        250,
        Decimal("2.5"),
        Decimal("247.5"),
    )
    assert data["tx_hash"] == HASH.lower()
    reference = f"funding-POLYGON-{HASH.lower()}"
    rows = {(row["kind"], row["amount_usd"], row["reference"]) for row in await api.ledger()}
    assert rows == {("funding", 250, reference), ("fee", Decimal("-2.5"), reference + ":fee")}
    event = (await api.get("/events")).data["events"][0]
    assert event["type"] == "float.credited"
    assert event["payload"]["funding_id"] == data["id"]
    assert event["payload"]["credited_usd"] == Decimal("247.5")


@pytest.mark.rule("R027", "R197")
async def test_ledger_amounts_keep_ten_decimals_exactly(api: Api, hand: Hand) -> None:
    """R027, R197."""
    await hand("account", load_pct="0.0123")
    await send(hand, "1234567.123457")

    data = await submit(api)

    fee_usd = Decimal("15185.1756185211")
    assert data["fee_usd"] == fee_usd
    assert (await api.float())["balance_usd"] == Decimal("1234567.123457") - fee_usd


CASES: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("rejected", "transaction_failed", {"ok": False}, {}),
    ("rejected", "unsupported_token", {"token": "DAI"}, {}),
    ("rejected", "below_minimum", {"amount": "9.99"}, {}),
    ("rejected", "bridge_fill", {"route": "bridge"}, {}),
    ("rejected", "before_account_opened", {"sent_at": "2023-12-31T23:59:59Z"}, {}),
    ("rejected", "before_automatic_funding", {}, {"automatic_funding_since": "2026-03-11T00:00:00Z"}),
    ("review", "multiple_senders", {"senders": [WALLET, "0x" + "b2" * 20]}, {}),
    ("review", "unregistered_sender", {"senders": ["0x" + "b2" * 20]}, {}),
    ("review", "routed_transfer", {"route": "routed"}, {}),
    ("review", "precision", {"amount": "10.0000001"}, {}),
    ("review", "unlisted_token", {"listed": False}, {}),
    ("credited", "", {"amount": "10"}, {}),
    ("credited", "", {"senders": ["0x" + "b2" * 20]}, {"accept_any_wallet": True}),
]


@pytest.mark.parametrize(("status", "reason", "transfer", "account"), CASES)
@pytest.mark.rule("R176", "R177", "R178", "R179", "R180", "R181")
async def test_each_verified_transfer_is_decided_for_its_reason(
    api: Api, hand: Hand, status: str, reason: str, transfer: dict[str, Any], account: dict[str, Any]
) -> None:
    """R176 to R181."""
    await hand("account", **account)
    await send(hand, **transfer)

    data = await submit(api)

    assert (data["status"], data["reason"] or "") == (status, reason)
    assert ((await api.float())["balance_usd"] > 0) is (status == "credited")


@pytest.mark.parametrize(
    ("owner", "expected"),
    [("other", ("rejected", "unregistered_sender")), ("operator", ("review", "operator_sender"))],
)
@pytest.mark.rule("R177", "R178")
async def test_accept_any_wallet_saves_no_payment_of_another_owner(
    api: Api, hand: Hand, owner: str, expected: tuple[str, str]
) -> None:
    """R177, R178."""
    stranger = "0x" + "C3" * 20
    await hand("account", accept_any_wallet=True)
    await hand("wallets", address=stranger.lower(), owner=owner)
    await send(hand, senders=[stranger])
    data = await submit(api)
    assert (data["status"], data["reason"]) == expected


@pytest.mark.rule("R176")
async def test_whose_money_it_is_comes_before_the_amount(api: Api, hand: Hand) -> None:
    """R176: 5 USD from nobody's wallet is a review."""
    await send(hand, "5", senders=["0x" + "b2" * 20])
    data = await submit(api)
    assert (data["status"], data["reason"], data["amount_usd"]) == ("review", "unregistered_sender", 5)


@pytest.mark.rule("R181")
async def test_payments_of_one_token_are_summed_and_two_tokens_are_refused(api: Api, hand: Hand) -> None:
    """R181."""

    def pay(token: str) -> dict[str, str]:
        return {"sender": WALLET, "token": token, "amount": "6"}

    await hand("chain/transfers", network="POLYGON", tx_hash=HASH, payments=[pay("USDC"), pay("USDC")])
    other = "0x" + "cd" * 32
    await hand("chain/transfers", network="POLYGON", tx_hash=other, payments=[pay("USDC"), pay("USDT")])

    assert (await submit(api))["amount_usd"] == 12
    mixed = await submit(api, tx_hash=other)
    assert (mixed["status"], mixed["reason"]) == ("rejected", "mixed_tokens")


async def test_a_payment_to_another_address_is_no_funding_transfer(api: Api, hand: Hand) -> None:
    payment = {"sender": WALLET, "token": "USDC", "amount": "50", "to": "0x" + "99" * 20}
    await hand("chain/transfers", network="POLYGON", tx_hash=HASH, payments=[payment])
    assert (await submit(api))["reason"] == "not_a_funding_transfer"


@pytest.mark.rule("R169", "R170")
async def test_a_hash_that_is_never_found_is_rejected_after_24_hours_and_can_be_revived(
    api: Api, hand: Hand
) -> None:
    """R169, R170, U56: a correction does not restart the 24 hours, a revival does."""
    first = await submit(api)
    await hand("clock", advance_seconds=23 * HOUR)
    corrected = await submit(api, "BNB")
    assert (corrected["id"], corrected["created_at"], corrected["network"]) == (
        first["id"], first["created_at"], "BNB",
    )  # fmt: skip

    await hand("clock", advance_seconds=HOUR)
    assert await now_reads(api, first) == ("rejected", "not_found")

    revived = await submit(api, "BNB")
    assert (revived["id"], revived["status"], revived["created_at"]) == (
        first["id"], "pending", first["created_at"],
    )  # fmt: skip
    await hand("clock", advance_seconds=24 * HOUR - 1)
    assert (await now_reads(api, first))[0] == "pending"
    await send(hand, network="BNB")
    await hand("clock", advance_seconds=2 * HOUR)
    assert await now_reads(api, first) == ("credited", None)


@pytest.mark.rule("R168")
async def test_a_verified_network_cannot_be_corrected(api: Api, hand: Hand) -> None:
    """R168, U54."""
    await send(hand, network="BASE")
    data = await submit(api, "BASE")
    assert data["status"] == "pending"

    answer = await api.post("/funding", {"tx_hash": HASH, "network": "POLYGON"})
    assert answer.refusal == (400, "BAD_REQUEST")
    await hand("account", late_network_change="stored")
    assert (await submit(api))["network"] == "BASE"


@pytest.mark.rule("R191")
async def test_base_is_credited_only_once_final(api: Api, hand: Hand) -> None:
    """R191."""
    await send(hand, network="BASE")
    data = await submit(api, "BASE")
    await hand("clock", advance_seconds=2 * HOUR - 1)
    assert (await now_reads(api, data))[0] == "pending"
    await hand("clock", advance_seconds=1)
    assert (await now_reads(api, data))[0] == "credited"


LATE: list[tuple[str, str, list[str], float, str]] = [
    ("POLYGON", "manual", [], 72, "not_arrived"),
    ("POLYGON", "manual", ["duplicate_arrival"], 0, "ambiguous_match"),
    ("POLYGON", "manual", ["unreadable"], 72, "check_failed"),
    ("POLYGON", "manual", ["credited_elsewhere"], 0, "already_credited"),
    ("BNB", "now", ["drop"], 2, "receipt_changed"),
    ("BASE", "manual", ["arrive"], 6, "not_final"),
]


@pytest.mark.parametrize(("network", "arrives", "changes", "hours", "reason"), LATE)
@pytest.mark.rule("R191")
async def test_what_goes_wrong_after_verification_ends_in_review(
    api: Api, hand: Hand, network: str, arrives: str, changes: list[str], hours: float, reason: str
) -> None:
    """R191 and the review reasons: not a second too early."""
    await send(hand, network=network, arrives=arrives)
    data = await submit(api, network)
    assert data["status"] == "pending"
    for change in changes:
        await hand(f"chain/transfers/{HASH}/{change}")
    if hours:
        await hand("clock", advance_seconds=hours * HOUR - 1)
        assert (await now_reads(api, data))[0] == "pending"
        await hand("clock", advance_seconds=1)

    assert await now_reads(api, data) == ("review", reason)


@pytest.mark.parametrize("field", ["token", "amount", "sender"])
async def test_an_arrival_that_differs_from_the_chain_is_a_mismatch(api: Api, hand: Hand, field: str) -> None:
    await send(hand, arrives="manual")
    data = await submit(api)
    await hand(f"chain/transfers/{HASH}/mismatch", field=field)
    assert await now_reads(api, data) == ("review", "amount_mismatch")


@pytest.mark.rule("R182", "R259")
async def test_a_review_may_credit_less_than_was_sent(api: Api, hand: Hand) -> None:
    """R182, R259."""
    await send(hand, route="routed")
    data = await submit(api)
    await hand(f"funding/{data['id']}/decide", decision="credit", amount_usd="100")

    after = (await api.get(f"/funding/{data['id']}")).data
    assert (after["status"], after["amount_usd"], after["fee_usd"], after["credited_usd"]) == (
        "credited",
        250,
        1,
        99,
    )
    assert (await api.get("/events?type=float.credited")).data["count"] == 1


@pytest.mark.rule("R049", "R184", "R186")
async def test_a_reversal_keeps_its_figures_and_takes_the_credit_back_in_silence(
    api: Api, hand: Hand
) -> None:
    """R184, R186, R049: the balance may go negative, available never does."""
    await hand("account", monthly_fee_usd="0")
    await send(hand)
    data = await submit(api)
    card = await api.order()
    await api.top_up(card, "200")

    await hand(f"funding/{data['id']}/decide", decision="reverse")

    after = (await api.get(f"/funding/{data['id']}")).data
    assert (after["status"], after["reason"]) == ("rejected", "reversed_by_operator")
    assert (after["fee_usd"], after["credited_usd"]) == (Decimal("2.5"), Decimal("247.5"))
    figures = await api.float()
    assert (figures["balance_usd"], figures["available_usd"]) == (-200, 0)
    assert (await api.get("/events?type=float.credited")).data["total"] == 1
    # A paid claim keeps the hash, whoever asks.
    assert (await submit(api))["status"] == "rejected"


@pytest.mark.rule("R183")
async def test_funds_credited_by_other_means_leave_no_figures_and_no_event(api: Api, hand: Hand) -> None:
    """R183."""
    await send(hand, route="routed")
    data = await submit(api)
    await hand(f"funding/{data['id']}/decide", decision="credit_separately")

    after = (await api.get(f"/funding/{data['id']}")).data
    assert (after["status"], after["reason"], after["fee_usd"]) == ("credited", "credited_separately", None)
    assert (await api.get("/events")).data["total"] == 0
    assert (await api.float())["balance_usd"] == 0


@pytest.mark.parametrize(("decision", "expected"), [("reject", "rejected_by_operator")])
async def test_an_operator_may_refuse_a_review(api: Api, hand: Hand, decision: str, expected: str) -> None:
    await send(hand, route="routed")
    data = await submit(api)
    await hand(f"funding/{data['id']}/decide", decision=decision)
    assert await now_reads(api, data) == ("rejected", expected)
    assert (await submit(api))["status"] == "rejected"  # R170: nothing to resubmit


async def test_a_held_submission_waits_for_the_operator(api: Api, hand: Hand) -> None:
    await send(hand, arrives="manual")
    data = await submit(api)
    await hand(f"funding/{data['id']}/decide", decision="hold")
    await hand(f"chain/transfers/{HASH}/arrive")
    assert await now_reads(api, data) == ("review", "held_by_operator")


@pytest.mark.rule("R020", "R171")
async def test_five_unverified_submissions_block_a_sixth_but_not_a_repeat(api: Api) -> None:
    """R020, R171."""
    hashes = ["0x" + f"{n:064x}" for n in range(6)]
    for tx_hash in hashes[:5]:
        await submit(api, tx_hash=tx_hash)

    answer = await api.post("/funding", {"tx_hash": hashes[5], "network": "BASE"})
    assert answer.refusal == (429, "TOO_MANY_PENDING")
    assert "retry-after" not in answer.headers
    assert (await submit(api, "BASE", hashes[0]))["network"] == "BASE"


@pytest.mark.parametrize(
    ("tx_hash", "network"),
    [("0x12", "POLYGON"), ("ab" * 33, "POLYGON"), (HASH, "SOLANA"), (HASH + "\n", "BASE"), (1, "BASE")],
)
async def test_a_malformed_hash_or_network_is_a_400_and_stores_nothing(
    api: Api, tx_hash: Any, network: str
) -> None:
    assert (await api.post("/funding", {"tx_hash": tx_hash, "network": network})).refusal == (
        400,
        "BAD_REQUEST",
    )
    assert (await api.get("/funding")).data["funding"] == []


@pytest.mark.rule("R167", "R187")
async def test_an_unlisted_network_is_400_and_an_unreadable_address_503(api: Api, hand: Hand) -> None:
    """R167, R187; Polygon goes on when only the others are unreadable."""
    await hand("account", networks=["POLYGON", "BNB"], addresses_unreadable=["BNB"])

    assert (await api.post("/funding", {"tx_hash": HASH, "network": "BASE"})).refusal == (400, "BAD_REQUEST")
    assert (await api.post("/funding", {"tx_hash": HASH, "network": "BSC"})).refusal == (503, "UNAVAILABLE")
    assert (await api.get("/funding/addresses")).refusal == (503, "UNAVAILABLE")
    assert (await submit(api))["status"] == "pending"

    await hand("account", addresses_unreadable=[])
    listed = (await api.get("/funding/addresses")).data["addresses"]
    assert [entry["network"] for entry in listed] == ["POLYGON", "BNB"]


async def second_account(api: Api, hand: Hand) -> tuple[Api, str]:
    account = (await hand("accounts"))["account"]
    return Api(api.http, (await hand("keys", account=account))["key"]), account


@pytest.mark.rule("R173", "R174")
async def test_the_account_whose_registered_wallet_paid_replaces_an_unpaid_claim(
    api: Api, hand: Hand
) -> None:
    """R173, R174."""
    thief, _ = await second_account(api, hand)
    await hand("clock", advance_seconds=1)
    stolen = await submit(thief)
    assert (await api.post("/funding", {"tx_hash": HASH, "network": "POLYGON"})).refusal == (
        503,
        "UNAVAILABLE",
    )
    await send(hand, arrives="manual")
    assert await now_reads(thief, stolen) == ("rejected", "unregistered_sender")

    assert (await submit(api))["status"] == "pending"

    assert (await thief.get(f"/funding/{stolen['id']}")).refusal == (404, "NOT_FOUND")
    assert (await thief.get("/funding")).data["total"] == 0
    answer = await thief.post("/funding", {"tx_hash": HASH, "network": "POLYGON"})
    assert answer.refusal == (409, "ALREADY_SUBMITTED")


@pytest.mark.rule("R174")
async def test_a_paid_claim_is_never_displaced(api: Api, hand: Hand) -> None:
    """R174."""
    other, account = await second_account(api, hand)
    await hand("wallets", address=WALLET, owner="self", account=account)
    await hand("account", account=account, accept_any_wallet=True)
    await hand("clock", advance_seconds=1)
    await send(hand)
    assert (await submit(other))["status"] == "credited"
    await hand("wallets", address=WALLET, owner="self")
    assert (await api.post("/funding", {"tx_hash": HASH, "network": "POLYGON"})).refusal == (
        409, "ALREADY_SUBMITTED",
    )  # fmt: skip


@pytest.mark.rule("R172")
async def test_a_transaction_credited_by_other_means_cannot_be_submitted(api: Api, hand: Hand) -> None:
    """R172."""
    await send(hand)
    await hand(f"chain/transfers/{HASH}/credited_elsewhere")
    answer = await api.post("/funding", {"tx_hash": HASH, "network": "POLYGON"})
    assert answer.refusal == (409, "ALREADY_CREDITED")


@pytest.mark.parametrize("funding_id", ["nonsense", "00000000-0000-4000-8000-000000000000"])
@pytest.mark.rule("R175")
async def test_anything_but_an_own_submission_is_404(api: Api, funding_id: str) -> None:
    """R175."""
    assert (await api.get(f"/funding/{funding_id}")).refusal == (404, "NOT_FOUND")
