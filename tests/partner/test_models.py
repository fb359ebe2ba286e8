"""Answers as values: exact, frozen, and tolerant only where the document says it will grow."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from bot.partner.codec import decode
from bot.partner.models import (
    CREDITED_REASONS,
    FUNDING_REASONS,
    REJECTED_REASONS,
    REVIEW_REASONS,
    BalanceRow,
    Card,
    CardAllowance,
    CardWithBalance,
    Float,
    LedgerEntry,
    Limits,
    Transaction,
    Unload,
    Unreadable,
)
from bot.partner.models.base import NotFromACall, Response
from bot.partner.models.events import Challenge

CARD = {"id": "aB1", "partner_ref": None, "card_holder_name": "JOSE ÄGIR", "last4": None, "status": None,
        "created_at": "2026-03-02T09:00:00.123Z"}  # fmt: skip


@pytest.mark.rule("R025", "R055")
def test_an_unknown_status_and_unknown_fields_are_no_error_and_stay_in_raw() -> None:
    """R025, R055."""
    card = Card.read({**CARD, "status": "HIBERNATING", "mood": {"deep": [1]}})

    assert card.status == "HIBERNATING"
    assert card.raw["mood"] == {"deep": [1]}
    assert not hasattr(card, "mood")


def test_nested_values_keep_their_own_raw() -> None:
    found = CardWithBalance.read({"card": {**CARD, "x": 1}, "balance_usd": None, "y": 2})

    assert found.card.raw["x"] == 1
    assert found.raw["y"] == 2
    assert found.balance_usd is None


@pytest.mark.rule("R027")
def test_amounts_keep_every_digit_and_whole_numbers_are_decimals_too() -> None:
    """R027."""
    raw = b'{"funded_usd":123456789.1234567891,"spent_usd":1,"balance_usd":-0.50,'

    balance = Float.read(decode(raw + b'"limit_usd":null,"available_usd":0}'))

    assert balance.funded_usd == Decimal("123456789.1234567891")
    assert isinstance(balance.spent_usd, Decimal)
    assert str(balance.balance_usd) == "-0.50"
    assert balance.limit_usd is None


@pytest.mark.rule("R029")
@pytest.mark.parametrize("amount", ["25", True, None, 0.1, [], float("nan"), Decimal("NaN")])
def test_an_amount_that_is_no_json_number_is_unreadable(amount: Any) -> None:
    """R029 for answers."""
    with pytest.raises(Unreadable, match="unloaded_usd"):
        Unload.read({"card_id": "a", "unloaded_usd": amount, "partner_balance_usd": 1})


@pytest.mark.rule("R051")
def test_where_null_means_no_limit_a_missing_field_is_not_null() -> None:
    """R051."""
    assert CardAllowance.read({"total": 5, "active": 3, "limit": None}).remaining is None
    with pytest.raises(Unreadable, match="limit: missing"):
        CardAllowance.read({"total": 5, "active": 3})


@pytest.mark.rule("R069")
def test_the_allowance_left_counts_every_card_ever_ordered() -> None:
    """R069."""
    assert CardAllowance.read({"total": 48, "active": 3, "limit": 50}).remaining == 2
    assert CardAllowance.read({"total": 51, "active": 3, "limit": 50}).remaining == 0


@pytest.mark.rule("R024")
@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-03-02T09:00:00Z", datetime(2026, 3, 2, 9, tzinfo=UTC)),
        ("2026-03-02T09:00:00.5Z", datetime(2026, 3, 2, 9, 0, 0, 500_000, tzinfo=UTC)),
        ("2026-03-02T09:00:00.123456789Z", datetime(2026, 3, 2, 9, 0, 0, 123_456, tzinfo=UTC)),
        ("2026-03-02T10:30:00+01:30", datetime(2026, 3, 2, 9, tzinfo=UTC)),
    ],
)
def test_times_are_aware_utc_with_up_to_nine_digits(text: str, at: datetime) -> None:
    """R024; U77."""
    assert Card.read({**CARD, "created_at": text}).created_at == at


@pytest.mark.parametrize(
    "text",
    ["2026-03-02T09:00:00", "2026-03-02", "2026-02-30T09:00:00Z", "2026-W10-1T09:00:00Z", 1772442000, None,
     "0001-01-01T00:00:00+14:00", "2026-03-02T09:00:00Z\n", "٢٠٢٦-03-02T09:00:00Z"],
)  # fmt: skip
def test_a_time_without_offset_or_of_another_form_is_unreadable(text: Any) -> None:
    with pytest.raises(Unreadable, match="created_at"):
        Card.read({**CARD, "created_at": text})


def test_unreadable_tells_the_place_and_never_the_value() -> None:
    with pytest.raises(Unreadable) as failed:
        Card.read({**CARD, "id": 4242, "card_holder_name": ["JOSE"]})

    assert "id" in str(failed.value)
    assert "card_holder_name" in str(failed.value)
    assert "4242" not in str(failed.value)
    assert "JOSE" not in str(failed.value)


def test_a_card_does_not_print_its_holder() -> None:
    card = Card.read(CARD)

    assert "JOSE" not in f"{card!r} {card}"
    assert card.card_holder_name == "JOSE ÄGIR"


def test_an_answer_cannot_be_changed() -> None:
    card = Card.read(CARD)

    with pytest.raises(ValidationError):
        card.id = "other"  # type: ignore[misc]  # the mistake under test


def test_a_ledger_row_of_an_unknown_kind_is_read() -> None:
    """U15."""
    row = LedgerEntry.read({"amount_usd": 0, "kind": "novelty", "created_at": "2026-03-02T09:00:00.000Z"})

    assert (row.kind, row.reference, row.card_id) == ("novelty", None, None)


# Purchases

ROW: dict[str, Any] = {
    "id": "row-1", "transaction_id": None, "partner_ref": None, "datetime": "2026-03-02T08:15:30",
    "status": "declined", "merchant": None, "amount_usd": Decimal("12.34"),
    "original_amount": Decimal("11.00"), "original_currency": "EUR", "fee_basis_usd": 0,
    "exchange_rate": None, "provider_fee_usd": 0, "client_fee_usd": 0, "fee_usd": 0,
    "fee_breakdown": {"fx_usd": Decimal("0.40"), "atm_usd": 0, "deposit_usd": 0},
    "decline_reason": {"code": "daily_limit_exceeded", "message": "No.", "retryable": False,
                       "card_blocked": False},
}  # fmt: skip


@pytest.mark.rule("R036", "R037", "R153")
def test_a_declined_purchase_keeps_its_amount_and_has_no_fees() -> None:
    """R036, R037, R153."""
    row = Transaction.read(ROW)

    assert (row.amount_usd, row.fee_usd, row.fee_basis_usd) == (Decimal("12.34"), Decimal(0), Decimal(0))
    assert row.transaction_id is None
    assert row.decline_reason is not None
    assert row.decline_reason.retryable is False


@pytest.mark.rule("R034", "R035")
@pytest.mark.parametrize(
    "name", ["amount_usd", "fee_basis_usd", "provider_fee_usd", "client_fee_usd", "fee_usd", "fee_breakdown"]
)
def test_a_purchase_without_one_of_its_figures_is_unreadable_and_not_taken_for_zero(name: str) -> None:
    """R034, R035."""
    for row in ({key: item for key, item in ROW.items() if key != name}, {**ROW, name: None}):
        with pytest.raises(Unreadable, match=name):
            Transaction.read(row)


@pytest.mark.rule("R038", "R039", "R040")
def test_parts_of_a_fee_that_do_not_add_up_are_no_fault() -> None:
    """R038, R039, R040: our own markup is among them, and rounding is by part."""
    row = Transaction.read(ROW)

    assert row.fee_breakdown.fx_usd != row.provider_fee_usd


@pytest.mark.rule("R041")
def test_the_original_amount_keeps_its_own_currency_and_scale() -> None:
    """R041."""
    row = Transaction.read(ROW)

    assert (str(row.original_amount), row.original_currency) == ("11.00", "EUR")


@pytest.mark.rule("R024", "R151")
@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-03-02T08:15:30", datetime(2026, 3, 2, 8, 15, 30, tzinfo=UTC)),
        ("2026-03-02T08:15:30.7", datetime(2026, 3, 2, 8, 15, 30, 700_000, tzinfo=UTC)),
        ("2026-03-02T08:15:30Z", datetime(2026, 3, 2, 8, 15, 30, tzinfo=UTC)),
        ("2026-03-02T09:15:30+01:00", datetime(2026, 3, 2, 8, 15, 30, tzinfo=UTC)),
    ],
)
def test_the_time_of_a_purchase_is_utc_unless_it_says_otherwise(text: str, at: datetime) -> None:
    """R024, R151."""
    assert Transaction.read({**ROW, "datetime": text}).occurred_at == at


@pytest.mark.parametrize("text", ["2026-03-02", "2026-03-02 08:15:30", "2026-02-30T08:15:30", "", None, 5])
def test_a_purchase_without_a_real_time_is_unreadable(text: Any) -> None:
    with pytest.raises(Unreadable, match="datetime"):
        Transaction.read({**ROW, "datetime": text})


@pytest.mark.rule("R162")
def test_a_status_and_a_decline_code_nobody_knows_are_read() -> None:
    """R162; U13."""
    row = Transaction.read({**ROW, "status": "contested", "decline_reason": {"code": "mercury_retrograde"}})

    assert row.status == "contested"
    assert row.decline_reason is not None
    assert (row.decline_reason.code, row.decline_reason.retryable) == ("mercury_retrograde", None)


# Three nulls, none of them 0


@pytest.mark.rule("R051", "R122", "R125")
def test_a_limit_that_was_never_set_is_none_and_one_that_is_missing_is_unreadable() -> None:
    """R051, R122, R125."""
    limits = {"card_id": "a", "daily_limit": None, "weekly_limit": Decimal("0.01"), "monthly_limit": None}

    found = Limits.read({**limits, "per_transaction_limit_usd": 5000})

    assert (found.daily_limit, found.weekly_limit) == (None, Decimal("0.01"))
    with pytest.raises(Unreadable, match="daily_limit: missing"):
        Limits.read(
            {"card_id": "a", "weekly_limit": None, "monthly_limit": None, "per_transaction_limit_usd": 1}
        )


@pytest.mark.rule("R032", "R083")
def test_a_balance_not_read_yet_is_told_apart_from_one_that_failed_and_from_a_drained_card() -> None:
    """R032, R083."""
    rows = [
        BalanceRow.read({"card_id": "a", "balance_usd": balance, "as_of": None, "ok": ok, "error": error})
        for balance, ok, error in ((None, False, None), (None, False, "UNAVAILABLE"), (0, True, None))
    ]

    assert [(row.balance_usd, row.ok, row.error) for row in rows] == [
        (None, False, None),
        (None, False, "UNAVAILABLE"),
        (Decimal(0), True, None),
    ]


@pytest.mark.rule("R177")
def test_a_reason_of_funding_tells_no_status() -> None:
    """R177."""
    assert set(REJECTED_REASONS) & set(REVIEW_REASONS) == {"unregistered_sender"}
    assert (len(REJECTED_REASONS), len(REVIEW_REASONS), len(CREDITED_REASONS)) == (12, 14, 1)
    assert len(FUNDING_REASONS) == 26


@pytest.mark.parametrize("amount", [Decimal("1E+20"), Decimal("1E-21"), 10**20])
def test_an_amount_of_which_no_exact_sum_can_be_made_is_unreadable_and_a_guessed_one_unknown(
    amount: Decimal | int,
) -> None:
    row = {"amount_usd": amount, "kind": "fee", "created_at": "2026-03-02T09:00:00Z"}
    with pytest.raises(Unreadable):
        LedgerEntry.read(row)
    assert Challenge.read({"card_id": "aB1", "amount_usd": amount}).amount_usd is None


def test_a_value_that_no_call_answered_has_no_response_and_one_that_a_call_did_has() -> None:
    card = Card.read(CARD)
    with pytest.raises(NotFromACall, match="Card"):
        str(card.response)

    card.came_by(Response(201, {"x-request-id": "7"}, "k1", attempts=2))

    assert (card.response.status, card.response.sent_key, card.response.attempts) == (201, "k1", 2)
    assert card == Card.read(CARD), "when it was read is no part of the value"


@pytest.mark.parametrize(
    ("reference", "names"),
    [
        ("topup:k1", True),
        ("k1", True),
        ("topup:k1:refund", True),
        ("topup:k10", False),
        ("topup:xk1", False),
        ("topup:k-1", False),
        ("", False),
        (None, False),
    ],
)
def test_a_reference_names_a_key_only_whole(reference: str | None, names: bool) -> None:
    row = {"amount_usd": -1, "kind": "card_topup", "reference": reference}
    assert LedgerEntry.read({**row, "created_at": "2026-03-02T09:00:00Z"}).names_key("k1") is names
