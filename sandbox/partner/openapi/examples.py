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
    "EventRecord.payload": {
        "card_id": _CARD_ID,
        "partner_ref": "emp-1042",
        "unloaded_usd": Decimal("25.00"),
        "partner_balance_usd": Decimal("4362.50"),
        "occurred_at": _MOMENT,
    },
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
    "Deposit.tx_hash": None,
    "Deposit.credited_at": None,
    "transaction_id": "0b5f6f0a-9c2e-4d55-8b1c-6a0f3f1d2c4b",
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
    # A page with one row, and an account that bought once and sent 5,000.
    "count": 1,
    "page": 1,
    "total": 1,
    "total_pages": 1,
    "attempts": 1,
    "rate_limit_per_minute": 120,
    "CardAllowance.total": 7,
    "active": 6,
    "funded_usd": Decimal("5000.00"),
    "spent_usd": Decimal("612.50"),
    "Float.balance_usd": Decimal("4387.50"),
    "limit_usd": None,
    "available_usd": Decimal("4387.50"),
    "partner_balance_usd": Decimal("4362.50"),
    "balance_usd": Decimal("189.90"),
    "svc_pct": Decimal("0.01"),
    "load_from_float_pct": Decimal("0.01"),
    "load_from_user_deposit_pct": Decimal("0.015"),
    "your_markup_pct": Decimal("0.02"),
    "total_pct": Decimal("0.03"),
    "FeeExample.svc_fee_usd": Decimal(1),
    "your_fee_usd": Decimal(2),
    "lands_on_card_usd": Decimal(97),
    "usd_purchase_pct": Decimal("0.01"),
    "fx_purchase_pct": Decimal("0.025"),
    "high_risk_surcharge_pct": Decimal("0.01"),
    "atm_pct": Decimal("0.03"),
    "visa_direct_pct": Decimal("0.02"),
    "monthly_per_card_usd": Decimal(1),
    "TransactionRates.your_markup_pct": Decimal(0),
    "accrued_usd": Decimal("2.50"),
    "paid_out_usd": Decimal("1.00"),
    "owed_usd": Decimal("1.50"),
    "amount_requested_usd": Decimal("25.00"),
    "TopUp.fee_usd": Decimal(0),
    "TopUp.credited_usd": Decimal("25.00"),
    "unloaded_usd": Decimal("25.00"),
    "returned_usd": Decimal("189.90"),
    # 25 dollars were sent to the float, and a purchase of 25 dollars costs one percent.
    "credited_usd": Decimal("24.75"),
    "Transaction.amount_usd": Decimal("25.25"),
    "CardAuthorized.amount_usd": Decimal("25.25"),
    "original_amount": Decimal("25.00"),
    "fee_basis_usd": Decimal("25.00"),
    "provider_fee_usd": Decimal("0.25"),
    "client_fee_usd": Decimal(0),
    "fee_usd": Decimal("0.25"),
    "fx_usd": Decimal("0.25"),
    "atm_usd": Decimal(0),
    "deposit_usd": Decimal(0),
    "Transaction.decline_reason": None,
    "CardAuthorized.decline_reason": None,
    "CardTransaction.decline_reason": None,
    "CardAuthorized.status": "pending",
    "CardTransaction.fee_breakdown": {"fx_usd": Decimal(0), "atm_usd": Decimal(0)},
    "CardDeclined.fee_breakdown": {"fx_usd": Decimal(0), "atm_usd": Decimal(0)},
    "CardTransaction.event": "cleared",
    "CardTransaction.is_pending": False,
    "CardTransaction.fee_usd": Decimal(0),
    "CardTransaction.exchange_rate": Decimal(1),
    "CardDeclined.event": "declined",
    "CardDeclined.is_pending": False,
    "CardDeclined.fee_usd": Decimal(0),
    "CardDeclined.exchange_rate": Decimal(1),
    # 200 tokens of a deposit at 1 dollar, with both fees.
    "rate_usd": Decimal(1),
    "DepositQuote.fee_usd": Decimal("7.00"),
    "Deposit.fee_usd": Decimal("7.00"),
    "DepositQuote.svc_fee_usd": Decimal("3.00"),
    "partner_fee_usd": Decimal("4.00"),
    "card_credit_usd": Decimal("193.00"),
    "credit_usd": Decimal("193.00"),
    "DepositBody.amount_usd": Decimal("200.00"),
    "exact_amount_required": False,
    "deposit_address": "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE",
    "card_blocked": False,
}

# Fields that exclude others of their table.
_LEFT_OUT = {"BalancesBody": ("limit", "page")}


def example(table: Schema) -> dict[str, Any]:
    """One valid object of this shape."""
    left_out = _LEFT_OUT.get(table.name, ())
    return {item.name: value(item, table.name) for item in table.fields if item.name not in left_out}


def value(item: Field, owner: str = "") -> Any:
    """One valid value of this field. Raises KeyError for a number that no example says."""
    for name in (f"{owner}.{item.name}", item.name):
        if name in _VALUES and _suits(item, _VALUES[name]):
            return _VALUES[name]
    if isinstance(item.of, Schema) and item.of.fields:
        return [example(item.of)] if item.kind == "array" else example(item.of)
    if isinstance(item.of, Field):
        return [value(item.of, owner)]
    if item.bounds.get("format") == "date-time":
        return _MOMENT
    plain: dict[str, Any] = {"string": item.name, "boolean": True, "object": {}}
    return plain[item.kind]


def _suits(item: Field, found: Any) -> bool:
    if found is None:
        return item.nullable
    kinds: dict[str, tuple[type, ...]] = {
        "string": (str,), "number": (Decimal, int), "integer": (int,), "boolean": (bool,), "object": (dict,),
        "array": (list,),
    }  # fmt: skip
    return isinstance(found, kinds[item.kind]) and isinstance(found, bool) == (item.kind == "boolean")
