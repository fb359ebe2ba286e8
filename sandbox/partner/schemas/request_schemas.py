"""The bodies that the API's calls take, field by field, as the document names them.

`source="invented"` marks what the document does not show (2E of the rules).
"""

from __future__ import annotations

from decimal import Decimal

from sandbox.partner.schemas.fields import array, boolean, integer, number, schema, string

PHONE = "^[0-9]{4,15}$"
MARKUP_BODY = schema("MarkupBody", number("markup_pct", minimum=0, maximum=Decimal("0.5")))
ORDER_BODY = schema(
    "OrderBody",
    string("card_holder_name", minLength=1),
    integer("phone_country_code", exclusiveMinimum=0),
    string("phone", pattern=PHONE),
    string("email", pattern=r"^[^@\s]+@[^@\s]*\.[^@\s]*$"),
    string("partner_ref", required=False, nullable=True, maxLength=128),
)
BALANCES_BODY = schema(
    "BalancesBody",
    array("card_ids", string("card_id"), required=False, maxItems=1000, uniqueItems=True),
    boolean("refresh", required=False),
    integer("limit", required=False, minimum=1, maximum=1000),
    integer("page", required=False, minimum=1),
)
TOPUP_BODY = schema("TopUpBody", number("amount_usd", minimum=Decimal("0.01"), **{"x-decimals": 2}))
UNLOAD_BODY = schema("UnloadBody", number("amount_usd", exclusiveMinimum=0, **{"x-decimals": 2}))
FREEZE_BODY = schema("FreezeBody", boolean("frozen"))


def _in_any_case(*words: str) -> str:
    """A pattern, as JSON Schema has no list of words in any case."""
    letters = ("".join(f"[{c}{c.lower()}]" if c.isalpha() else c for c in word) for word in words)
    return f"^({'|'.join(letters)})$"


ANY_NETWORK = _in_any_case("POLYGON", "BNB", "BSC", "BASE")
ANY_CHAIN = _in_any_case("TRON", "ETHEREUM", "POLYGON", "SOLANA")
ANY_ASSET = _in_any_case(
    "USDC", "USDC-TRC20", "USDC-ERC20", "USDC-SPL", "USDT", "USDT-TRC20", "USDT-ERC20", "USDT-SPL"
)  # fmt: skip
FUNDING_BODY = schema(
    "FundingBody",
    string("tx_hash", pattern="^0[xX][0-9a-fA-F]{64}$"),
    string("network", pattern=ANY_NETWORK),
)

# The document gives limits no ceiling; figures beyond this one only show that nobody checks them.
LIMIT_RULES = {"required": False, "exclusiveMinimum": 0, "x-simulator-maximum": 10**12, "x-decimals": 2}
LIMITS_BODY = schema(
    "LimitsBody",
    number("daily_limit", **LIMIT_RULES),
    number("weekly_limit", **LIMIT_RULES),
    number("monthly_limit", **LIMIT_RULES),
    closed=True,
    filled=True,
)
PHONE_BODY = schema(
    "PhoneBody", integer("phone_country_code", exclusiveMinimum=0), string("phone", pattern=PHONE)
)
THREEDS_BODY = schema("ThreeDsBody", string("method", enum=["webhook"]))
WEBHOOK_BODY = schema(
    "WebhookBody",
    string("url", maxLength=2000, pattern="^[hH][tT][tT][pP][sS]://[^/?#]"),
    boolean("rotate", required=False, lenient=True, default=False),
)
DEPOSIT_BODY = schema(
    "DepositBody",
    string("card_id", source="invented"),
    string("asset", source="invented", pattern=ANY_ASSET),
    string("chain", source="invented", pattern=ANY_CHAIN),
    number("amount_usd", source="invented", exclusiveMinimum=0, maximum=10**9, **{"x-decimals": 2}),
)
