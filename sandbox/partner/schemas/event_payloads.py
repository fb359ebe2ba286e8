"""What each event carries under `data`, field by field, as the document names them or as guessed (N7 to N11)."""

from __future__ import annotations

from sandbox.partner.schemas.fields import Schema, boolean, moment, nested, number, schema, string
from sandbox.partner.schemas.response_schemas import DECLINE_REASON

EVENT_FEE_BREAKDOWN = schema("EventFeeBreakdown", number("fx_usd"), number("atm_usd"))


def _purchase_event(name: str, status: str, **event: list[str]) -> Schema:
    return schema(
        name,
        string("card_id"),
        string("partner_ref", nullable=True),
        string("transaction_id"),
        string("event", **event),
        string("status", enum=[status]),
        boolean("is_pending"),
        string("delivery_status"),
        string("merchant"),
        string("mcc_code"),
        string("mcc_category"),
        string("merchant_country"),
        number("amount_usd"),
        number("original_amount"),
        string("original_currency"),
        string("bill_currency"),
        number("exchange_rate"),
        number("fee_usd"),
        nested("fee_breakdown", EVENT_FEE_BREAKDOWN),
        nested("decline_reason", DECLINE_REASON, nullable=True),
        moment("occurred_at"),
    )


NEW_EVENT = "card.wallet_added"  # of a type the document does not have: `scrambled` sends it
INVENTED = frozenset({"deposit.credited", NEW_EVENT})
"""Types that the document does not name: those of deposits it leaves out, and one made up."""

# What each event carries under data. float.credited names three fields in the document, the rest is a guess.
PAYLOADS: dict[str, Schema] = {
    "card.status_changed": schema(
        "CardStatusChanged",
        string("reason", enum=["partner_freeze", "partner_unfreeze"]),
        string("card_id", source="invented"),
        string("partner_ref", nullable=True, source="invented"),
        string("status", source="invented"),
        moment("occurred_at", source="invented"),
    ),
    "card.unloaded": schema(
        "CardUnloaded",
        string("card_id", source="invented"),
        string("partner_ref", nullable=True, source="invented"),
        number("unloaded_usd", source="invented"),
        number("partner_balance_usd", source="invented"),
        moment("occurred_at", source="invented"),
    ),
    "float.credited": schema(
        "FloatCredited",
        string("funding_id"),
        number("fee_usd"),
        number("credited_usd"),
        string("network", source="invented"),
        string("tx_hash", source="invented"),
        string("token", source="invented"),
        number("amount_usd", source="invented"),
        moment("credited_at", source="invented"),
    ),
    "card.authorized": _purchase_event("CardAuthorized", "pending", enum=["authorized"]),
    "card.transaction": _purchase_event("CardTransaction", "settled", enum=["cleared", "refund", "reversal"]),
    "card.declined": _purchase_event("CardDeclined", "settled", enum=["declined"]),
    "card.3ds_challenge": schema(
        "CardThreeDsChallenge",
        string("card_id", source="invented"),
        string("partner_ref", nullable=True, source="invented"),
        string("transaction_id", source="invented"),
        string("code", source="invented"),
        string("merchant", source="invented"),
        number("amount_usd", source="invented"),
        number("original_amount", source="invented"),
        string("original_currency", source="invented"),
        moment("expires_at", source="invented"),
    ),
    "deposit.credited": schema(
        "DepositCredited",
        string("deposit_id", source="invented"),
        string("card_id", source="invented"),
        number("credit_usd", source="invented"),
        string("tx_hash", source="invented"),
        moment("credited_at", source="invented"),
    ),
    NEW_EVENT: schema(
        "CardWalletAdded", string("card_id", source="invented"), string("wallet", source="invented")
    ),
}
