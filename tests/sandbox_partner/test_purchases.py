"""Purchases: authorization, settlement, reversal, refund, declines and their history."""

from decimal import Decimal
from typing import Any

import pytest

from sandbox.partner.purchases import declines
from tests.sandbox_partner.conftest import Api, Hand

pytestmark = pytest.mark.by_turns(4)

NOTHING = Decimal(0)


@pytest.mark.rule("R034", "R035", "R038", "R152", "R202")
async def test_an_authorization_takes_charge_and_fee_and_the_exact_fee_is_on_its_event(
    api: Api, hand: Hand
) -> None:
    """R034, R035, R038, R152, R202, U50: the row rounds each part to the cent, the event does not."""
    await hand("account", transaction_markup_pct="0.00333")
    card = await api.loaded(hand)
    shown = await hand.buy(card, "10.10", merchant="Bakery")

    [event] = await api.events("&type=card.authorized")
    [row] = await api.history(card)
    payload = event["payload"]
    assert (payload["amount_usd"], payload["fee_usd"]) == (Decimal("10.20"), Decimal("0.101"))
    assert payload["fee_breakdown"] == {"fx_usd": Decimal("0.101"), "atm_usd": 0}
    assert (payload["event"], payload["status"], payload["is_pending"]) == ("authorized", "pending", True)
    assert await api.balance(card) == 1000 - Decimal("10.20")
    assert (shown["amount_usd"], shown["fee_usd"], shown["outcome"]) == ("10.2", "0.101", "authorized")

    assert (row["amount_usd"], row["provider_fee_usd"], row["fee_basis_usd"]) == (
        Decimal("10.2"), Decimal("0.1"), Decimal("10.1"),
    )  # fmt: skip
    assert row["client_fee_usd"] == Decimal("10.1") * Decimal("0.00333")
    assert row["fee_usd"] == row["provider_fee_usd"] + row["client_fee_usd"]
    assert row["transaction_id"] == payload["transaction_id"] == shown["transaction_id"]
    assert row["id"] not in (event["id"], row["transaction_id"])
    assert row["status"] == "pending"
    assert "purchase" not in {entry["kind"] for entry in await api.ledger()}


@pytest.mark.rule("R038", "R040")
async def test_a_fee_under_half_a_cent_reads_zero_on_the_row(api: Api, hand: Hand) -> None:
    """R038, R040: and USD pricing shows in fx_usd without any conversion."""
    card = await api.loaded(hand)
    await hand.buy(card, "0.30")
    await hand.buy(card, "20")
    usual, small = await api.history(card)
    assert (small["provider_fee_usd"], small["amount_usd"]) == (0, Decimal("0.30"))
    assert (usual["fee_breakdown"]["fx_usd"], usual["original_currency"]) == (Decimal("0.20"), "USD")
    exact = [event["payload"]["fee_usd"] for event in await api.events("&type=card.authorized")]
    assert exact == [Decimal("0.003"), Decimal("0.2")]


KINDS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "1", "0"), ({"kind": "atm"}, "0", "3"), ({"kind": "high_risk"}, "2", "0"),
    ({"original_amount": "92.00", "original_currency": "EUR"}, "2.5", "0"),
    ({"kind": "atm", "original_amount": "92", "original_currency": "EUR"}, "2.5", "3"),
]  # fmt: skip


@pytest.mark.parametrize(("how", "fx_usd", "atm_usd"), KINDS)
@pytest.mark.rule("R037", "R039", "R041")
async def test_fees_come_by_kind_and_currency(
    api: Api, hand: Hand, how: dict[str, Any], fx_usd: str, atm_usd: str
) -> None:
    """R037, R039, R041: the rate relates the original amount to the amount with fees."""
    card = await api.loaded(hand)
    await hand.buy(card, "100", **how)
    [row] = await api.history(card)
    fees = {"fx_usd": Decimal(fx_usd), "atm_usd": Decimal(atm_usd), "deposit_usd": NOTHING}
    assert row["fee_breakdown"] == fees
    assert row["provider_fee_usd"] == sum(fees.values())
    assert row["amount_usd"] == 100 + row["provider_fee_usd"]
    original = Decimal(how.get("original_amount", "100"))
    assert (row["original_amount"], row["original_currency"]) == (
        original,
        how.get("original_currency", "USD"),
    )
    assert abs(row["exchange_rate"] * original - row["amount_usd"]) < Decimal("0.001")


@pytest.mark.rule("R240", "R242")
async def test_settling_the_same_amount_moves_nothing_and_does_not_repeat_the_fee(
    api: Api, hand: Hand
) -> None:
    """R242, R240: the settlement's amount is lower by the fee it leaves out."""
    card = await api.loaded(hand)
    bought = await hand.buy(card, "50")
    held_usd = await api.balance(card)
    await hand(f"purchases/{bought['transaction_id']}/settle")

    cleared = (await api.events("&type=card.transaction"))[-1]["payload"]
    assert (cleared["event"], cleared["status"], cleared["fee_usd"]) == ("cleared", "settled", 0)
    assert (cleared["amount_usd"], cleared["original_amount"]) == (50, 50)
    assert cleared["transaction_id"] == bought["transaction_id"]
    assert await api.balance(card) == held_usd
    [row] = await api.history(card)
    assert (row["status"], row["amount_usd"]) == ("settled", Decimal("50.5"))


@pytest.mark.rule("R243", "R247")
async def test_settling_another_amount_prices_it_again_and_neither_event_says_the_total(
    api: Api, hand: Hand
) -> None:
    """R243, R247: original_amount differs, which is how a client knows that the charge is open."""
    card = await api.loaded(hand)
    bought = await hand.buy(card, "50")
    await hand(f"purchases/{bought['transaction_id']}/settle", amount_usd="40")

    authorized, cleared = (event["payload"] for event in await api.events())
    [row] = await api.history(card)
    assert (authorized["original_amount"], cleared["original_amount"]) == (50, 40)
    assert row["amount_usd"] == Decimal("40.4")
    assert row["amount_usd"] not in (authorized["amount_usd"], cleared["amount_usd"])
    assert await api.balance(card) == 1000 - Decimal("40.4")


@pytest.mark.rule("R154", "R155", "R246")
async def test_a_partial_reversal_then_a_settlement_makes_three_events_and_one_row(
    api: Api, hand: Hand
) -> None:
    """R154, R155, R246: the row reads settled and no longer shows the reversal."""
    card = await api.loaded(hand)
    bought = await hand.buy(card, "60")
    leg = f"purchases/{bought['transaction_id']}"
    await hand(f"{leg}/reverse", amount_usd="20", fee_usd="0.5")
    [row] = await api.history(card)
    assert (row["status"], row["amount_usd"]) == ("partially_reversed", Decimal("40.9"))
    await hand(f"{leg}/settle")

    events = [event["payload"] for event in await api.events()]
    assert [event["event"] for event in events] == ["authorized", "reversal", "cleared"]
    assert {event["transaction_id"] for event in events} == {bought["transaction_id"]}
    assert events[1]["fee_usd"] == Decimal("0.5")
    [row] = await api.history(card)
    assert (row["status"], row["amount_usd"]) == ("settled", Decimal("40.9"))
    assert await api.balance(card) == 1000 - Decimal("40.9")


@pytest.mark.rule("R155")
async def test_a_full_reversal_gives_everything_back(api: Api, hand: Hand) -> None:
    """R155, U47."""
    card = await api.loaded(hand)
    bought = await hand.buy(card, "60")
    await hand(f"purchases/{bought['transaction_id']}/reverse")
    [row] = await api.history(card)
    assert (row["status"], row["amount_usd"], row["fee_usd"]) == ("reversed", 0, 0)
    assert await api.balance(card) == 1000


@pytest.mark.rule("R154", "R201", "R240", "R241")
async def test_refunds_change_the_row_and_never_its_amount(api: Api, hand: Hand) -> None:
    """R154, R201, R240, R241, U47: partial, then the rest; direction is in the event, not in a sign."""
    card = await api.loaded(hand)
    bought = await hand.buy(card, "30")
    leg = f"purchases/{bought['transaction_id']}"
    await hand(f"{leg}/settle")
    seen = []
    for amount in ({"amount_usd": "10"}, {}):
        await hand(f"{leg}/refund", **amount)
        [row] = await api.history(card)
        seen.append((row["status"], row["amount_usd"], await api.balance(card)))
    assert seen == [
        ("partially_refunded", Decimal("30.3"), Decimal("979.7")), ("refunded", Decimal("30.3"), Decimal("999.7")),
    ]  # fmt: skip
    last = (await api.events())[-1]["payload"]
    assert (last["event"], last["status"], abs(last["amount_usd"])) == ("refund", "settled", 20)
    assert "refund" not in {entry["kind"] for entry in await api.ledger()}
    response = await hand.http.post(f"{leg}/refund", json={})
    assert response.status_code == 409


@pytest.mark.parametrize("code", declines.CODES)
@pytest.mark.rule("R036", "R164", "R239", "R245")
async def test_every_decline_code_can_be_brought_about(api: Api, hand: Hand, code: str) -> None:
    """R036, R164, R239, R245: fees are zero, the amount is not, the card keeps its money."""
    card = await api.loaded(hand)
    shown = await hand.buy(card, "25", merchant=f"DECLINE {code}")
    assert (shown["outcome"], shown["decline_code"]) == ("declined", code)

    [event] = await api.events()
    [row] = await api.history(card)
    payload = event["payload"]
    assert (event["type"], payload["event"], payload["status"]) == ("card.declined", "declined", "settled")
    assert payload["is_pending"] is False
    assert payload["fee_breakdown"] == {"fx_usd": 0, "atm_usd": 0}
    assert payload["decline_reason"] == row["decline_reason"]
    assert row["decline_reason"]["code"] == code
    assert row["decline_reason"]["message"]
    for figure in ("provider_fee_usd", "client_fee_usd", "fee_usd", "fee_basis_usd"):
        assert row[figure] == 0
    assert (row["status"], row["amount_usd"], payload["amount_usd"]) == ("declined", 25, 25)
    assert await api.balance(card) == 1000
    assert (await hand.http.post(f"purchases/{shown['transaction_id']}/settle", json={})).status_code == 409


async def test_a_merchant_who_declines_with_no_known_code_declines_with_unknown(api: Api, hand: Hand) -> None:
    card = await api.loaded(hand)
    assert (await hand.buy(card, merchant="DECLINE because"))["decline_code"] == "unknown"
    assert (await hand.buy(card, merchant="DECLINED GOODS"))["outcome"] == "authorized"


@pytest.mark.rule("R164", "R258")
async def test_five_thousand_passes_and_a_cent_more_does_not(api: Api, hand: Hand) -> None:
    """R164, R258: the cap is on one purchase; the card may hold more."""
    card = await api.loaded(hand, "12000")
    assert await api.balance(card) == 12000
    assert (await hand.buy(card, "5000.00"))["outcome"] == "authorized"
    assert (await hand.buy(card, "5000.01"))["decline_code"] == "single_purchase_limit_exceeded"


async def test_a_card_that_holds_too_little_declines(api: Api, hand: Hand) -> None:
    card = await api.loaded(hand, "10")
    assert (await hand.buy(card, "9.99"))[
        "decline_code"
    ] == "insufficient_card_balance"  # the fee does not fit
    assert (await hand.buy(card, "9.90"))["outcome"] == "authorized"


@pytest.mark.parametrize("status", ["FROZEN", "BLOCKED", "EXPIRED", "INACTIVE"])
@pytest.mark.rule("R055", "R163")
async def test_a_card_that_is_not_active_cannot_spend(api: Api, hand: Hand, status: str) -> None:
    """R055, R163, N1."""
    card = await api.loaded(hand)
    await hand(f"cards/{card}", status=status)
    assert (await hand.buy(card))["decline_code"] == "card_blocked"
    assert (await api.history(card))[0]["decline_reason"]["card_blocked"] is (status == "BLOCKED")


@pytest.mark.parametrize(("period", "days"), [("daily", 1), ("weekly", 7), ("monthly", 31)])
@pytest.mark.rule("R122")
async def test_a_spending_limit_counts_pending_purchases_of_its_period(
    api: Api, hand: Hand, period: str, days: int
) -> None:
    """R122, U38."""
    await hand("clock", mode="frozen", set="2026-03-02T09:00:00Z")  # a Monday
    card = await api.loaded(hand)
    await api.call("PUT", f"/cards/{card}/limits", {f"{period}_limit": 100})
    assert (await hand.buy(card, "60"))["outcome"] == "authorized"
    assert (await hand.buy(card, "40.01"))["decline_code"] == f"{period}_limit_exceeded"
    assert (await hand.buy(card, "40"))["outcome"] == "authorized"
    await hand("clock", advance_seconds=days * 86400)
    assert (await hand.buy(card, "60"))["outcome"] == "authorized"


@pytest.mark.rule("R132", "R163", "R248")
async def test_velocity_declines_and_repeated_breaches_block_the_card(api: Api, hand: Hand) -> None:
    """R132, R163, R248: no event says so; the decline's card_blocked does."""
    await hand("clock", mode="frozen")
    card = await api.loaded(hand)
    await hand("account", velocity_per_minute=2)
    outcomes = [(await hand.buy(card, "1"))["decline_code"] for _ in range(7)]
    assert outcomes == [None, None, *["velocity_limit_exceeded"] * 5]
    assert (await api.get(f"/cards/{card}")).data["card"]["status"] == "BLOCKED"
    assert [row["decline_reason"]["card_blocked"] for row in (await api.history(card))[:2]] == [True, False]
    assert {event["type"] for event in await api.events()} == {"card.authorized", "card.declined"}


async def test_an_authorization_that_nobody_settles_is_reversed_after_a_week(api: Api, hand: Hand) -> None:
    """U48."""
    await hand("clock", mode="frozen", set="2026-03-02T09:00:00Z")
    card = await api.loaded(hand)
    await hand.buy(card, "10")
    await hand("clock", set="2026-03-09T08:59:59Z")
    assert (await api.history(card))[0]["status"] == "pending"
    await hand("clock", advance_seconds=1)
    assert (await api.history(card))[0]["status"] == "reversed"
    assert await api.balance(card) == 1000
    assert (await api.events())[-1]["payload"]["occurred_at"] == "2026-03-09T09:00:00.000Z"


@pytest.mark.rule("R159")
async def test_what_follows_a_close_never_reaches_the_closed_card(api: Api, hand: Hand) -> None:
    """R159, U37: a late settlement changes only the row, a late refund goes to suspense."""
    card = await api.loaded(hand, "100")
    settled, refunded = await hand.buy(card, "10"), await hand.buy(card, "20")
    await hand(f"purchases/{refunded['transaction_id']}/settle")
    swept = (await api.post(f"/cards/{card}/close")).data["returned_usd"]
    await hand(f"purchases/{settled['transaction_id']}/settle", amount_usd="12")
    await hand(f"purchases/{refunded['transaction_id']}/refund")

    assert swept == 100 - Decimal("10.1") - Decimal("20.2")
    assert [row["status"] for row in await api.history(card)] == ["refunded", "settled"]
    assert await api.balance(card) == 0
    assert (await hand.state())["suspense_usd"] == "20"


@pytest.mark.rule("R024", "R151", "R156", "R157")
async def test_rows_are_utc_without_a_zone_and_come_in_pages(api: Api, hand: Hand) -> None:
    """R024, R151, R156, R157: an unreadable row is missing from its page and still counted."""
    await hand("clock", mode="frozen", set="2026-03-02T09:00:00.250Z")
    card = await api.loaded(hand)
    for number in range(3):
        await hand.buy(card, f"{number + 1}")
    assert (await api.history(card))[0]["datetime"] == "2026-03-02T09:00:00.250"

    await hand(f"cards/{card}", unreadable_rows=1)
    path = f"/cards/{card}/transactions"
    first, second = (await api.get(f"{path}?limit=2")).data, (await api.get(f"{path}?limit=2&page=2")).data
    figures = [(one["count"], one["total"], one["total_pages"], one["page"]) for one in (first, second)]
    assert figures == [(1, 3, 2, 1), (1, 3, 2, 2)]
    assert (await api.get(f"{path}?limit=0")).data["total_pages"] == 3
    past = (await api.get(f"{path}?page=9")).data
    assert (past["transactions"], past["total"], past["total_pages"]) == ([], 0, 1)


BAD_QUERIES = [
    "limit=26", "limit=x", "limit=-1", "limit=2.5", "limit=", "page=x", "from_date=2026-02-30",
    "from_date=2026-1-1", "to_date=yesterday", "from_date=2026-03-02&to_date=2026-03-01", "to_date=",
    "from_date=2026-03-02T00:00:00Z", "from_date=٢٠٢٦-٠٣-٠٢",
]  # fmt: skip


@pytest.mark.parametrize("query", BAD_QUERIES)
@pytest.mark.rule("R156", "R158")
async def test_a_bad_history_query_is_refused_and_never_clamped(api: Api, query: str) -> None:
    """R156, R158."""
    card = await api.order()
    assert (await api.get(f"/cards/{card}/transactions?{query}")).refusal == (400, "BAD_REQUEST")


@pytest.mark.rule("R158")
async def test_dates_bound_the_history_inclusively_by_utc_day(api: Api, hand: Hand) -> None:
    """R158, U46."""
    card = await api.loaded(hand)
    for moment in (
        "2026-03-01T23:59:59.999Z",
        "2026-03-02T00:00:00Z",
        "2026-03-02T23:59:59.999Z",
        "2026-03-03T00:00:00Z",
    ):
        await hand("clock", mode="frozen", set=moment)
        await hand.buy(card, "1")

    async def days(query: str) -> list[str]:
        return [row["datetime"][8:13] for row in await api.history(card, query)]

    assert await days("?from_date=2026-03-02&to_date=2026-03-02") == ["02T23", "02T00"]
    assert await days("?from_date=2026-03-02") == ["03T00", "02T23", "02T00"]
    assert await days("?to_date=2026-03-01") == ["01T23"]


HISTORY_ERRORS = {
    "400": (400, "BAD_REQUEST"), "412": (400, "BAD_REQUEST"), "401": (503, "UPSTREAM_AUTH"),
    "429": (502, "UNAVAILABLE"), "5xx": (502, "UNAVAILABLE"), "404": (502, "UNAVAILABLE"),
    "timeout": (500, "UNAVAILABLE"), "capacity": (502, "UNAVAILABLE"),
}  # fmt: skip


@pytest.mark.parametrize(("processor", "refusal"), HISTORY_ERRORS.items())
@pytest.mark.rule("R161")
async def test_a_processor_that_fails_a_search_is_told_apart(
    api: Api, hand: Hand, processor: str, refusal: tuple[int, str]
) -> None:
    """R161."""
    card = await api.order()
    await hand.fault("processor", "GET /cards/{cardId}/transactions", processor=processor)
    assert (await api.get(f"/cards/{card}/transactions")).refusal == refusal


@pytest.mark.rule("R025")
async def test_scrambled_gives_unknown_declines_event_types_and_signs(api: Api, hand: Hand) -> None:
    """R025, U13, U14."""
    await hand("account", profile="scrambled")
    card = await api.loaded(hand)
    bought = await hand.buy(card, "5")
    await hand(f"purchases/{bought['transaction_id']}/reverse")
    await hand.buy(card, "5", decline_code="unknown")
    listed = (await api.http.get("/events", headers={"X-API-Key": api.key})).json()["data"]["events"][::-1]
    assert listed[0]["type"] == "card.wallet_added"
    reversal, declined = listed[2]["payload"], listed[3]["payload"]
    assert (reversal["event"], reversal["amount_usd"] < 0) == ("reversal", True)
    assert declined["decline_reason"]["code"] not in declines.CODES
    assert "retryable" not in declined["decline_reason"]


REFUSED_PURCHASES: list[tuple[dict[str, Any], str]] = [
    ({"amount_usd": "0"}, "amount_usd"), ({"amount_usd": "1.001"}, "amount_usd"), ({"amount_usd": "NaN"}, "amount_usd"),
    ({"amount_usd": "1", "original_currency": "EUR"}, "original_amount"), ({"amount_usd": "1", "kind": "gift"}, "kind"),
    ({"amount_usd": "1", "decline_code": "because"}, "decline_code"),
    ({"amount_usd": "1", "mcc_code": "x"}, "mcc_code"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "named"), REFUSED_PURCHASES)
async def test_a_purchase_call_names_what_it_refuses(
    api: Api, hand: Hand, body: dict[str, Any], named: str
) -> None:
    card = await api.order()
    assert named in await hand.refused("purchases", card_id=card, **body)
    assert (await hand.state())["purchases"] == []


async def test_a_purchase_on_a_card_that_is_not_there_names_the_card(hand: Hand) -> None:
    assert "card_id" in await hand.refused("purchases", card_id="nobody", amount_usd="1")


@pytest.mark.rule("R135", "R247")
async def test_a_settlement_above_the_balance_leaves_a_debt_and_the_card_open(api: Api, hand: Hand) -> None:
    """R135, R247, U37: a card with a debt cannot be swept."""
    card = await api.loaded(hand, "20")
    bought = await hand.buy(card, "10")
    await hand(f"purchases/{bought['transaction_id']}/settle", amount_usd="50")
    assert await api.balance(card) == Decimal("-30.5")
    assert (await api.post(f"/cards/{card}/close", idem="c")).refusal == (400, "BAD_REQUEST")
    assert (await api.get(f"/cards/{card}")).data["card"]["status"] == "ACTIVE"
    await hand(f"purchases/{bought['transaction_id']}/refund", amount_usd="40")
    assert (await api.post(f"/cards/{card}/close", idem="c")).data["returned_usd"] == Decimal("9.5")


@pytest.mark.rule("R130", "R204")
async def test_freezing_keeps_the_balance_stops_spending_and_not_the_fee(api: Api, hand: Hand) -> None:
    """R130, R204."""
    await hand("clock", mode="frozen", set="2026-03-20T09:00:00Z")
    card = await api.loaded(hand, "20")
    await hand("account", monthly_fee_usd="1")
    await hand("float", amount_usd="5")
    await api.post(f"/cards/{card}/freeze", {"frozen": True})
    assert (await hand.buy(card, "1"))["decline_code"] == "card_blocked"
    await hand("clock", set="2026-04-02T09:00:00Z")
    assert await api.balance(card) == 20
    assert [row["amount_usd"] for row in await api.ledger() if row["kind"] == "fee"] == [-1]
