"""What was spent in a period by card and merchant, from the events that are stored here: no call of the API."""

from __future__ import annotations

from bot.domain.events import SpendReport, spend_of
from bot.domain.time import Period
from bot.services.core import Core
from bot.services.operators import programs
from storage.cards import cards
from storage.events import purchases
from storage.transaction import Tx

_PAGE = 2_000


async def spend(core: Core, period: Period, *, program: str) -> SpendReport:
    """Every purchase of the program that began in the period, added up."""
    async with core.store.read() as tx:
        return await in_period(tx, core, period, program=program)


async def in_period(tx: Tx, core: Core, period: Period, *, program: str) -> SpendReport:
    """The same within a transaction."""
    found, after = await purchases.page(
        tx, program, since=period.since, until=period.until, after=None, limit=_PAGE
    )
    while after is not None:
        more, after = await purchases.page(
            tx, program, since=period.since, until=period.until, after=after, limit=_PAGE
        )
        found += more
    return spend_of(
        found,
        await cards.labels(tx, {p.card_id for p in found if p.card_id}),
        program=program,
        period=period,
        last_event_at=await purchases.last_event_at(tx, program),
        live=core.is_live(program),
        draft_only=await programs.is_draft_only(tx, program),
    )
