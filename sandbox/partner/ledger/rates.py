"""The published rate card of the simulated agreement, as fractions; the document gives no figures (Fees)."""

from __future__ import annotations

from decimal import Decimal

RATES = {
    "usd_purchase_pct": Decimal("0.01"),
    "fx_purchase_pct": Decimal("0.025"),
    "high_risk_surcharge_pct": Decimal("0.01"),
    "atm_pct": Decimal("0.03"),
    "visa_direct_pct": Decimal("0.02"),
}
DEPOSIT_PCT = Decimal("0.015")
