"""Purchases and the events they are made of. What is stored of an event is figures and codes only."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select, update

from bot.domain.events.purchases import Leg, Purchase, picture
from storage import tables as t
from storage.store import Tx
from storage.upsert import insert_new

# Columns of their own; the rest of a leg is its facts.
_OWN = {"event_id", "transaction_id", "card_id", "kind", "occurred_at"}


async def add(tx: Tx, program: str, leg: Leg) -> Purchase:
    """Put a leg to its purchase and draw that anew from all of them. A leg known already changes nothing."""
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
    found = picture(await legs(tx, program, leg.transaction_id))
    p = t.purchase.c
    mine = update(t.purchase).where(p.program == program, p.transaction_id == leg.transaction_id)
    await tx.run(mine.values(**_columns(found), updated_at=tx.now))
    return found


async def _lock(tx: Tx, program: str, leg: Leg) -> None:
    """On PostgreSQL two processes may add to one purchase: the second waits here, and sees the first's leg."""
    await insert_new(
        tx,
        t.purchase,
        {
            "program": program,
            "transaction_id": leg.transaction_id,
            **_columns(picture([leg])),
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


async def legs(tx: Tx, program: str, transaction_id: str) -> list[Leg]:
    """All events of a purchase, in no order that means anything."""
    e = t.purchase_event.c
    asked = select(t.purchase_event).where(e.program == program, e.transaction_id == transaction_id)
    return [
        Leg(**row.facts, **{name: getattr(row, name) for name in _OWN})
        for row in (await tx.run(asked.order_by(e.event_id))).all()
    ]


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
