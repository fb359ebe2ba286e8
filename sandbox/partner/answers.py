"""What the API's requests and answers are made of, field by field, as the document names them.

`source="invented"` marks what the document does not show (2E of the rules).
"""

from __future__ import annotations

from decimal import Decimal

from sandbox.partner.shapes import array, boolean, integer, moment, nested, number, shape, string

PARTNER = shape(
    "Partner",
    string("id", format="uuid"),
    string("name", nullable=True),
    string("contact_email", nullable=True),
    moment("created_at", nullable=True),
)
KEY = shape(
    "Key",
    string("name", nullable=True),
    string("prefix", pattern="^svc_live_[0-9a-f]{8}$"),
    array("scopes", string("scope")),
    string("mode", enum=["live", "test"]),
    integer("rate_limit_per_minute"),
)
ALLOWANCE = shape("CardAllowance", integer("total"), integer("active"), integer("limit", nullable=True))
FLOAT = shape(
    "Float",
    number("funded_usd"),
    number("spent_usd"),
    number("balance_usd"),
    number("limit_usd", nullable=True),
    number("available_usd", minimum=0),
)
EXAMPLE = shape("FeeExample", number("svc_fee_usd"), number("your_fee_usd"), number("lands_on_card_usd"))
FEE_SUMMARY = shape(
    "FeeSummary",
    number("svc_pct"),
    number("your_markup_pct"),
    number("total_pct"),
    nested("example_on_100_usd", EXAMPLE),
)
EARNINGS = shape(
    "Earnings",
    number("accrued_usd"),
    number("paid_out_usd"),
    number("owed_usd"),
    moment("last_payout_at", nullable=True),
)
ME = shape(
    "AccountInfo",
    nested("partner", PARTNER),
    nested("key", KEY),
    nested("cards", ALLOWANCE),
    nested("float", FLOAT),
    nested("fees", FEE_SUMMARY),
    nested("earnings", EARNINGS),
)
TRANSACTION_RATES = shape(
    "TransactionRates",
    number("usd_purchase_pct"),
    number("fx_purchase_pct"),
    number("high_risk_surcharge_pct"),
    number("atm_pct"),
    number("visa_direct_pct"),
    number("monthly_per_card_usd"),
    number("your_markup_pct"),
)
FEES = shape(
    "FeeSchedule",
    number("svc_pct"),
    number("load_from_float_pct"),
    number("load_from_user_deposit_pct"),
    number("your_markup_pct"),
    number("total_pct"),
    nested("example_on_100_usd", EXAMPLE),
    nested("transaction", TRANSACTION_RATES),
)
MARKUP_BODY = shape("MarkupBody", number("markup_pct", minimum=0, maximum=Decimal("0.5")))

CARD = shape(
    "Card",
    string("id"),
    string("partner_ref", nullable=True, maxLength=128),
    string("card_holder_name", maxLength=26),
    string("last4", nullable=True),
    string("status", nullable=True),
    moment("created_at"),
)
ORDER_BODY = shape(
    "OrderBody",
    string("card_holder_name"),
    integer("phone_country_code", exclusiveMinimum=0),
    string("phone"),
    string("email"),
    string("partner_ref", required=False, nullable=True, maxLength=128),
)
CARD_ANSWER = shape("CardAnswer", nested("card", CARD))
CARD_AND_BALANCE = shape("CardAndBalance", nested("card", CARD), number("balance_usd", nullable=True))
CARDS = shape("Cards", array("cards", CARD), integer("count"))
BALANCES_BODY = shape(
    "BalancesBody",
    array("card_ids", string("card_id"), required=False, maxItems=1000),
    boolean("refresh", required=False),
    integer("limit", required=False, minimum=1, maximum=1000),
    integer("page", required=False, minimum=1),
)
BALANCE_ROW = shape(
    "BalanceRow",
    string("card_id"),
    number("balance_usd", nullable=True),
    moment("as_of", nullable=True),
    boolean("ok"),
    string("error", nullable=True, enum=["NOT_FOUND", "UNAVAILABLE", None]),
)
BALANCES = shape(
    "Balances",
    array("balances", BALANCE_ROW),
    integer("count"),
    integer("page", required=False),
    integer("total", required=False),
    integer("total_pages", required=False),
)
TOPUP_BODY = shape("TopUpBody", number("amount_usd", minimum=Decimal("0.01"), **{"x-decimals": 2}))
TOPUP = shape(
    "TopUp",
    string("card_id"),
    number("amount_requested_usd"),
    number("fee_usd"),
    number("credited_usd"),
    number("partner_balance_usd"),
)
UNLOAD_BODY = shape("UnloadBody", number("amount_usd", exclusiveMinimum=0, **{"x-decimals": 2}))
UNLOAD = shape("Unload", string("card_id"), number("unloaded_usd"), number("partner_balance_usd"))
FREEZE_BODY = shape("FreezeBody", boolean("frozen"))
FREEZE = shape("Freeze", string("card_id"), boolean("frozen"))
CLOSE = shape("Close", string("card_id"), number("returned_usd"), number("partner_balance_usd"))

FUNDING_BODY = shape("FundingBody", string("tx_hash"), string("network"))
FUNDING = shape(
    "FundingSubmission",
    string("id", format="uuid"),
    string("network"),
    string("tx_hash"),
    string("status", enum=["pending", "credited", "rejected", "review"]),
    string("reason", nullable=True),
    string("token", nullable=True),
    number("amount_usd", nullable=True),
    number("fee_usd", nullable=True),
    number("credited_usd", nullable=True),
    moment("created_at"),
    moment("credited_at", nullable=True),
)
FUNDING_LIST = shape(
    "FundingList",
    array("funding", FUNDING, source="invented", kept=True),
    integer("count", source="invented"),
    integer("page", source="invented"),
    integer("total", source="invented"),
    integer("total_pages", source="invented"),
)
ADDRESS = shape("FundingAddress", string("network"), string("address"), array("tokens", string("token")))
ADDRESSES = shape("FundingAddresses", array("addresses", ADDRESS))
LEDGER_ENTRY = shape(
    "LedgerEntry",
    number("amount_usd"),
    string("kind"),
    string("reference", nullable=True),
    string("card_id", nullable=True),
    string("description", nullable=True),
    moment("created_at"),
)
LEDGER = shape(
    "Ledger",
    array("entries", LEDGER_ENTRY),
    integer("count"),
    integer("page"),
    integer("total"),
    integer("total_pages"),
)
EVENT = shape(
    "EventRecord",
    string("id"),
    string("type"),
    nested("payload", shape("EventPayload")),
    boolean("delivered"),
    moment("delivered_at", nullable=True),
    integer("attempts"),
    moment("created_at"),
)
EVENTS = shape(
    "Events",
    array("events", EVENT),
    integer("count"),
    integer("page"),
    integer("total"),
    integer("total_pages"),
)
ERROR = shape("Error", string("error"), string("code"))

LIMIT_RULES = {"required": False, "exclusiveMinimum": 0, "maximum": 10**12, "x-decimals": 2}
LIMITS_BODY = shape(
    "LimitsBody",
    number("daily_limit", **LIMIT_RULES),
    number("weekly_limit", **LIMIT_RULES),
    number("monthly_limit", **LIMIT_RULES),
    closed=True,
)
LIMITS = shape(
    "Limits",
    string("card_id"),
    number("daily_limit", nullable=True),
    number("weekly_limit", nullable=True),
    number("monthly_limit", nullable=True),
    number("per_transaction_limit_usd"),
)
PHONE_BODY = shape("PhoneBody", integer("phone_country_code", exclusiveMinimum=0), string("phone"))
PHONE = shape("Phone", string("card_id"), boolean("updated"))
THREEDS_BODY = shape("ThreeDsBody", string("method"))
THREEDS = shape("ThreeDs", string("card_id"), string("three_ds_method"))
PAN = shape(
    "CardDetails",
    string("card_id"),
    string("details_url", format="uri"),
    integer("expiration_month", nullable=True, minimum=1, maximum=12),
    integer("expiration_year", nullable=True),
)
PAN_TOKEN = shape("PanToken", string("url", format="uri"), number("expires_in"), boolean("single_use"))
DECLINE_REASON = shape(
    "DeclineReason", string("code"), string("message"), boolean("retryable"), boolean("card_blocked")
)
FEE_BREAKDOWN = shape("FeeBreakdown", number("fx_usd"), number("atm_usd"), number("deposit_usd"))
TRANSACTION = shape(
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
TRANSACTIONS = shape(
    "Transactions",
    string("card_id"),
    array("transactions", TRANSACTION),
    integer("count"),
    integer("page"),
    integer("total_pages"),
    integer("total"),
)
WEBHOOK_BODY = shape(
    "WebhookBody",
    string("url", maxLength=2000),
    boolean("rotate", required=False, lenient=True, default=False),
)
WEBHOOK = shape("Webhook", string("url", format="uri"), boolean("active"), moment("updated_at"))
WEBHOOK_ANSWER = shape("WebhookAnswer", nested("webhook", WEBHOOK, nullable=True))
WEBHOOK_CHANGED = shape(
    "WebhookChanged",
    nested("webhook", shape("WebhookUrl", string("url", format="uri"))),
    string("secret", nullable=True, pattern="^whsec_[A-Za-z0-9_-]{32}$"),
    string("note"),
)
REDELIVERY = shape("Redelivery", string("event_id"), string("type"), boolean("queued"))
DEPOSIT_BODY = shape(
    "DepositBody",
    string("card_id", source="invented"),
    string("asset", source="invented"),
    string("chain", source="invented"),
    number("amount_usd", source="invented", exclusiveMinimum=0, maximum=10**9, **{"x-decimals": 2}),
)
QUOTE = shape(
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
DEPOSIT = shape(
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
DEPOSIT_LIST = shape(
    "DepositList",
    array("deposits", DEPOSIT, source="invented", kept=True),
    integer("count", source="invented"),
    integer("page", source="invented"),
    integer("total", source="invented"),
    integer("total_pages", source="invented"),
)
