"""What merchants do with a card: purchases from authorization to refund, and 3-D Secure (Card activity).

`purchase` holds the values, `purchases` carries a purchase through its stages, `pricing` says what it costs,
`authorization_rules` whether it may be made, `declines` why not, `purchase_events` what is told of it, and
`three_d_secure` is a purchase that waits for a one-time code.
"""

from __future__ import annotations

from sandbox.partner.purchases.declines import CODES, DeclineCode
from sandbox.partner.purchases.pricing import Figures, figures_of
from sandbox.partner.purchases.purchase import LegName, Order, Purchase, PurchaseKind
from sandbox.partner.purchases.purchase_events import exchange_rate
from sandbox.partner.purchases.purchases import of_row

__all__ = [
    "CODES",
    "DeclineCode",
    "Figures",
    "LegName",
    "Order",
    "Purchase",
    "PurchaseKind",
    "authorization_rules",
    "declines",
    "exchange_rate",
    "figures_of",
    "of_row",
    "purchases",
    "three_d_secure",
]
