"""The answers of the API's calls, field by field, as the document names them.

`source="invented"` marks what the document does not show (2E of the rules).
"""

from __future__ import annotations

from sandbox.partner.schemas.fields import array, boolean, integer, moment, nested, number, schema, string

SCOPES = (
    "users:read", "users:write", "cards:read", "cards:write", "cards:pan", "deposits:read", "deposits:write",
)  # fmt: skip
NETWORKS = ("POLYGON", "BNB", "BASE")
TOKENS = ("USDC", "USDT")
FUNDING_REASONS = (
    "transaction_failed", "not_a_funding_transfer", "unsupported_token", "mixed_tokens", "below_minimum",
    "unregistered_sender", "bridge_fill", "before_automatic_funding", "before_account_opened", "not_found",
    "rejected_by_operator", "reversed_by_operator", "operator_sender", "multiple_senders", "routed_transfer",
    "precision", "unlisted_token", "not_arrived", "ambiguous_match", "amount_mismatch", "receipt_changed",
    "not_final", "check_failed", "already_credited", "held_by_operator", "credited_separately",
)  # fmt: skip
DECLINE_CODES = (
    "insufficient_card_balance", "issuer_funds_unavailable", "daily_limit_exceeded", "weekly_limit_exceeded",
    "monthly_limit_exceeded", "single_purchase_limit_exceeded", "velocity_limit_exceeded", "card_blocked",
    "fraud_risk_declined", "security_check_failed", "merchant_category_blocked", "processing_error",
    "authorization_timeout", "unknown",
)  # fmt: skip
ERROR_CODES = (
    "UNAUTHORIZED", "FORBIDDEN", "NOT_FOUND", "INSUFFICIENT_FUNDS", "ALREADY_PROCESSED", "ALREADY_SUBMITTED",
    "ALREADY_CREDITED", "RATE_LIMITED", "TOO_MANY_PENDING", "QUOTA", "INVALID_NAME", "INVALID_EMAIL",
    "INVALID_PHONE", "PHONE_COUNTRY_NOT_ALLOWED", "UPSTREAM_AUTH", "UNAVAILABLE", "BAD_REQUEST",
)  # fmt: skip

PARTNER = schema(
    "Partner",
    string("id", format="uuid"),
    string("name", nullable=True),
    string("contact_email", nullable=True),
    moment("created_at", nullable=True),
)
KEY = schema(
    "Key",
    string("name", nullable=True),
    string("prefix", pattern="^svc_live_[0-9a-f]{8}$"),
    array("scopes", string("scope", enum=list(SCOPES))),
    string("mode", enum=["live", "test"]),
    integer("rate_limit_per_minute"),
)
ALLOWANCE = schema("CardAllowance", integer("total"), integer("active"), integer("limit", nullable=True))
FLOAT = schema(
    "Float",
    number("funded_usd"),
    number("spent_usd"),
    number("balance_usd"),
    number("limit_usd", nullable=True),
    number("available_usd", minimum=0),
)
EXAMPLE = schema("FeeExample", number("svc_fee_usd"), number("your_fee_usd"), number("lands_on_card_usd"))
FEE_SUMMARY = schema(
    "FeeSummary",
    number("svc_pct"),
    number("your_markup_pct"),
    number("total_pct"),
    nested("example_on_100_usd", EXAMPLE),
)
EARNINGS = schema(
    "Earnings",
    number("accrued_usd"),
    number("paid_out_usd"),
    number("owed_usd"),
    moment("last_payout_at", nullable=True),
)
ME = schema(
    "AccountInfo",
    nested("partner", PARTNER),
    nested("key", KEY),
    nested("cards", ALLOWANCE),
    nested("float", FLOAT),
    nested("fees", FEE_SUMMARY),
    nested("earnings", EARNINGS),
)
TRANSACTION_RATES = schema(
    "TransactionRates",
    number("usd_purchase_pct"),
    number("fx_purchase_pct"),
    number("high_risk_surcharge_pct"),
    number("atm_pct"),
    number("visa_direct_pct"),
    number("monthly_per_card_usd"),
    number("your_markup_pct"),
)
FEES = schema(
    "FeeSchedule",
    number("svc_pct"),
    number("load_from_float_pct"),
    number("load_from_user_deposit_pct"),
    number("your_markup_pct"),
    number("total_pct"),
    nested("example_on_100_usd", EXAMPLE),
    nested("transaction", TRANSACTION_RATES),
)

CARD = schema(
    "Card",
    string("id"),
    string("partner_ref", nullable=True, maxLength=128),
    string("card_holder_name", maxLength=26),
    string("last4", nullable=True),
    string("status", nullable=True),
    moment("created_at"),
)
CARD_ANSWER = schema("CardAnswer", nested("card", CARD))
CARD_AND_BALANCE = schema("CardAndBalance", nested("card", CARD), number("balance_usd", nullable=True))
CARDS = schema("Cards", array("cards", CARD), integer("count"))
BALANCE_ROW = schema(
    "BalanceRow",
    string("card_id"),
    number("balance_usd", nullable=True),
    moment("as_of", nullable=True),
    boolean("ok"),
    string("error", nullable=True, enum=["NOT_FOUND", "UNAVAILABLE", None]),
)
BALANCES = schema(
    "Balances",
    array("balances", BALANCE_ROW),
    integer("count"),
    integer("page", required=False),
    integer("total", required=False),
    integer("total_pages", required=False),
)
TOPUP = schema(
    "TopUp",
    string("card_id"),
    number("amount_requested_usd"),
    number("fee_usd"),
    number("credited_usd"),
    number("partner_balance_usd"),
)
UNLOAD = schema("Unload", string("card_id"), number("unloaded_usd"), number("partner_balance_usd"))
FREEZE = schema("Freeze", string("card_id"), boolean("frozen"))
CLOSE = schema("Close", string("card_id"), number("returned_usd"), number("partner_balance_usd"))
FUNDING = schema(
    "FundingSubmission",
    string("id", format="uuid"),
    string("network", enum=list(NETWORKS)),
    string("tx_hash", pattern="^0x[0-9a-f]{64}$"),
    string("status", enum=["pending", "credited", "rejected", "review"]),
    string("reason", nullable=True, enum=[*FUNDING_REASONS, None]),
    string("token", nullable=True, enum=[*TOKENS, None]),
    number("amount_usd", nullable=True),
    number("fee_usd", nullable=True),
    number("credited_usd", nullable=True),
    moment("created_at"),
    moment("credited_at", nullable=True),
)
FUNDING_LIST = schema(
    "FundingList",
    array("funding", FUNDING, source="invented", kept=True),
    integer("count", source="invented"),
    integer("page", source="invented"),
    integer("total", source="invented"),
    integer("total_pages", source="invented"),
)
ADDRESS = schema(
    "FundingAddress",
    string("network", enum=list(NETWORKS)),
    string("address"),
    array("tokens", string("token", enum=list(TOKENS))),
)
ADDRESSES = schema("FundingAddresses", array("addresses", ADDRESS))
LEDGER_ENTRY = schema(
    "LedgerEntry",
    number("amount_usd"),
    string("kind", enum=["funding", "fee", "card_topup", "refund", "adjustment"]),
    string("reference", nullable=True),
    string("card_id", nullable=True),
    string("description", nullable=True),
    moment("created_at"),
)
LEDGER = schema(
    "Ledger",
    array("entries", LEDGER_ENTRY),
    integer("count"),
    integer("page"),
    integer("total"),
    integer("total_pages"),
)
EVENT = schema(
    "EventRecord",
    string("id"),
    string("type"),
    nested("payload", schema("EventPayload")),
    boolean("delivered"),
    moment("delivered_at", nullable=True),
    integer("attempts"),
    moment("created_at"),
)
EVENTS = schema(
    "Events",
    array("events", EVENT),
    integer("count"),
    integer("page"),
    integer("total"),
    integer("total_pages"),
)
ERROR = schema("Error", string("error"), string("code", enum=list(ERROR_CODES)))
LIMITS = schema(
    "Limits",
    string("card_id"),
    number("daily_limit", nullable=True),
    number("weekly_limit", nullable=True),
    number("monthly_limit", nullable=True),
    number("per_transaction_limit_usd"),
)
PHONE = schema("Phone", string("card_id"), boolean("updated"))
THREEDS = schema("ThreeDs", string("card_id"), string("three_ds_method", enum=["webhook"]))
PAN = schema(
    "CardDetails",
    string("card_id"),
    string("details_url", format="uri"),
    integer("expiration_month", nullable=True, minimum=1, maximum=12),
    integer("expiration_year", nullable=True, minimum=1000, maximum=9999),
)
PAN_TOKEN = schema("PanToken", string("url", format="uri"), number("expires_in"), boolean("single_use"))
DECLINE_REASON = schema(
    "DeclineReason",
    string("code", enum=list(DECLINE_CODES)),
    string("message"),
    boolean("retryable"),
    boolean("card_blocked"),
)
FEE_BREAKDOWN = schema("FeeBreakdown", number("fx_usd"), number("atm_usd"), number("deposit_usd"))
TRANSACTION = schema(
    "Transaction",
    string("id"),
    string("transaction_id", nullable=True),
    string("partner_ref", nullable=True),
    string("datetime", pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?$"),
    string(
        "status",
        enum=[
            "pending", "settled", "declined", "refunded", "partially_refunded", "reversed", "partially_reversed",
        ],
    ),
    string("merchant", nullable=True),
    number("amount_usd"),
    number("original_amount", nullable=True),
    string("original_currency", nullable=True),
    number("fee_basis_usd", minimum=0),
    number("exchange_rate", nullable=True),
    number("provider_fee_usd"),
    number("client_fee_usd"),
    number("fee_usd"),
    nested("fee_breakdown", FEE_BREAKDOWN),
    nested("decline_reason", DECLINE_REASON, nullable=True),
)  # fmt: skip
TRANSACTIONS = schema(
    "Transactions",
    string("card_id"),
    array("transactions", TRANSACTION),
    integer("count"),
    integer("page"),
    integer("total_pages"),
    integer("total"),
)
WEBHOOK = schema("Webhook", string("url", format="uri"), boolean("active"), moment("updated_at"))
WEBHOOK_ANSWER = schema("WebhookAnswer", nested("webhook", WEBHOOK, nullable=True))
WEBHOOK_CHANGED = schema(
    "WebhookChanged",
    nested("webhook", schema("WebhookUrl", string("url", format="uri"))),
    string("secret", nullable=True, pattern="^whsec_[A-Za-z0-9_-]{32}$"),
    string("note"),
)
REDELIVERY = schema("Redelivery", string("event_id"), string("type"), boolean("queued"))
QUOTE = schema(
    "DepositQuote",
    string("deposit_id", format="uuid"),
    string("card_id"),
    string("asset"),
    string("chain"),
    string("deposit_address"),
    string("send_amount"),
    number("rate_usd"),
    number("fee_usd"),
    number("svc_fee_usd"),
    number("partner_fee_usd"),
    number("card_credit_usd"),
    boolean("exact_amount_required"),
    moment("expires_at"),
)
DEPOSIT = schema(
    "Deposit",
    string("id", format="uuid"),
    string("card_id"),
    string("asset"),
    string("chain"),
    string("deposit_address"),
    string("amount_expected"),
    number("rate_usd"),
    number("fee_usd"),
    number("credit_usd"),
    string("status", enum=["pending", "credited", "expired", "cancelled"]),
    string("tx_hash", nullable=True),
    moment("expires_at"),
    moment("credited_at", nullable=True),
    moment("created_at"),
)
DEPOSIT_LIST = schema(
    "DepositList",
    array("deposits", DEPOSIT, source="invented", kept=True),
    integer("count", source="invented"),
    integer("page", source="invented"),
    integer("total", source="invented"),
    integer("total_pages", source="invented"),
)
