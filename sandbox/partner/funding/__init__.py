"""Money that comes in over a blockchain: the float's funding, and end users' deposits to a card.

`blockchain` is the scripted chains, `submissions` takes a transaction hash from pending to credit, review or
rejection, `deposits` credits a card. Only scripted transfers exist; nothing leaves this machine.
"""

from __future__ import annotations

from sandbox.partner.funding.blockchain import Payment, Route, Transfer
from sandbox.partner.funding.submissions import Submission

__all__ = [
    "Payment",
    "Route",
    "Submission",
    "Transfer",
    "blockchain",
    "deposits",
    "submissions",
]
