"""What was spent in a period by card and merchant, from the events that are stored here: no call of the API."""

from __future__ import annotations

from collections import Counter

from bot.domain.cards import CardEntry
from bot.domain.events import Purchase, PurchaseFilter, SpendReport, spend_of
from bot.domain.time import Period
from bot.services.core import Core
from bot.services.operators import programs
from bot.services.requests import resolve_card
from storage.cards import cards
from storage.events import purchases
from storage.transaction import Tx

_PAGE = 2_000
_NAMED = 5  # merchants, where none fits


async def spend(core: Core, period: Period, *, program: str) -> SpendReport:
    """Every purchase of the program that began in the period, added up."""
    async with core.store.read() as tx:
        return await in_period(tx, core, period, program=program)


async def of_those(
    core: Core, period: Period, *, program: str, card: str = "", only: PurchaseFilter
) -> SpendReport:
    """The same of one card, which says its program itself, or of the purchases that fit. Raises NotFound."""
    async with core.store.read() as tx:
        entry = await resolve_card(tx, card) if card else None
        of = entry.program if entry else program
        return await in_period(tx, core, period, program=of, card=entry, only=only)


async def in_period(
    tx: Tx,
    core: Core,
    period: Period,
    *,
    program: str,
    card: CardEntry | None = None,
    only: PurchaseFilter | None = None,
) -> SpendReport:
    """The same within a transaction."""
    found, after = await purchases.page(
        tx, program, since=period.since, until=period.until, after=None, limit=_PAGE
    )
    while after is not None:
        more, after = await purchases.page(
            tx, program, since=period.since, until=period.until, after=after, limit=_PAGE
        )
        found += more
    fitting = [p for p in found if _fits(p, card, only)]
    on = f"on {card.label}" if card else ""
    return spend_of(
        fitting,
        await cards.labels(tx, {p.card_id for p in fitting if p.card_id}),
        program=program,
        period=period,
        last_event_at=await purchases.last_event_at(tx, program),
        live=core.is_live(program),
        draft_only=await programs.is_draft_only(tx, program),
        about=", ".join(filter(None, (on, only.in_words if only else ""))),
        elsewhere=_merchants(found) if only and only.merchant and not fitting else (),
    )


def _fits(purchase: Purchase, card: CardEntry | None, only: PurchaseFilter | None) -> bool:
    if card is not None and purchase.card_id != card.id:
        return False
    reported = purchase.declined_usd if purchase.charge_usd is None else purchase.charge_usd
    amount_usd = None if reported is None else reported.copy_abs()
    return not only or only.fits(purchase.merchant or "", amount_usd, purchase.state)


def _merchants(found: list[Purchase]) -> tuple[str, ...]:
    """The merchants with the most purchases."""
    counted = Counter(p.merchant for p in found if p.merchant)
    return tuple(name for name, _ in counted.most_common(_NAMED))
