"""The float, its history and runway, and funding as values for the views."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from bot.domain.time import Period


@dataclass(frozen=True, slots=True)
class FloatPoint:
    """The float at a moment, in USD, and what came in and went out since the moment before."""

    at: datetime
    balance_usd: Decimal
    funded_usd: Decimal
    spent_usd: Decimal


@dataclass(frozen=True, slots=True)
class FloatHistory:
    """What a chart of the float shows; at least two points, the oldest first."""

    program: str
    floor_usd: Decimal
    points: tuple[FloatPoint, ...]
    stretches: tuple[tuple[FloatPoint, ...], ...]  # each reading, parted where nobody read for long
    zone: str  # the reader's, or the team's where several read it

    @property
    def until(self) -> datetime:
        """The end of what is shown; the last reading may be older."""
        return self.points[-1].at


@dataclass(frozen=True, slots=True)
class RunwayView:
    """How long the float lasts at the pace of the last days, requests that wait included.

    `at` None: longer than `looked_ahead_hours`; `known` False: too little was seen to tell.
    """

    floor_usd: Decimal
    known: bool
    hours: float | None = None
    at: datetime | None = None
    looked_ahead_hours: int = 0


@dataclass(frozen=True, slots=True)
class FloatView:
    """`/float`; `read_at` is when the API said so."""

    program: str
    balance_usd: Decimal
    available_usd: Decimal
    funded_usd: Decimal
    spent_usd: Decimal
    limit_usd: Decimal | None
    pending_usd: Decimal
    pending_count: int
    cards_total: int
    cards_active: int
    cards_limit: int | None
    read_at: datetime
    live: bool
    history: FloatHistory | None = None
    runway: RunwayView | None = None
    period: Period | None = None


@dataclass(frozen=True, slots=True)
class FundingView:
    """One submission; `word` is what its request's message calls it, `words` its reason with the next step."""

    id: str
    network: str
    tx_hash: str
    status: str
    word: str
    words: str
    token: str | None
    amount_usd: Decimal | None
    fee_usd: Decimal | None
    credited_usd: Decimal | None
    created_at: datetime
    credited_at: datetime | None
    request_id: str | None
    age: timedelta | None = None  # of one that is not final
    usual: timedelta | None = None  # nine of ten on its network took at most this
    overdue: str = ""  # `more than 6 h`


@dataclass(frozen=True, slots=True)
class AddressView:
    network: str
    address: str
    tokens: tuple[str, ...]
