"""Debits under keys that were made here, of which no approval here is known: an older copy of the database was put in
place, and these were approved after it was made.

They count towards the limits of 24 hours as what was approved does, from the time of the debit on. Who requested and
who approved them is not known, so they count for everybody: a limit may refuse more than it has to, and never less.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sqlalchemy import bindparam, select

from bot.domain.money import exact_sum, ledger_text
from bot.domain.requests import COMMITTED
from storage import tables as t
from storage.transaction import Tx, one_of

_O, _R = t.orphan_debit.c, t.request.c
_SINCE = select(_O.reference, _O.amount_usd, _O.card_id, _O.booked_at).where(_O.booked_at >= bindparam("at"))
_WITHIN = _SINCE.where(_O.booked_at < bindparam("until"))
_BY_KEY = one_of(select(_R.key, _R.state), _R.key)


@dataclass(frozen=True, slots=True)
class LostDebit:
    """What one key took from the float, in USD and without what came back; "" = the ledger names no card."""

    at: datetime
    usd: Decimal
    card_id: str


async def since(tx: Tx, at: datetime, *, until: datetime | None = None) -> list[LostDebit]:
    """Those that were booked from then on, and before `until`, as far as the ledger was read."""
    asked = _SINCE if until is None else _WITHIN
    rows = (await tx.run(asked, {"at": at, "until": until})).all()
    by_key: dict[str, list[LostDebit]] = {}
    for row in rows:
        found = LostDebit(row.booked_at, -row.amount_usd, row.card_id or "")
        by_key.setdefault(ledger_text.key_in(row.reference), []).append(found)
    approved = await _approved(tx, by_key) if by_key else frozenset()
    lost = [_of_one_key(found) for key, found in by_key.items() if key not in approved]
    return [one for one in lost if one.usd > 0]


def _of_one_key(found: list[LostDebit]) -> LostDebit:
    first = min(found, key=lambda one: one.at)
    return LostDebit(first.at, exact_sum(one.usd for one in found), first.card_id)


async def _approved(tx: Tx, keys: Collection[str]) -> frozenset[str]:
    """Of these keys those whose request counts by itself, as it was approved again since."""
    found = await tx.run_among(_BY_KEY, keys)
    return frozenset(one.key for one in found if one.state in COMMITTED)
