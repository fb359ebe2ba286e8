"""Many cards' labels at once: what a list of purchases or movements shows of them."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select

from bot.domain.cards import CardEntry
from storage import tables as t
from storage.store import Tx

_AT_ONCE = 500


async def of(tx: Tx, card_ids: Collection[str]) -> dict[str, str]:
    """`ALICE MOREAU ••4242` by card id, closed cards too; ids the directory does not know are missing."""
    found: dict[str, str] = {}
    wanted = sorted(card_ids)
    c = t.card.c
    for start in range(0, len(wanted), _AT_ONCE):
        some = c.id.in_(wanted[start : start + _AT_ONCE])
        rows = (await tx.run(select(c.id, c.program, c.holder, c.last4).where(some))).all()
        found |= {row.id: CardEntry(row.id, row.program, row.holder, row.last4).label for row in rows}
    return found
