"""What merchants do with a card: purchases from authorization to refund, and 3-D Secure (Card activity).

`purchase` holds the values, `purchases` carries a purchase through its stages, `pricing` says what it costs,
`authorization_rules` whether it may be made, `declines` why not, `purchase_events` what events say of it, and
`three_d_secure` is a purchase that waits for a one-time code.
"""

from __future__ import annotations

from sandbox.partner.purchases.declines import DeclineCode
from sandbox.partner.purchases.pricing import Figures
from sandbox.partner.purchases.purchase import LegName, Order, Purchase, PurchaseKind

__all__ = [
    "DeclineCode",
    "Figures",
    "LegName",
    "Order",
    "Purchase",
    "PurchaseKind",
    "authorization_rules",
    "declines",
    "pricing",
    "purchases",
    "three_d_secure",
]
