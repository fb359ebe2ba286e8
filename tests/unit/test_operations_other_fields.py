"""What the forms of the other kinds take and refuse, and what they say of it. Pure."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import operations
from bot.domain.cards import CardEntry
from bot.domain.errors import InvalidFields, Stale
from bot.operations import QuoteDeposit
from bot.operations.card_close import Close
from bot.operations.card_limits import SetLimits
from bot.operations.event_redeliver import event_id
from bot.operations.fees_markup import PERCENT, SetMarkup, percent

UNSET = {"daily_limit": None, "weekly_limit": None, "monthly_limit": None}
FACTS = {**UNSET, "single_usd": Decimal(5000), "card_status": "ACTIVE"}


@pytest.mark.parametrize(
    ("typed", "kept"),
    [("2.5", "2.5"), ("2.5%", "2.5"), ("2.50 %", "2.5"), ("0", "0"), ("50", "50"), ("12.125", "12.125")],
)
def test_a_markup_is_read_as_percent(typed: str, kept: str) -> None:
    assert PERCENT.store(percent(typed)) == kept


@pytest.mark.parametrize(
    "typed", ["50.001", "51", "-1", "2,5", "1e1", "0.0001", "NaN", "two", "٢", "", "02", ".5", "100"]
)
def test_what_is_no_percentage_from_0_to_50_is_reported_on_the_field(typed: str) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        percent(typed)


@given(st.decimals(0, 50, places=3))
def test_what_is_sent_is_the_percentage_over_a_hundred_to_the_digit(asked: Decimal) -> None:
    operation = SetMarkup({"markup_percent": percent(str(asked))})

    assert operation.body()["markup_pct"] * 100 == asked
    assert -operation.body()["markup_pct"].as_tuple().exponent <= 5, "your card provider keeps five places"


@pytest.mark.parametrize("typed", ["../cards", "a b", "", "x" * 129, "<!channel>", "ev\n1"])
def test_what_is_no_event_id_never_gets_into_a_path(typed: str) -> None:
    with pytest.raises(ValueError, match="isn't an event id"):
        event_id(typed)


def test_a_close_is_refused_on_the_field_for_other_digits_and_for_a_card_without_any() -> None:
    card = CardEntry("card1", "main", "NORA QUIST", last4="4242")

    assert Close.misfits({"last4": "4242"}, card) == {}
    assert set(Close.misfits({"last4": "4243"}, card)) == {"last4"}
    assert set(Close.misfits({"last4": "4242"}, CardEntry("card1", "main", "NORA QUIST"))) == {"last4"}


def test_a_close_whose_card_reads_other_digits_or_a_debt_is_not_sent() -> None:
    facts = {
        "card_status": "ACTIVE",
        "card_last4": "4242",
        "card_balance_usd": Decimal(5),
        "open_purchases": 0,
    }

    def stops(**more: object) -> list[str]:
        return Close({"card": "card1", "last4": "4242"}).stops({**facts, **more}, again=False)

    assert stops() == []
    assert stops(card_balance_usd=None) == [], "your card provider itself leaves such a card open"
    assert len(stops(card_last4="9999")) == len(stops(card_balance_usd=Decimal(-1))) == 1
    assert len(stops(card_status="DELETED")) == 1


def test_limits_keep_what_is_not_named_and_need_one() -> None:
    with pytest.raises(InvalidFields) as refused:
        SetLimits.parse({"daily_limit": " "})
    assert set(refused.value.errors) == {"card", "daily_limit"}, "all that is wrong, at once"

    operation = SetLimits(SetLimits.parse({"card": "4242", "weekly_limit": "1,250"}), "NORA ••4242")
    assert operation.body() == {"weekly_limit": Decimal("1250.00")}
    assert operation.summary() == "Set the limits of NORA ••4242: weekly limit 1,250.00 USD"
    lines = dict(operation.lines({**FACTS, "daily_limit": Decimal(100)}))
    assert lines["Daily limit"] == "100.00 USD, kept"
    assert lines["Weekly limit"] == "not set → 1,250.00 USD"


def test_a_limit_that_decides_alone_is_reported() -> None:
    operation = SetLimits.of_stored({"card": "card1", "monthly_limit": "90.00"})

    said = " ".join(c.text for c in operation.concerns({**FACTS, "daily_limit": Decimal(100)}))

    assert "The monthly limit is below the daily limit" in said
    assert not operation.stops(FACTS, again=False)


def test_a_quote_has_the_fields_that_the_agreement_names_and_none_without_one() -> None:
    off = QuoteDeposit.of_stored({"card": "card1", "amount_usd": "50.00", "asset": "USDC", "chain": "BASE"})
    with pytest.raises(Stale, match="Nothing was recorded"):
        off.body()

    cls = QuoteDeposit.configured({"card": "cardId", "amount_usd": "usd"})
    assert [field.name for field in cls.fields] == ["amount_usd", "card"]
    assert cls.of_stored({"card": "card1", "amount_usd": "50.00"}).body() == {
        "cardId": "card1",
        "usd": Decimal("50.00"),
    }
    assert operations.kinds()["deposit_quote"] is QuoteDeposit, "the configured one is the app's alone"
