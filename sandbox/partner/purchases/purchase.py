"""A purchase as a value: what a terminal sends, what is stored, and one later leg. Nothing here reads or writes."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from sandbox.partner import money
from sandbox.partner.purchases.declines import DeclineCode

PurchaseKind = Literal["purchase", "atm", "high_risk"]
LegName = Literal["settle", "reverse", "refund"]
OPEN = ("pending", "partially_reversed")


@dataclass(frozen=True)
class Order:
    """What a terminal sends. `decline_code` is what the tester wants it declined with."""

    amount_usd: Decimal
    merchant: str = "Corner Coffee"
    mcc_code: str | None = None
    original_amount: Decimal | None = None
    original_currency: str = "USD"
    kind: PurchaseKind = "purchase"
    decline_code: DeclineCode | None = None


@dataclass(frozen=True)
class Purchase:
    """One purchase as stored; `taken_usd` is what the card has paid for it, net of what came back."""

    id: str
    transaction_id: str
    account: str
    card_id: str
    partner_ref: str | None
    at: str
    status: str
    kind: PurchaseKind
    merchant: str
    mcc_code: str
    original_amount: Decimal
    original_currency: str
    authorized_usd: Decimal
    charge_usd: Decimal
    amount_usd: Decimal
    fx_fee_usd: Decimal
    atm_fee_usd: Decimal
    own_fee_usd: Decimal
    client_fee_usd: Decimal
    decline_code: str | None
    card_blocked: bool
    taken_usd: Decimal
    refunded_usd: Decimal
    suspense_usd: Decimal

    @property
    def fee_usd(self) -> Decimal:
        """The processor's exact fee, as the authorization tells it."""
        return money.add(self.fx_fee_usd, self.atm_fee_usd, self.own_fee_usd)


@dataclass(frozen=True)
class PurchaseLeg:
    """A later leg. `amount_usd` leaves out the fee of the authorization, which is not repeated; `total_usd` has it."""

    event: Literal["cleared", "reversal", "refund"]
    amount_usd: Decimal
    total_usd: Decimal
    original_amount: Decimal
    own_fee_usd: Decimal
