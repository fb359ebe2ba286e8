"""What a charge costs: the processor's fees, the partner's markup, the total to the cent (Fees).

The rates are those of the published rate card of the simulated agreement; the real one may price
otherwise, which is why nobody should recompute fees from it (R045).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal

from sandbox.partner import money
from sandbox.partner.accounts import accounts
from sandbox.partner.ledger import RATES
from sandbox.partner.purchases.purchase import PurchaseKind
from sandbox.partner.state import World

_RATE_DIGITS = Context(prec=15, rounding=ROUND_HALF_EVEN)  # significant ones: a rial is 0.0000238 US dollars


@dataclass(frozen=True)
class Figures:
    """`amount_usd` is charge and fees, to the cent; the fees are exact, at 10 decimals."""

    amount_usd: Decimal
    fx_fee_usd: Decimal
    atm_fee_usd: Decimal
    client_fee_usd: Decimal

    @classmethod
    def free_of_fees(cls, charge_usd: Decimal) -> Figures:
        """The charge alone, to the cent: what a decline shows."""
        return cls(money.cents(charge_usd), money.ZERO, money.ZERO, money.ZERO)

    def columns(self) -> dict[str, str]:
        """The figures as they are stored: column name to decimal string."""
        return {name: money.text(getattr(self, name)) for name in self.__dataclass_fields__}


def figures_of(
    world: World, account_id: str, kind: PurchaseKind, currency: str, charge_usd: Decimal
) -> Figures:
    """The figures of a charge at today's rates."""
    rates = RATES
    fx_pct = rates["usd_purchase_pct"] if currency == "USD" else rates["fx_purchase_pct"]
    atm_fee_usd = money.ZERO
    settings = accounts.account(world, account_id).settings
    if kind == "atm":
        atm_fee_usd = money.share(charge_usd, rates["atm_pct"])
        fx_pct = money.ZERO if currency == "USD" or settings.foreign_atm == "atm_only" else fx_pct
    if kind == "high_risk":
        fx_pct = money.add(fx_pct, rates["high_risk_surcharge_pct"])
    fx_fee_usd = money.share(charge_usd, fx_pct)
    amount_usd = money.cents(money.add(charge_usd, fx_fee_usd, atm_fee_usd))
    basis_usd = money.add(amount_usd, -money.cents(fx_fee_usd), -money.cents(atm_fee_usd))
    client_fee_usd = money.EXACT.multiply(basis_usd, settings.transaction_markup_pct)
    return Figures(amount_usd, fx_fee_usd, atm_fee_usd, client_fee_usd)


def exchange_rate(amount_usd: Decimal, original_amount: Decimal) -> Decimal | None:
    """US dollars, fees included, for one unit of the original currency; None where nothing is left of either."""
    if not amount_usd or not original_amount:
        return None
    return money.plain(_RATE_DIGITS.divide(amount_usd, original_amount))
