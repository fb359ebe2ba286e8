"""An example of every schema, put together from one example of every field."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sandbox.partner.schemas import Field, Schema

_CARD_ID = "Vx3kQ0aZr8LmN2pTtYw7Bc9HdJfGs5Ue"
_MOMENT = "2026-03-02T09:00:00.000Z"
_UUID = "6f2c1c52-4f0e-4b8a-9a51-0d9a4c1f7b3e"
_HASH = "0x" + "4be1" * 16

# By the name of the field; "Schema.field" where one name means several things.
_VALUES: dict[str, Any] = {
    "account": _UUID,
    "address": "0x52908400098527886E0F7030069857D2E4169EE7",
    "amount_expected": "200.00",
    "amount_usd": Decimal("25.00"),
    "asset": "USDT-TRC20",
    "bill_currency": "USD",
    "card_holder_name": "ADA LOVELACE",
    "card_id": _CARD_ID,
    "chain": "TRON",
    "code": "204815",
    "Error.code": "BAD_REQUEST",
    "Error.error": "amount_usd must be at least 0.01.",
    "contact_email": "ops@northwind.example",
    "currency": "USD",
    "daily_limit": Decimal(250),
    "datetime": "2026-03-02T09:00:00.000",
    "DeclineReason.code": "insufficient_card_balance",
    "delivery_status": "delivered",
    "deposit_address": "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
    "deposit_id": _UUID,
    "description": "Load fee",
    "details_url": "https://cards.example.com/card-details/5f0c",
    "email": "ada@example.com",
    "error": None,
    "event": "authorized",
    "event_id": _UUID,
    "exchange_rate": Decimal("1.01"),
    "expiration_month": 3,
    "expiration_year": 2030,
    "expires_in": 60,
    "frozen": True,
    "funding_id": _UUID,
    "Card.id": _CARD_ID,
    "EventRecord.type": "card.unloaded",
    "EventRecord.payload": {"card_id": _CARD_ID, "unloaded_usd": Decimal(25)},
    "Redelivery.type": "card.unloaded",
    "id": _UUID,
    "kind": "card_topup",
    "last4": "4242",
    "LedgerEntry.amount_usd": Decimal("-25.00"),
    "mcc_category": "Fast food",
    "mcc_code": "5814",
    "merchant": "Corner Coffee",
    "merchant_country": "US",
    "message": "The card does not hold enough for this purchase.",
    "method": "webhook",
    "mode": "live",
    "monthly_limit": Decimal(3000),
    "name": "Northwind Cards",
    "network": "POLYGON",
    "note": "Store the secret now; it is not shown again.",
    "original_currency": "USD",
    "partner_ref": "emp-1042",
    "payload": {"card_id": _CARD_ID, "unloaded_usd": Decimal(25)},
    "phone": "15123456789",
    "phone_country_code": 49,
    "prefix": "svc_live_00000000",
    "reason": None,
    "CardStatusChanged.reason": "partner_freeze",
    "reference": "topup:R-7K3M",
    "retryable": False,
    "rotate": False,
    "scope": "cards:read",
    "secret": "whsec_" + "A" * 32,
    "send_amount": "200.00",
    "status": "settled",
    "Card.status": "ACTIVE",
    "CardStatusChanged.status": "FROZEN",
    "FundingSubmission.status": "credited",
    "Deposit.status": "pending",
    "three_ds_method": "webhook",
    "token": "USDC",
    "tx_hash": _HASH,
    "url": "https://hooks.example.com/webhooks/main",
    "PanToken.url": "https://cards.example.com/pan-exchange/91bd",
    "wallet": "other",
    "weekly_limit": Decimal(1000),
    "per_transaction_limit_usd": Decimal(5000),
    "markup_pct": Decimal("0.02"),
    "limit": None,
}


def example(table: Schema) -> dict[str, Any]:
    """One valid object of this shape."""
    return {item.name: value(item, table.name) for item in table.fields}


def value(item: Field, owner: str = "") -> Any:
    """One valid value of this field."""
    for name in (f"{owner}.{item.name}", item.name):
        if name in _VALUES and _suits(item, _VALUES[name]):
            return _VALUES[name]
    if isinstance(item.of, Schema) and item.of.fields:
        return [example(item.of)] if item.kind == "array" else example(item.of)
    if isinstance(item.of, Field):
        return [value(item.of, owner)]
    if item.bounds.get("format") == "date-time":
        return _MOMENT
    plain: dict[str, Any] = {
        "string": item.name,
        "number": Decimal(1),
        "integer": 1,
        "boolean": True,
        "object": {},
    }
    return plain[item.kind]


def _suits(item: Field, found: Any) -> bool:
    if found is None:
        return item.nullable
    kinds: dict[str, tuple[type, ...]] = {
        "string": (str,), "number": (Decimal, int), "integer": (int,), "boolean": (bool,), "object": (dict,),
        "array": (list,),
    }  # fmt: skip
    return isinstance(found, kinds[item.kind]) and isinstance(found, bool) == (item.kind == "boolean")
