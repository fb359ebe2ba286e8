"""Cards as values for the views: one of them, and a page of the directory."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from bot.domain.events import CardStatement, PurchaseLine
from bot.domain.requests import Request


@dataclass(frozen=True, slots=True)
class CardView:
    """One card. `balance_usd` None = unknown, never zero."""

    id: str
    holder: str
    last4: str | None
    partner_ref: str | None
    status: str | None
    balance_usd: Decimal | None
    read_at: datetime | None
    program: str
    open_requests: tuple[Request, ...] = ()
    history: tuple[Request, ...] = ()
    frozen_by: Request | None = None  # the freeze of ours that holds; None: it is not ours
    statement: CardStatement | None = None  # None: the history could not be read
    declines: tuple[PurchaseLine, ...] = ()  # of the last 24 h


@dataclass(frozen=True, slots=True)
class CardListView:
    cards: tuple[CardView, ...]
    total: int
    status: str | None
    page: int
    pages: int
    read_at: datetime | None
    has_more: bool = False
