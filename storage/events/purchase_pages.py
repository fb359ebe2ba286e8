"""Purchases for showing: by id, of a card since a moment, declined in a period, and page by page in order."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, exists, func, or_, select

from bot.domain.events.purchases import Kind, Leg, Purchase
from storage import tables as t
from storage.store import Tx

# A purchase is written when its events are heard, which is after they happened; clocks differ by less.
_CLOCKS_DIFFER = timedelta(days=1)
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ended: the moment and id of the event that began the last purchase."""

    at: datetime
    event_id: str


async def by_transaction(tx: Tx, program: str, transaction_ids: Collection[str]) -> dict[str, Purchase]:
    """Purchases by transaction id; those we never heard of are missing."""
    found: dict[str, Purchase] = {}
    wanted = sorted(transaction_ids)
    p = t.purchase.c
    for start in range(0, len(wanted), _AT_ONCE):
        some = p.transaction_id.in_(wanted[start : start + _AT_ONCE])
        rows = (await tx.run(select(p.picture).where(p.program == program, some))).all()
        pictures = (Purchase.model_validate(row.picture) for row in rows)
        found |= {purchase.transaction_id: purchase for purchase in pictures}
    return found


async def of_card_since(tx: Tx, program: str, card_id: str, since: datetime) -> list[Purchase]:
    """A card's purchases that began since then, in no order that means anything."""
    p = t.purchase.c
    mine = (p.program == program, p.card_id == card_id, p.updated_at >= since - _CLOCKS_DIFFER)
    rows = (await tx.run(select(p.picture).where(*mine))).all()
    found = (Purchase.model_validate(row.picture) for row in rows)
    return [purchase for purchase in found if purchase.first_at >= since]


async def declines(
    tx: Tx, program: str, *, since: datetime, until: datetime, limit: int
) -> tuple[list[Leg], int]:
    """Declines of a period, the newest first and at most `limit`, and how many there are in all."""
    e = t.purchase_event.c
    wanted = (e.program == program, e.occurred_at >= since, e.occurred_at < until, e.kind == Kind.DECLINED)
    total = (await tx.run(select(func.count()).select_from(t.purchase_event).where(*wanted))).scalar_one()
    asked = select(t.purchase_event).where(*wanted).order_by(e.occurred_at.desc(), e.event_id.desc())
    rows = (await tx.run(asked.limit(limit))).all()
    return [_leg(row) for row in rows], int(total)


async def last_heard_at(tx: Tx, program: str) -> datetime | None:
    """When the newest event of any purchase happened."""
    e = t.purchase_event.c
    asked = select(e.occurred_at).where(e.program == program).order_by(e.occurred_at.desc()).limit(1)
    return (await tx.run(asked)).scalar_one_or_none()


async def page(
    tx: Tx, program: str, *, since: datetime, until: datetime, after: Place | None, limit: int
) -> tuple[list[Purchase], Place | None]:
    """Purchases that began in the period, the oldest first, and where the page ends; None past the end."""
    e, before = t.purchase_event.c, t.purchase_event.alias("before")
    is_first = ~exists().where(
        before.c.program == program,
        before.c.transaction_id == e.transaction_id,
        _is_before(before.c, e),
    )
    wanted = [e.program == program, e.occurred_at >= since, e.occurred_at < until, is_first]
    if after is not None:
        later = (e.occurred_at == after.at) & (e.event_id > after.event_id)
        wanted.append(or_(e.occurred_at > after.at, later))
    asked = select(e.occurred_at, e.event_id, e.transaction_id).where(*wanted)
    rows = (await tx.run(asked.order_by(e.occurred_at, e.event_id).limit(limit))).all()
    if not rows:
        return [], None
    known = await by_transaction(tx, program, [row.transaction_id for row in rows])
    return [known[row.transaction_id] for row in rows], Place(rows[-1].occurred_at, rows[-1].event_id)


def _is_before(one: Any, other: Any) -> ColumnElement[bool]:
    earlier: ColumnElement[bool] = one.occurred_at < other.occurred_at
    return or_(earlier, (one.occurred_at == other.occurred_at) & (one.event_id < other.event_id))


def _leg(row: Any) -> Leg:
    own = ("event_id", "transaction_id", "card_id", "kind", "occurred_at")
    return Leg(**row.facts, **{name: getattr(row, name) for name in own})
