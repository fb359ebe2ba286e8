"""Cards and the money on them, as the card provider keeps them.

`cards` orders, finds and shows them, `cardholders` checks a holder's details, `topups` and `unloads` move money
between float and card, each in its two commits, `card_details` hands out number and security code.
"""

from __future__ import annotations

from sandbox.partner.cards.cards import PERIODS, SINGLE_PURCHASE_USD, Card

__all__ = [
    "PERIODS",
    "SINGLE_PURCHASE_USD",
    "Card",
    "card_details",
    "cardholders",
    "cards",
    "topups",
    "unloads",
]
