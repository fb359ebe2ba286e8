"""Looking at cards: one of them, and the directory page by page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from bot.domain.cards import CardEntry
from bot.domain.events import CardStatement
from bot.domain.requests import OPEN
from bot.domain.time import periods
from bot.partner.errors import PartnerError
from bot.services import paging
from bot.services.cards import freezes, purchases
from bot.services.cards.card_sync import refresh_card
from bot.services.core import Core
from bot.services.requests import resolve_card
from bot.view_models import CardListView, CardView
from storage.cards import cards
from storage.requests import requests

PAGE = 25
PURCHASES_OF_DAYS = 30
PURCHASES_READ = 24  # one call of the API
DECLINES_OF = timedelta(hours=24)
_UTC = ZoneInfo("UTC")


async def card_now(core: Core, text: str, *, zone: ZoneInfo = _UTC) -> CardView:
    """The card that `text` names, with its live status and balance, and its purchases in days of `zone`.

    Raises NotFound, PartnerError.
    """
    async with core.store.read() as tx:
        entry = await resolve_card(tx, text)
    found = await refresh_card(core, entry.program, entry.id)
    async with core.store.read() as tx:
        history = await requests.find(tx, subject=entry.id, limit=10)
        freeze = await freezes.now(tx, core, entry.id)
        read_at = tx.now
    statement = await _lately(core, entry, zone)
    yesterday = read_at - DECLINES_OF
    lines = statement.lines if statement else ()
    return replace(
        _card(entry),
        status=found.card.status,
        last4=found.card.last4 or entry.last4,
        balance_usd=found.balance_usd,
        read_at=read_at,
        open_requests=tuple(r for r in history if r.state in OPEN),
        history=tuple(r for r in history if r.state not in OPEN),
        frozen_by=freeze.request if freeze else None,
        statement=statement,
        declines=tuple(line for line in lines if line.is_declined and line.at >= yesterday),
    )


async def _lately(core: Core, entry: CardEntry, zone: ZoneInfo) -> CardStatement | None:
    """The purchases of the last month; None where they cannot be read just now: the card is shown without."""
    period = periods.back(PURCHASES_OF_DAYS, core.clock.now(), zone)
    try:
        return await purchases.of_card(core, entry, period, most=PURCHASES_READ)
    except PartnerError:
        return None


def _card(entry: CardEntry) -> CardView:
    return CardView(
        id=entry.id,
        holder=entry.holder,
        last4=entry.last4,
        partner_ref=entry.partner_ref,
        status=entry.status,
        balance_usd=entry.balance_usd,
        read_at=entry.balance_at,
        program=entry.program,
    )


async def card_list(
    core: Core, *, status: str | None = None, page: int = 1, beside: str = ""
) -> CardListView:
    """One page of the directory with balances from POST /cards/balances (cached there, with their age).

    `beside`: where the page before or after it ended, as `after:CARD-ID` or `before:CARD-ID`. Raises NotFound for a
    number that is too high to count up to.
    """
    async with core.store.read() as tx:
        total = await cards.count(tx, status=status)
        pages = paging.number_of_pages(total, PAGE)
        side, _, last = beside.partition(":")
        place = await cards.listed_at(tx, last, back=side == "before") if last else None
        page, skip = paging.begins(max(page, 1), pages, PAGE, is_placed=place is not None)
        rows = await cards.all(tx, status=status, limit=PAGE + 1, skip=skip, beside=place)
        synced_at = await cards.synced_at(tx, core.default_program)
    of_page, has_more = paging.cut(rows, PAGE, back=place is not None and place.back)
    shown = tuple(await _with_balances(core, of_page))
    return CardListView(shown, total, status, page, pages, synced_at, has_more)


async def _with_balances(core: Core, rows: Sequence[CardEntry]) -> list[CardView]:
    """Balances of these cards; where they cannot be read they stay what we last knew."""
    found: dict[str, tuple[Decimal | None, Any]] = {}
    for program in {row.program for row in rows}:
        try:
            answers = await core.partners[program].balances([r.id for r in rows if r.program == program])
        except PartnerError:
            continue
        found |= {a.card_id: (a.balance_usd, a.as_of) for a in answers}
    views = []
    for row in rows:
        view = _card(row)
        balance, as_of = found.get(row.id, (None, None))
        # We may have read the card since the card provider last did: after a request of ours, we have.
        if row.balance_at is None or (as_of is not None and as_of >= row.balance_at):
            view = replace(view, balance_usd=balance, read_at=as_of)
        views.append(view)
    return views
