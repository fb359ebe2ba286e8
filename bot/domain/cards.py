"""A card as our directory knows it: what a person needs to name one and to tell two apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

DELETED = "DELETED"


class NamedBy(StrEnum):
    """What of a card a text names it by; each value is read as "no card has the … “x”"."""

    LAST4 = "last four digits"
    REFERENCE = "reference"
    ID = "id"
    HOLDER = "name"


# How the column of a list that names cards may be called, and what its cells then are. Under any other header
# of that column, as under "card", they may be any of them.
HEADERS: Mapping[str, NamedBy] = {
    "last4": NamedBy.LAST4,
    "last four": NamedBy.LAST4,
    "card id": NamedBy.ID,
    "name": NamedBy.HOLDER,
    "cardholder": NamedBy.HOLDER,
    "holder": NamedBy.HOLDER,
    "reference": NamedBy.REFERENCE,
    "partner ref": NamedBy.REFERENCE,
}


def masked(last4: str | None) -> str:
    """`••4242`, or `••????` while the processor has not reported the digits."""
    return f"••{last4 or '????'}"


def label(holder: str, last4: str | None) -> str:
    """`ALICE MOREAU ••4242`: a card as people read it everywhere."""
    return f"{holder} {masked(last4)}"


@dataclass(frozen=True, slots=True)
class CardEntry:
    """One card of the directory, as last read from the API [Resources, Card].

    `id` is opaque and case-sensitive. `last4`, `status` and `partner_ref` are None until the API
    reports them. `balance_usd` is the last one read, at `balance_at`; None when never read.
    """

    id: str
    program: str
    holder: str
    last4: str | None = None
    partner_ref: str | None = None
    status: str | None = None
    created_at: datetime | None = None
    balance_usd: Decimal | None = None
    balance_at: datetime | None = None
    gone_at: datetime | None = None  # no longer listed by GET /cards, which leaves closed cards out

    @property
    def label(self) -> str:
        """`ALICE MOREAU ••4242`."""
        return label(self.holder, self.last4)
