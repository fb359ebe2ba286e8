"""The optional route by which an end user pays in crypto and the card is credited.

A quote and a record are two things with names of their own for the same figures. Amounts to be sent are
strings: where `exact_amount_required`, the user must send them to the digit, so they are never reformatted.
This route was never seen at work, so only what a user needs to pay rightly must be there.
"""

from typing import Annotated

from bot.partner.models.base import Answer, Exact, Known, Utc

DEPOSIT_STATUSES = ("pending", "credited", "expired", "cancelled")


class DepositQuote(Answer):
    """An offer to credit a card; it has no status. The fee is the card provider's share plus the partner's."""

    deposit_id: str
    card_id: str
    asset: str
    chain: str
    deposit_address: str
    send_amount: str
    rate_usd: Exact | None = None
    fee_usd: Exact | None = None
    svc_fee_usd: Exact | None = None
    partner_fee_usd: Exact | None = None
    card_credit_usd: Exact | None = None
    exact_amount_required: bool
    expires_at: Utc


class Deposit(Answer):
    """A deposit that was quoted, and what became of it; it keeps the markup it was quoted at."""

    id: str
    card_id: str
    asset: str
    chain: str
    deposit_address: str
    amount_expected: str
    rate_usd: Exact | None = None
    fee_usd: Exact | None = None
    credit_usd: Exact | None = None
    status: Annotated[str, Known(DEPOSIT_STATUSES)]
    tx_hash: str | None = None
    expires_at: Utc
    credited_at: Utc | None = None
    created_at: Utc
