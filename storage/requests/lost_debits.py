"""Debits under keys that were made here, of which no approval here is known: an older copy of the database was put in
place, and these were approved after it was made.

They count towards the limits of 24 hours as what was approved does, from the time of the debit on. Who requested and
who approved them is not known, so they count for everybody: a limit may refuse more than it has to, and never less.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sqlalchemy import select

from bot.domain.money import exact_sum, ledger_text
from storage import tables as t
from storage.log_record import LogFacts
from storage.transaction import Tx, one_of

_KEYS = one_of(select(t.request.c.key), t.request.c.id)


@dataclass(frozen=True, slots=True)
class LostDebit:
    """What one key took from the float, in USD and without what came back; "" = the ledger names no card."""

    at: datetime
    usd: Decimal
    card_id: str


async def since(tx: Tx, said: LogFacts, at: datetime, *, until: datetime | None = None) -> list[LostDebit]:
    """Of those on record the ones that were booked from then on, and before `until`."""
    by_key: dict[str, list[LostDebit]] = {}
    for one in said.debits.values():
        row = one.debit
        if row.booked_at < at or (until is not None and row.booked_at >= until):
            continue
        found = LostDebit(row.booked_at, -row.amount_usd, row.card_id or "")
        by_key.setdefault(ledger_text.key_in(row.reference), []).append(found)
    approved = await _approved(tx, said) if by_key else frozenset()
    lost = [_of_one_key(found) for key, found in by_key.items() if key not in approved]
    return [one for one in lost if one.usd > 0]


def _of_one_key(found: list[LostDebit]) -> LostDebit:
    first = min(found, key=lambda one: one.at)
    return LostDebit(first.at, exact_sum(one.usd for one in found), first.card_id)


async def _approved(tx: Tx, said: LogFacts) -> frozenset[str]:
    """The keys of requests that count by themselves, as they were approved again since: by the log, which has those of
    two days. An older version recorded no key; that is in the row."""
    counting = {id_: one for hour in said.counted.values() for id_, one in hour.items() if one.is_committed}
    of_before = [id_ for id_, one in counting.items() if not one.key]
    rows = await tx.run_among(_KEYS, of_before) if of_before else ()
    return frozenset([*(one.key for one in counting.values()), *(one.key for one in rows)])
