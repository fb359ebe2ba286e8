"""Attempts: each call to the Partner API is on record before its first byte leaves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from itertools import count

from sqlalchemy import bindparam, insert, select, update

from bot.domain.requests import Attempt, Request
from storage import tables as t
from storage.columns import time_text
from storage.log_record import on_record, open_requests
from storage.transaction import Tx, one_of
from storage.upsert import insert_new
from storage.vault import length_prefixed

_OF = select(t.attempt).where(t.attempt.c.request_id == bindparam("request_id")).order_by(t.attempt.c.number)
_MAC_DIGITS = 32  # 128 bits
_START = insert(t.attempt)
_A = t.attempt.c
_ANSWER = update(t.attempt).where(_A.id == bindparam("attempt_id"), _A.answered_at.is_(None))
_OF_MANY = one_of(select(t.attempt), _A.request_id)


async def start(tx: Tx, request: Request, purpose: str, *, after: Sequence[Attempt] | None = None) -> Attempt:
    """Record that the holder of the request's lease is about to call. `purpose`: send, replay or look.

    `after`: those on record (`on_record_of`), where the caller has read them in this transaction: its number follows
    theirs. One that somebody invented under that number is passed over, and people are notified.
    """
    made = await of(tx, request.id) if after is None else after
    known = await on_record.open_request(tx, request.id)
    taken = {attempt.number for attempt in made}
    number = max(taken, default=0) + 1
    if known is None or known.made is None:  # an invented one may be among them
        number = _first_free(len(taken) + 1, taken)
    attempt = _numbered(tx, request, purpose, number)
    if not await insert_new(tx, t.attempt, asdict(attempt)):
        tx.chain.rows_met.add(t.attempt.name)
        there = await tx.run_with_all(select(_A.number).where(_A.request_id == request.id))
        attempt = _numbered(tx, request, purpose, _first_free(number, set(there.scalars())))
        await tx.run(_START, asdict(attempt))
    return attempt


def _first_free(number: int, taken: Collection[int]) -> int:
    return next(one for one in count(number) if one not in taken)


def _numbered(tx: Tx, request: Request, purpose: str, number: int) -> Attempt:
    """Its id is known to nobody before it is there, so that nobody has taken it."""
    of_it = length_prefixed(request.id.encode(), str(number).encode(), time_text(tx.now).encode())
    return Attempt(
        id=f"{request.id}.{number}.{tx.vault.mac('attempt', of_it)[-_MAC_DIGITS:]}",
        request_id=request.id,
        number=number,
        fence=request.fence,
        owner=request.lease_owner or "",
        purpose=purpose,
        sent_at=tx.now,
    )


async def answer(
    tx: Tx,
    attempt: Attempt,
    *,
    status: int | None,
    code: str | None,
    certainty: str | None,
    finding: str | None,
    detail: str = "",
) -> bool:
    """Record what came back; False when an answer is on record already, which then stands."""
    values = {
        "attempt_id": attempt.id,
        "answered_at": tx.now,
        "status": status,
        "code": code,
        "certainty": certainty,
        "finding": finding,
        "detail": detail,
    }
    return bool((await tx.run(_ANSWER, values)).rowcount)


async def of(tx: Tx, request_id: str) -> list[Attempt]:
    """The attempts for a request that the audit log has, in order."""
    return await on_record_of(tx, request_id, await all_of(tx, request_id))


async def on_record_of(tx: Tx, request_id: str, made: Sequence[Attempt]) -> list[Attempt]:
    """Those of these attempts for a request that the audit log has: nothing goes by one that somebody invented, and
    people are notified. All of them, where an older version made some, or the request is not open by the log."""
    if not made or _is_known(await on_record.open_request(tx, request_id), made):
        return list(made)
    known = (await on_record.of(tx)).open.get(request_id)
    if _is_known(known, made):
        return list(made)
    tx.chain.rows_met.add(t.attempt.name)
    return [one for one in made if known is not None and _is_known(known, [one])]


def _is_known(known: open_requests.OpenRequest | None, made: Iterable[Attempt]) -> bool:
    return known is None or known.made is None or all(one.number in known.made for one in made)


async def not_on_record(tx: Tx) -> bool:
    """Is there an attempt for an open request of which the audit log knows nothing? Raises `LogNotWhole`."""
    known = (await on_record.of(tx)).open
    return any(not _is_known(known[key], made) for key, made in (await of_many(tx, known)).items())


async def all_of(tx: Tx, request_id: str) -> list[Attempt]:
    """All there are, in order."""
    return [Attempt(**row._mapping) for row in (await tx.run(_OF, {"request_id": request_id})).all()]


async def of_many(tx: Tx, request_ids: Collection[str]) -> dict[str, list[Attempt]]:
    """The same of each of these requests that has any."""
    found = defaultdict[str, list[Attempt]](list)
    for row in await tx.run_among(_OF_MANY, request_ids):
        found[row.request_id].append(Attempt(**row._mapping))
    return {key: sorted(made, key=lambda one: one.number) for key, made in found.items()}
