"""Decisions: one per person and kind on a request, and unique in the database, too.

Only what people say of an unknown outcome may be said again, differently: all of it is kept, the newest counts.

Whoever can write to the database can put a decision there in anybody's name. While its request is open, one that is not
genuine, or that the audit log does not have, is none: it counts for nothing, and is in nobody's way.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from sqlalchemy import and_, bindparam, delete, select, text, update

from bot.domain.errors import AlreadyDecided, OwnRequest
from bot.domain.requests import (
    BY_ANOTHER,
    Decision,
    DecisionKind,
    DecisionTime,
    decision_bytes,
    fingerprints,
)
from storage import audit
from storage import tables as t
from storage.errors import ChangedOutside
from storage.log_record import on_record, open_requests
from storage.transaction import Tx, one_of
from storage.upsert import insert_new
from storage.vault import Vault

LABEL = "approval_mac"
"""Of the MACs of decisions."""

_D = t.decision.c
_OF_MANY = one_of(select(t.decision), _D.request_id)
_OF = select(t.decision).where(_D.request_id == bindparam("request_id")).order_by(_D.decided_at, _D.id)


async def insert(tx: Tx, decision: Decision) -> None:
    """Raises `AlreadyDecided` for a second decision of a kind that is made once, `OwnRequest` for one's own request."""
    if decision.kind in BY_ANOTHER and decision.actor == decision.requester:
        raise OwnRequest
    if not await insert_new(tx, t.decision, asdict(decision)):
        in_its_place = (decision.kind, decision.actor)
        if any((one.kind, one.actor) == in_its_place for one in await of(tx, decision.request_id)):
            raise AlreadyDecided(f"Your decision on {decision.request_id} is in already.")
        await _take_out(tx, decision)
        if not await insert_new(tx, t.decision, asdict(decision)):
            raise ChangedOutside(
                f"The database did not keep your decision on {decision.request_id}: something in it is in the way, or"
                " undoes what Countersign writes. Nothing was recorded. Tell an admin."
            )
    # For the entry about the request.
    tx.words.setdefault(decision.request_id, {})[decision.id] = fingerprints.of_words(decision)


async def drop_approvals(tx: Tx, request_id: str) -> int:
    """Approvals fall when what was approved is asked for otherwise; the audit log keeps them. Returns how many."""
    d = t.decision.c
    gone = delete(t.decision).where(d.request_id == request_id, d.kind == DecisionKind.APPROVE)
    return (await tx.run(gone)).rowcount


async def _take_out(tx: Tx, decision: Decision) -> None:
    """What somebody else wrote where this one is to be."""
    mine = (_D.request_id == decision.request_id, _D.kind == decision.kind, _D.actor == decision.actor)
    await tx.run(delete(t.decision).where(*mine))


def mac(vault: Vault, decision: Decision) -> str:
    """Binds a decision to who made it, when, and about which terms; its `mac` is not read."""
    return vault.mac(LABEL, decision_bytes(decision))


def is_genuine(vault: Vault, decision: Decision, *, as_proof: bool = False) -> bool:
    """Was this row written by us, and is it as we wrote it? `as_proof`: for the record alone, so that what a retired
    master key signed counts, too."""
    return vault.check_mac(LABEL, decision_bytes(decision), decision.mac, as_proof=as_proof)


async def of(tx: Tx, request_id: str) -> list[Decision]:
    """The decisions on a request that we wrote and the audit log has, in the order they were made; people are notified
    of others. Where the request is not open by the log, all of them, but for a confirmation that nobody gave.

    What somebody said of how it ended stays among them where it was edited since: see `newest_words`.
    """
    made = await all_of(tx, request_id)
    if tx.writes:
        known = await on_record.open_request(tx, request_id)
    else:
        known = (await on_record.known(tx)).open.get(request_id)
    if known is None and any(one.kind is DecisionKind.CONFIRM for one in made):
        return await _with_true_confirmations(tx, request_id, made)
    found = _judged(tx, request_id, made, known, sees_all=tx.writes)
    if not found.is_wrong:
        return found.kept
    known = (await on_record.of(tx)).open.get(request_id)
    while tx.writes:
        # On PostgreSQL another process may have decided, or signed again, between two readings: of one moment are rows
        # before and after which the log says the same of their request.
        made, before = await all_of(tx, request_id), known
        known = (await on_record.of(tx)).open.get(request_id)
        if known == before:
            break
    found = _judged(tx, request_id, made, known, sees_all=tx.writes)
    if found.is_edited:
        tx.chain.rows_met.add(t.decision.name)
    return found.kept


async def _with_true_confirmations(tx: Tx, request_id: str, made: list[Decision]) -> list[Decision]:
    """What was done at once is confirmed once it has ended, when what was read of the log knows it no more."""
    said = set[str]()
    async for entry in audit.about(tx, f"request:{request_id}"):
        if (entry.action, entry.outcome) == (open_requests.CONFIRMED, "ok") and audit.is_genuine(tx, entry):
            # An older version did not say by which decision.
            said.update(open_requests.read_body(entry.body).get(open_requests.WORDS, (entry.actor,)))
    kept = [
        one
        for one in made
        if one.kind is not DecisionKind.CONFIRM
        or (said & {one.id, one.actor} and is_genuine(tx.vault, one, as_proof=True))
    ]
    if len(kept) < len(made):
        tx.chain.rows_met.add(t.decision.name)
    return kept


@dataclass(frozen=True, slots=True)
class _Judged:
    """`kept`: those that count. `is_wrong`: there are others, or one is not there; `is_edited`: no retired key explains
    that."""

    kept: list[Decision]
    is_wrong: bool
    is_edited: bool


def _judged(
    tx: Tx,
    request_id: str,
    made: Sequence[Decision],
    known: open_requests.OpenRequest | None,
    *,
    sees_all: bool,
) -> _Judged:
    """`sees_all`: were they read at a moment that is not before the one of the log?"""
    if known is None:
        return _Judged(list(made), is_wrong=False, is_edited=False)
    own = tuple(tx.words.get(request_id, ()))  # of which the entry comes next
    on_log = (*known.decided, *own) if known.decided is not None else tuple(one.id for one in made)
    order = {decision_id: n for n, decision_id in enumerate(on_log)}
    ours = sorted((one for one in made if one.id in order), key=lambda one: order[one.id])
    edited = [one for one in ours if not is_genuine(tx.vault, one)]
    kept = [one for one in ours if one.kind is DecisionKind.RESOLVE or one not in edited]
    # This transaction may take some out, before it says so.
    is_gone = sees_all and request_id not in tx.was and len(ours) < len(order)
    is_other = len(ours) < len(made) or is_gone
    is_edited = is_other or not all(is_genuine(tx.vault, one, as_proof=True) for one in edited)
    return _Judged(kept, is_wrong=is_other or bool(edited), is_edited=is_edited)


async def not_on_record(tx: Tx) -> bool:
    """Is there a decision on an open request that we did not write, or of which the audit log knows nothing, or is one
    not there? Raises `LogNotWhole`."""
    known = (await on_record.of(tx)).open
    made: dict[str, list[Decision]] = {}
    for one in await of_many(tx, known):
        made.setdefault(one.request_id, []).append(one)
    return any(
        _judged(tx, request_id, made.get(request_id, ()), one, sees_all=True).is_edited
        for request_id, one in known.items()
    )


async def all_of(tx: Tx, request_id: str) -> list[Decision]:
    """All there are, in the order they were made by their rows."""
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
