"""Looking at the float's ledger: its movements in words, the fees, the earnings."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, cast

from bot.domain.events import LedgerLine, LedgerReport
from bot.domain.money import Known, ledger_text
from bot.domain.time import Period
from bot.partner import models
from bot.partner.client import PartnerClient
from bot.partner.ratelimit import Lane
from bot.services.core import Core
from storage.cards import cards
from storage.requests import request_search

MOST_ROWS = 2_000
"""Twenty calls of the API; an export reads them all."""


async def ledger(core: Core, period: Period, *, program: str) -> LedgerReport:
    """The program's movements in a period, the newest first. Raises PartnerError."""
    entries: list[models.LedgerEntry] = []
    all_read = True
    async for entry in movements(core.partners[program], period):
        if len(entries) == MOST_ROWS:
            all_read = False
            break
        entries.append(entry)
    return LedgerReport(program, period, await explained(core, entries), core.clock.now(), all_read)


async def movements(
    partner: PartnerClient, period: Period, *, lane: Lane = Lane.PEOPLE
) -> AsyncIterator[models.LedgerEntry]:
    """The movements of a period as of the first call, the newest first, each once. Raises LedgerMoving."""
    rows = cast(Any, partner.ledger_entries(since=period.since, lane=lane))
    async with aclosing(rows) as entries:  # may be left early, so it is closed
        async for entry in entries:
            if entry.created_at in period:
                yield entry


async def explained(core: Core, entries: Sequence[models.LedgerEntry]) -> tuple[LedgerLine, ...]:
    """The rows in words, with the request behind each where it is ours."""
    known = await _known(core, entries)
    return tuple(
        LedgerLine(
            at=entry.created_at,
            amount_usd=entry.amount_usd,
            kind=entry.kind,
            words=ledger_text.in_words(
                entry.kind, entry.amount_usd, entry.reference, entry.card_id or _ordered(entry, known), known
            ),
            reference=entry.reference or "",
            request_id=known.requests.get(ledger_text.key_in(entry.reference), ""),
        )
        for entry in entries
    )


def _ordered(entry: models.LedgerEntry, known: Known) -> str | None:
    """The card an order made: it stands in the description [Ledger entry]."""
    return entry.description if entry.description in known.cards else None


async def _known(core: Core, entries: Sequence[models.LedgerEntry]) -> Known:
    keys = {key for entry in entries if (key := ledger_text.key_in(entry.reference))}
    ids = {entry.card_id for entry in entries if entry.card_id}
    ids |= {entry.description for entry in entries if entry.description and " " not in entry.description}
    for entry in entries:
        if entry.card_id is None:
            ids |= set(ledger_text.tokens(entry.reference))
    async with core.store.read() as tx:
        found = await request_search.by_key(tx, keys)
        labels = await cards.labels(tx, ids)
    return Known(found, labels)


async def fees(core: Core, *, program: str) -> models.Fees:
    """The schedule of the program, read live. Raises PartnerError."""
    return await core.partners[program].fees()


async def earnings(core: Core, *, program: str) -> models.Earnings:
    """The partner's commission, read live. Raises PartnerError."""
    return (await core.partners[program].me()).earnings
