"""What an event says, typed; and that a one-time code is in one place only."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from bot.partner import codec, models
from bot.partner.models import Event
from bot.partner.webhooks import Delivery, Malformed, storable, unwrap

AT = "2026-03-02T09:00:00.000Z"
PURCHASE: dict[str, Any] = {
    "card_id": "aB1", "partner_ref": "emp-7", "transaction_id": "tx-1", "event": "authorized",
    "status": "pending", "is_pending": True, "delivery_status": "delivered", "merchant": "Corner Shop",
    "mcc_code": "5411", "mcc_category": "groceries", "merchant_country": "FR", "amount_usd": 12.34,
    "original_amount": 11, "original_currency": "EUR", "bill_currency": "USD", "exchange_rate": 1.1218,
    "fee_usd": 0.0042, "fee_breakdown": {"fx_usd": 0.0042, "atm_usd": 0}, "decline_reason": None,
    "occurred_at": AT,
}  # fmt: skip
DECLINED = {
    **PURCHASE, "event": "declined", "status": "settled", "is_pending": False, "fee_usd": 0,
    "decline_reason": {"code": "fraud_risk_declined", "message": "Declined.", "retryable": False,
                       "card_blocked": True},
}  # fmt: skip
CODE = "482913"
CHALLENGE: dict[str, Any] = {
    "card_id": "aB1", "partner_ref": "emp-7", "transaction_id": "tx-1", "code": CODE, "merchant": "Shop",
    "amount_usd": 30, "expires_at": "2026-03-02T09:05:00.000Z",
}  # fmt: skip


def raw(event_type: str, data: Any) -> bytes:
    return json.dumps({"id": "e-1", "type": event_type, "created_at": AT, "data": data}).encode()


@pytest.mark.rule("R038", "R239", "R241")
def test_an_authorization_keeps_its_exact_fee_and_says_when_it_took_place() -> None:
    """R038, R239, R241: the exact fee is on this event only."""
    event = unwrap(raw("card.authorized", PURCHASE))

    assert isinstance(event, models.CardAuthorized)
    assert (event.id, event.type, event.created_at) == (
        "e-1",
        "card.authorized",
        datetime(2026, 3, 2, 9, tzinfo=UTC),
    )
    assert (event.data.amount_usd, event.data.fee_usd) == (Decimal("12.34"), Decimal("0.0042"))
    assert (event.data.transaction_id, event.data.event) == ("tx-1", "authorized")
    assert event.data.fee_breakdown is not None
    assert event.data.fee_breakdown.fx_usd == Decimal("0.0042")


@pytest.mark.rule("R025", "R240", "R241")
@pytest.mark.parametrize("leg", ["cleared", "refund", "reversal", "novelty"])
def test_a_later_leg_is_recognised_by_its_event_and_an_unknown_one_is_no_error(leg: str) -> None:
    """R025, R240, R241."""
    event = unwrap(raw("card.transaction", {**PURCHASE, "event": leg, "status": "settled", "amount_usd": -5}))

    assert isinstance(event, models.CardTransaction)
    assert (event.data.event, event.data.amount_usd) == (leg, Decimal(-5))


@pytest.mark.rule("R036", "R162", "R163", "R239")
def test_a_decline_is_recognised_by_its_type_and_its_flags_are_apart_from_its_code() -> None:
    """R036, R162, R163, R239."""
    event = unwrap(raw("card.declined", DECLINED))

    assert isinstance(event, models.CardDeclined)
    assert event.data.status == "settled"
    assert event.data.amount_usd == Decimal("12.34")
    assert event.data.decline_reason is not None
    assert event.data.decline_reason.card_blocked is True
    assert event.data.decline_reason.code == "fraud_risk_declined"


@pytest.mark.parametrize("name", DECLINED)
def test_no_single_field_of_a_decline_is_needed(name: str) -> None:
    """U14."""
    data = {key: item for key, item in DECLINED.items() if key != name}

    assert isinstance(unwrap(raw("card.declined", data)), models.CardDeclined)


@pytest.mark.rule("R162")
@pytest.mark.parametrize("name", ["code", "message", "retryable", "card_blocked"])
def test_no_single_field_of_a_reason_is_needed_and_its_code_may_be_new(name: str) -> None:
    """R162; U13, U14."""
    reason = {key: item for key, item in DECLINED["decline_reason"].items() if key != name}
    if name != "code":
        reason["code"] = "never_heard_of"

    event = unwrap(raw("card.declined", {**DECLINED, "decline_reason": reason}))

    assert isinstance(event, models.CardDeclined)
    assert event.data.decline_reason is not None
    assert getattr(event.data.decline_reason, name) is None


DESCRIPTIVE = sorted(
    set(PURCHASE) - {"card_id", "transaction_id", "event", "amount_usd", "fee_usd", "occurred_at"}
)


@pytest.mark.rule("R153")
@pytest.mark.parametrize("name", DESCRIPTIVE)
def test_what_only_describes_a_purchase_may_be_missing_or_null(name: str) -> None:
    """R153 for events; N and U notes: nothing is decided by these."""
    for data in ({k: v for k, v in PURCHASE.items() if k != name}, {**PURCHASE, name: None}):
        assert isinstance(unwrap(raw("card.authorized", data)), models.CardAuthorized)


@pytest.mark.rule("R242", "R244")
@pytest.mark.parametrize(
    "name", ["transaction_id", "amount_usd", "fee_usd", "event", "occurred_at", "card_id"]
)
def test_a_charge_without_what_makes_it_one_is_kept_as_unknown_and_says_what_is_wrong(name: str) -> None:
    """R242, R244: no figure is booked that was not reported."""
    event = unwrap(raw("card.authorized", {**PURCHASE, name: None}))

    assert isinstance(event, models.UnknownEvent)
    assert event.type == "card.authorized"
    assert f"data.{name}" in (event.fault or "")
    assert event.data["merchant"] == "Corner Shop"


@pytest.mark.rule("R025", "R232")
def test_an_event_of_a_new_type_is_kept_whole() -> None:
    """R025, R232; N11."""
    event = unwrap(raw("deposit.credited", {"x": [1, {"y": 1.10}], "phone": "15123456789"}))

    assert isinstance(event, models.UnknownEvent)
    assert (event.type, event.fault) == ("deposit.credited", None)
    assert event.data["x"] == [1, {"y": Decimal("1.1")}]
    assert "15123456789" not in repr(event)


@pytest.mark.parametrize(
    ("data", "card_id"), [({"card_id": "aB1", "z": 1}, "aB1"), ({}, None), ({"card_id": 7}, None)]
)
def test_where_a_payload_is_not_shown_whatever_comes_is_read(
    data: dict[str, Any], card_id: str | None
) -> None:
    """N7, N8."""
    unloaded = unwrap(raw("card.unloaded", data))
    changed = unwrap(raw("card.status_changed", {**data, "reason": "partner_freeze"}))

    assert isinstance(unloaded, models.CardUnloaded)
    assert isinstance(changed, models.CardStatusChanged)
    assert unloaded.data.card_id == changed.data.card_id == card_id
    assert unloaded.data.raw == data
    assert changed.data.reason == "partner_freeze"


@pytest.mark.rule("R259")
def test_a_credit_of_the_float_names_its_submission_and_what_was_credited() -> None:
    """R259."""
    data = {"funding_id": "f-1", "fee_usd": 2, "credited_usd": 97.9999999999}
    body = raw("float.credited", data).replace(b"97.9999999999", b"97.9999999999")

    event = unwrap(body)

    assert isinstance(event, models.FloatCredited)
    assert (event.data.funding_id, event.data.credited_usd) == ("f-1", Decimal("97.9999999999"))


@pytest.mark.rule("R235")
def test_delivery_log_and_stored_bytes_give_the_same_event() -> None:
    """R235: the log's payload is what the delivery carries as data."""
    body = raw("card.authorized", PURCHASE)
    value = codec.decode(body)
    row = {"id": "e-1", "type": value["type"], "payload": value["data"], "created_at": AT}
    logged = Event.read({**row, "delivered": True, "delivered_at": AT, "attempts": 1})

    assert unwrap(body) == unwrap(Delivery.read(value)) == unwrap(logged)


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"\xff", raw("t", []), raw("", {})])
def test_bytes_that_are_no_event_are_malformed(body: bytes) -> None:
    with pytest.raises(Malformed):
        unwrap(body)


# One-time codes

PLACES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "where one would guess": (CHALLENGE, ("code",)),
    "as a number": ({**CHALLENGE, "code": int(CODE)}, ("code",)),
    "deep down": ({"card_id": "aB1", "auth": {"otp": {"value": CODE}}}, ("auth", "otp", "value")),
    "said a second time": ({**CHALLENGE, "merchant": f"Shop, code {CODE}", "text": f"Use {CODE}"}, ("code",)),
    "in a field that is kept": ({"card_id": "aB1", "merchant": CODE}, ("merchant",)),
}


@pytest.mark.rule("R237")
@pytest.mark.parametrize(("data", "path"), PLACES.values(), ids=PLACES)
def test_a_one_time_code_is_in_its_field_and_nowhere_else(
    data: dict[str, Any], path: tuple[str, ...]
) -> None:
    """R237; H15."""
    event = unwrap(raw("card.3ds_challenge", data), code_path=path)

    assert isinstance(event, models.ThreeDsChallenge)
    assert event.code is not None
    assert event.code.reveal() == CODE
    assert event.data.card_id == "aB1"
    everything = (event, event.raw, event.data, event.data.raw, event.model_dump(), vars(event))
    assert CODE not in " ".join(f"{item!r} {item}" for item in everything)
    assert CODE not in str(
        storable("card.3ds_challenge", codec.decode(raw("x", data))["data"], code_path=path)
    )


@pytest.mark.parametrize(
    "data",
    [
        {"qzx": CODE, "card_id": "aB1"},
        {"code": {"value": CODE}},
        {"code": [CODE]},
        {"code": None, "otp": CODE},
        {},
    ],
)
def test_a_code_that_cannot_be_found_is_none_and_the_payload_is_not_kept(data: dict[str, Any]) -> None:
    """N9: an alarm, and never the payload."""
    event = unwrap(raw("card.3ds_challenge", data))

    assert isinstance(event, models.ThreeDsChallenge)
    assert event.code is None
    assert CODE not in f"{event!r} {event.raw} {event.data.raw}"


@pytest.mark.parametrize("name", ["card_id", "partner_ref", "merchant", "amount_usd", "expires_at"])
def test_a_challenge_of_any_form_still_gives_its_code(name: str) -> None:
    """N9: somebody is waiting for it at a shop."""
    for odd in (7, "x", True, None, 1e3, "2026-03-02T09:05:00"):
        event = unwrap(raw("card.3ds_challenge", {**CHALLENGE, name: odd}))
        assert isinstance(event, models.ThreeDsChallenge)
        assert event.code is not None


def test_other_events_are_stored_as_they_came() -> None:
    assert storable("card.authorized", PURCHASE) is PURCHASE
