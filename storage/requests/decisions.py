"""Decisions: one per person and kind on a request, and unique in the database, too.

Only what people say of an unknown outcome may be said again, differently: all of it is kept, the newest counts.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from datetime import datetime, timedelta

from sqlalchemy import and_, bindparam, delete, select, text, update

from bot.domain.errors import AlreadyDecided, OwnRequest
from bot.domain.requests import BY_ANOTHER, Decision, DecisionKind, DecisionTime, fingerprints
from storage import tables as t
from storage.transaction import Tx, one_of
from storage.upsert import insert_new

_D = t.decision.c
_OF_MANY = one_of(select(t.decision), _D.request_id)
_OF = select(t.decision).where(_D.request_id == bindparam("request_id")).order_by(_D.decided_at, _D.id)


async def insert(tx: Tx, decision: Decision) -> None:
    """Raises `AlreadyDecided` for a second decision of a kind that is made once, `OwnRequest` for one's own request."""
    if decision.kind in BY_ANOTHER and decision.actor == decision.requester:
        raise OwnRequest
    if not await insert_new(tx, t.decision, asdict(decision)):
        raise AlreadyDecided(f"Your decision on {decision.request_id} is in already.")
    # For the entry about the request.
    tx.words.setdefault(decision.request_id, {})[decision.id] = fingerprints.of_words(decision)


async def drop_approvals(tx: Tx, request_id: str) -> int:
    """Approvals fall when what was approved is asked for otherwise; the audit log keeps them. Returns how many."""
    d = t.decision.c
    gone = delete(t.decision).where(d.request_id == request_id, d.kind == DecisionKind.APPROVE)
    return (await tx.run(gone)).rowcount


async def of(tx: Tx, request_id: str) -> list[Decision]:
    """The decisions on a request, in the order they were made."""
    return [Decision(**row._mapping) for row in (await tx.run(_OF, {"request_id": request_id})).all()]


async def sign_again(tx: Tx, decision: Decision) -> None:
    """Write the signature of a decision that was signed again, and the digest that it is about."""
    values = {"digest": decision.digest, "mac": decision.mac}
    await tx.run(update(t.decision).where(t.decision.c.id == decision.id).values(values))


async def of_many(tx: Tx, request_ids: Collection[str]) -> list[Decision]:
    """All decisions on these requests."""
    rows = await tx.run_among(_OF_MANY, request_ids)
    return [Decision(**row._mapping) for row in rows]


async def times(tx: Tx, since: datetime, until: datetime) -> list[DecisionTime]:
    """Requests made in the period, with each approval and rejection on them, in the order they were decided.

    A batch counts once; what was done at once (Freeze now) is not among them.
    """
    r, d = t.request.c, t.decision.c
    # Those of earlier requests need not be looked at; clocks differ by less.
    lately = d.decided_at >= since - timedelta(days=1)
    # In the words of the index, so that the database may use it.
    by_index = text("decision.kind <> 'resolve'")
    on_it = and_(
        d.request_id == r.id, lately, by_index, d.kind.in_((DecisionKind.APPROVE, DecisionKind.REJECT))
    )
    asked = (
        select(
            r.id.label("request_id"),
            *(r.state, r.requester, r.requester_name, r.created_at, r.approved_at),
            *(d.kind, d.actor, d.actor_name, d.decided_at),
        )
        .select_from(t.request.outerjoin(t.decision, on_it))
        .where(r.created_at >= since, r.created_at < until, r.parent_id.is_(None), r.break_glass.is_(False))
        .order_by(r.created_at, r.id, d.decided_at)
    )
    return [DecisionTime(**row._mapping) for row in (await tx.run(asked)).all()]
