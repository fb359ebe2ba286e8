"""Purchases and the events they are made of. What is stored of an event is figures and codes only."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, bindparam, exists, func, or_, select, update

from bot.domain.events import Kind, Purchase, PurchaseLeg, purchase_of
from storage import tables as t
from storage.transaction import Tx, one_of
from storage.upsert import insert_new

# Columns of their own; the rest of a leg is its facts.
_OWN = {"event_id", "transaction_id", "card_id", "kind", "occurred_at"}
# A purchase is written when its events are received, which is after they happened; clocks differ by less.
_CLOCKS_DIFFER = timedelta(days=1)
_P = t.purchase.c
_OF_TRANSACTIONS = one_of(
    select(_P.transaction_id, _P.picture).where(_P.program == bindparam("program")), _P.transaction_id
)


@dataclass(frozen=True, slots=True)
class PagePosition:
    """Where a page ended: the moment and id of the event that began the last purchase."""

    at: datetime
    event_id: str


async def add(tx: Tx, program: str, leg: PurchaseLeg) -> Purchase:
    """Put a leg to its purchase and draw that again from all of them. A leg known already changes nothing."""
    await insert_new(
        tx,
        t.purchase_event,
        {
            **leg.model_dump(include=_OWN),
            "program": program,
            "facts": leg.model_dump(mode="json", exclude=_OWN, exclude_none=True),
        },
    )
    await _lock(tx, program, leg)
    found = purchase_of(await legs(tx, program, leg.transaction_id))
    p = t.purchase.c
    mine = update(t.purchase).where(p.program == program, p.transaction_id == leg.transaction_id)
    await tx.run(mine.values(**_columns(found), updated_at=tx.now))
    return found


async def _lock(tx: Tx, program: str, leg: PurchaseLeg) -> None:
    """On PostgreSQL two processes may add to one purchase: the second waits here, and sees the first's leg."""
    await insert_new(
        tx,
        t.purchase,
        {
            "program": program,
            "transaction_id": leg.transaction_id,
            **_columns(purchase_of([leg])),
            "updated_at": tx.now,
        },
    )
    if tx.is_postgres:
        p = t.purchase.c
        mine = select(p.state).where(p.program == program, p.transaction_id == leg.transaction_id)
        await tx.run(mine.with_for_update())


def _columns(found: Purchase) -> dict[str, object]:
    return {
        "card_id": found.card_id,
        "merchant": found.merchant,
        "state": found.state,
        "picture": found.model_dump(mode="json"),
    }


async def legs(tx: Tx, program: str, transaction_id: str) -> list[PurchaseLeg]:
    """All events of a purchase, in no order that means anything."""
    e = t.purchase_event.c
    asked = select(t.purchase_event).where(e.program == program, e.transaction_id == transaction_id)
    return [_leg(row) for row in (await tx.run(asked.order_by(e.event_id))).all()]


async def get(tx: Tx, program: str, transaction_id: str) -> Purchase | None:
    p = t.purchase.c
    asked = select(p.picture).where(p.program == program, p.transaction_id == transaction_id)
    row = (await tx.run(asked)).one_or_none()
    return None if row is None else Purchase.model_validate(row.picture)


async def of_card(tx: Tx, program: str, card_id: str, *, limit: int = 50) -> Sequence[Purchase]:
    """A card's purchases, the one that changed last first."""
    p = t.purchase.c
    asked = select(p.picture).where(p.program == program, p.card_id == card_id)
    rows = (await tx.run(asked.order_by(p.updated_at.desc(), p.transaction_id).limit(limit))).all()
    return [Purchase.model_validate(row.picture) for row in rows]


async def by_transaction(tx: Tx, program: str, transaction_ids: Collection[str]) -> dict[str, Purchase]:
    """Purchases by transaction id; those we do not know are missing."""
    rows = await tx.run_among(_OF_TRANSACTIONS, transaction_ids, program=program)
    return {row.transaction_id: Purchase.model_validate(row.picture) for row in rows}


async def of_card_since(tx: Tx, program: str, card_id: str, since: datetime) -> list[Purchase]:
    """A card's purchases that began since then, in no order that means anything."""
    p = t.purchase.c
    mine = (p.program == program, p.card_id == card_id, p.updated_at >= since - _CLOCKS_DIFFER)
    rows = (await tx.run(select(p.picture).where(*mine))).all()
    found = (Purchase.model_validate(row.picture) for row in rows)
    return [purchase for purchase in found if purchase.first_at >= since]


async def declines(
    tx: Tx, program: str, *, since: datetime, until: datetime, limit: int
) -> tuple[list[PurchaseLeg], int]:
    """Declines of a period, the newest first and at most `limit`, and how many there are in all."""
    e = t.purchase_event.c
    wanted = (e.program == program, e.occurred_at >= since, e.occurred_at < until, e.kind == Kind.DECLINED)
    total = (await tx.run(select(func.count()).select_from(t.purchase_event).where(*wanted))).scalar_one()
    asked = select(t.purchase_event).where(*wanted).order_by(e.occurred_at.desc(), e.event_id.desc())
    rows = (await tx.run(asked.limit(limit))).all()
    return [_leg(row) for row in rows], int(total)


async def last_event_at(tx: Tx, program: str) -> datetime | None:
    """When the newest event of any purchase happened."""
    e = t.purchase_event.c
    asked = select(e.occurred_at).where(e.program == program).order_by(e.occurred_at.desc()).limit(1)
    return (await tx.run(asked)).scalar_one_or_none()


async def page(
    tx: Tx, program: str, *, since: datetime, until: datetime, after: PagePosition | None, limit: int
) -> tuple[list[Purchase], PagePosition | None]:
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
    return [known[row.transaction_id] for row in rows], PagePosition(rows[-1].occurred_at, rows[-1].event_id)


def _is_before(one: Any, other: Any) -> ColumnElement[bool]:
    earlier: ColumnElement[bool] = one.occurred_at < other.occurred_at
    return or_(earlier, (one.occurred_at == other.occurred_at) & (one.event_id < other.event_id))


def _leg(row: Row[Any]) -> PurchaseLeg:
    return PurchaseLeg(**row.facts, **{name: getattr(row, name) for name in _OWN})
