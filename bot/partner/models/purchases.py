"""What was bought with a card: one row per purchase, and why one was declined."""

from typing import Annotated

from pydantic import Field

from bot.partner.models.base import Answer, BareUtc, Exact, Known

TRANSACTION_STATUSES = (
    "pending", "settled", "declined", "refunded", "partially_refunded", "reversed", "partially_reversed",
)  # fmt: skip
DECLINE_CODES = (
    "insufficient_card_balance", "issuer_funds_unavailable", "daily_limit_exceeded", "weekly_limit_exceeded",
    "monthly_limit_exceeded", "single_purchase_limit_exceeded", "velocity_limit_exceeded", "card_blocked",
    "fraud_risk_declined", "security_check_failed", "merchant_category_blocked", "processing_error",
    "authorization_timeout", "unknown",
)  # fmt: skip


class DeclineReason(Answer):
    """Why a purchase was declined. Act on `retryable` and `card_blocked`, not on the code or the text.

    `card_blocked` may be true under any code. The text may be shown to a cardholder; its wording changes.
    """

    code: Annotated[str | None, Known(DECLINE_CODES)] = None
    message: str | None = None
    retryable: bool | None = None
    card_blocked: bool | None = None


class FeeBreakdown(Answer):
    """Parts of the fee in USD, our markup among them: they need not add up to `provider_fee_usd`.

    A part other than zero in `fx_usd` does not prove that a conversion took place.
    """

    fx_usd: Exact
    atm_usd: Exact
    deposit_usd: Exact


class Transaction(Answer):
    """One purchase of one card as it stands now; a refund or reversal changes this row and adds none.

    `id` is the row's own and never that of an event: they meet in `transaction_id`, which may be None.
    `amount_usd` includes the processor's fees, is not zeroed on a decline, and is lowered by a reversal;
    `client_fee_usd` (our markup, unrounded) is not in it. `original_amount` is in `original_currency`.
    Add up first and round afterwards. `occurred_at` is the row's `datetime`, which is UTC unsaid.
    """

    id: str
    transaction_id: str | None = None
    partner_ref: str | None = None
    occurred_at: BareUtc = Field(validation_alias="datetime")
    status: Annotated[str, Known(TRANSACTION_STATUSES)]
    merchant: str | None = None
    amount_usd: Exact
    original_amount: Exact | None = None
    original_currency: str | None = None
    fee_basis_usd: Exact
    exchange_rate: Exact | None = None
    provider_fee_usd: Exact
    client_fee_usd: Exact
    fee_usd: Exact
    fee_breakdown: FeeBreakdown
    decline_reason: DeclineReason | None = None
