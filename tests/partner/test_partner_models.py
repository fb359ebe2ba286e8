"""Answers as values: exact, frozen, and tolerant only where the document says it will grow."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from bot.partner.codec import decode
from bot.partner.models import (
    Card,
    CardAllowance,
    CardWithBalance,
    Float,
    LedgerEntry,
    Unload,
    Unreadable,
)

CARD = {"id": "aB1", "partner_ref": None, "card_holder_name": "JOSE ÄGIR", "last4": None, "status": None,
        "created_at": "2026-03-02T09:00:00.123Z"}  # fmt: skip


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


def test_amounts_keep_every_digit_and_whole_numbers_are_decimals_too() -> None:
    """R027."""
    raw = b'{"funded_usd":123456789.1234567891,"spent_usd":1,"balance_usd":-0.50,'

    balance = Float.read(decode(raw + b'"limit_usd":null,"available_usd":0}'))

    assert balance.funded_usd == Decimal("123456789.1234567891")
    assert isinstance(balance.spent_usd, Decimal)
    assert str(balance.balance_usd) == "-0.50"
    assert balance.limit_usd is None


@pytest.mark.parametrize("amount", ["25", True, None, 0.1, [], float("nan"), Decimal("NaN")])
def test_an_amount_that_is_no_json_number_is_unreadable(amount: Any) -> None:
    """R029 for answers."""
    with pytest.raises(Unreadable, match="unloaded_usd"):
        Unload.read({"card_id": "a", "unloaded_usd": amount, "partner_balance_usd": 1})


def test_where_null_means_no_limit_a_missing_field_is_not_null() -> None:
    """R051."""
    assert CardAllowance.read({"total": 5, "active": 3, "limit": None}).remaining is None
    with pytest.raises(Unreadable, match="limit: missing"):
        CardAllowance.read({"total": 5, "active": 3})


def test_the_allowance_left_counts_every_card_ever_ordered() -> None:
    """R069."""
    assert CardAllowance.read({"total": 48, "active": 3, "limit": 50}).remaining == 2
    assert CardAllowance.read({"total": 51, "active": 3, "limit": 50}).remaining == 0


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
