"""The partner's float: every movement is one ledger row, and rows and totals move together.

`ledger` posts rows and works out what is available, `monthly_fees` bills the cards, `rates` is the rate card.
All amounts are exact decimals in USD.
"""

from __future__ import annotations

from sandbox.partner.ledger.rates import DEPOSIT_PCT, RATES

__all__ = ["DEPOSIT_PCT", "RATES", "ledger", "monthly_fees"]
