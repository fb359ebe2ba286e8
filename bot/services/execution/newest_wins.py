"""Of several requests on one setting the one approved last decides; what an older one may still do to it.

Which one that is, the audit log says: see `storage.log_record.approval_order`. Two requests are on one setting where
they set something in common: of two limits of a card neither touches the other.

A call that is on its way cannot be called back. So what can wait is sent only when no older call on its setting can
land after it. What cannot wait is sent at once, and is not called done while an older call has no outcome.
"""

from __future__ import annotations

import operator
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from bot.domain.requests import Conditions, DecisionKind, Request, State
from bot.operations import urgency
from bot.outcomes import planning
from bot.services.core import Core
from bot.services.requests import given, has_its_digest
from storage.log_record import KEPT_FOR, ApprovalOrder, Count, Counted, Moment, approval_order
from storage.requests import attempts, decisions, requests
from storage.transaction import Tx

# A newer request in one of these states has taken effect on the setting, or may yet.
_COUNTS = (State.APPROVED, State.EXECUTING, State.UNRESOLVED, State.SUCCEEDED)
_UNDER_WAY = (State.EXECUTING, State.UNRESOLVED)
_SENT = (*_UNDER_WAY, State.SUCCEEDED, State.FAILED)
# So long what can wait leaves time for a last look at an older one.
LOOKED_AT_WITHIN = timedelta(minutes=1)
# Nobody has more of a setting requested in two days; what somebody invents must not hide the true ones.
_MOST = 500
Side: TypeAlias = Callable[[Moment, Moment], bool]
_EARLIER: Side = operator.lt
_LATER: Side = operator.gt


async def newer(tx: Tx, core: Core, request: Request, *, decides: bool = False) -> Request | None:
    """The newest request on the same setting that was approved later and has not come to nothing.

    It `decides` whether this one is sent: then those approved later have to be in the database as on record. Of what
    cannot wait none decides that any approver can still stop: it may come to nothing, and nothing would have been done.
    """
    found = await _on_its_setting(tx, core, request, _COUNTS, leans_on=_LATER if decides else None)
    is_urgent = core.kinds[request.kind].handling.is_urgent
    for other in reversed(found.later):
        if not (decides and is_urgent and await _may_be_stopped(tx, other)):
            return other
    return None


async def _may_be_stopped(tx: Tx, request: Request) -> bool:
    """Does it wait for the time in which any approver can stop it? By what its approvals say, which is signed."""
    if request.state is not State.APPROVED or request.break_glass or request.approved_at is None:
        return False
    whole = await requests.get(tx, request.parent_id or request.id)
    if whole is None:
        return False
    words = given(tx.vault, whole, await decisions.of(tx, whole.id), DecisionKind.APPROVE)
    return tx.now < request.approved_at + Conditions.of(words).waits


async def goes_first(tx: Tx, core: Core, request: Request) -> list[Request]:
    """Older ones that would set otherwise, and of which a call may still be on its way or a last look is due.

    That look is the last one to tell what became of them: once this one is sent, the setting shows this one. It is
    waited for a little. They have to be in the database as on record, as in `newer`.
    """
    found = await _in_doubt(tx, core, request, leans_on=_EARLIER)
    return [older for older, history in found if _comes_first(history, tx.now)]


def _comes_first(history: planning.History, now: datetime) -> bool:
    if not history.is_quiet(now):
        return True
    return not history.is_looked_at and not history.is_quiet(now - LOOKED_AT_WITHIN)


async def without_outcome(tx: Tx, core: Core, request: Request) -> list[Request]:
    """Older ones that would set otherwise, were sent, and of which it is not known yet what became of them.

    Without those of which it never will be, because this one has replaced them: nothing of theirs can still arrive.
    """
    return [older for older, history in await _in_doubt(tx, core, request) if not history.is_replaced]


async def sent_since(tx: Tx, core: Core, request: Request) -> list[Request]:
    """Newer ones on the same setting that have taken effect on it, or may have; in the order of their approval."""
    later = (await _on_its_setting(tx, core, request, _SENT)).later
    return [other for other in later if await _may_have_acted(tx, core, other)]


async def _may_have_acted(tx: Tx, core: Core, request: Request) -> bool:
    if request.state is State.SUCCEEDED or urgency.is_for_now(request):
        return True
    if request.state is State.FAILED:
        return request.outcome_unknown
    made = await attempts.of(tx, request.id)
    return planning.History.of(made, core.kinds[request.kind].endpoint).leaves_a_doubt


async def wake_newer(core: Core, request: Request) -> None:
    """This one was just answered or looked up: a newer one that is under way is looked at now."""
    if not core.kinds[request.kind].handling.superseded_by:
        return
    async with core.store.read() as tx:
        found = await newer(tx, core, request)
    if found is None or found.state not in _UNDER_WAY:
        return
    async with core.store.begin() as tx:
        if await tx.lasts(found.lease_until):
            return
        await requests.put_off(tx, found, tx.now)
        await core.carry_out(tx, found)


def that_it_decides(newer: Request) -> str:
    """What is said of an older request that was carried out all the same."""
    sentence = f"{newer.id}, which was approved later, decides: {newer.summary}."
    if newer.state is State.SUCCEEDED:
        return f"{sentence} It had been done before this: see what is set now."
    return f"{sentence} It is under way."


async def _in_doubt(
    tx: Tx, core: Core, request: Request, leans_on: Side | None = None
) -> list[tuple[Request, planning.History]]:
    found = []
    for other in (await _on_its_setting(tx, core, request, _UNDER_WAY, leans_on)).earlier:
        if other.body_mac == request.body_mac:
            continue
        made = await attempts.of(tx, other.id)
        history = planning.History.of(made, core.kinds[other.kind].endpoint)
        if history.leaves_a_doubt:
            found.append((other, history))
    return found


@dataclass(frozen=True, slots=True)
class _Found:
    """Others on the setting of a request that were approved before it, and after it, each in that order."""

    earlier: list[Request]
    later: list[Request]


async def _on_its_setting(
    tx: Tx, core: Core, request: Request, states: tuple[State, ...], leans_on: Side | None = None
) -> _Found:
    kinds = core.kinds[request.kind].handling.superseded_by
    if not kinds or request.approved_at is None:
        return _Found([], [])

    async def read() -> tuple[list[Request], ApprovalOrder]:
        found = await requests.find(
            tx, program=request.program, states=states, subject=request.subject, kinds=kinds, limit=_MOST
        )
        return found, await approval_order.of(tx, [request, *found])

    found, order = await read()
    if leans_on is not None:
        requests.lean_on(tx, _as_counted(tx, request, kinds, states, leans_on, (found, order), read))
    sets = _settings(core, request)
    others = [other for other in found if other.id != request.id and sets & _settings(core, other)]
    others.sort(key=order)
    moment = order(request)
    return _Found(
        [other for other in others if order(other) < moment],
        [other for other in others if order(other) > moment],
    )


def _as_counted(
    tx: Tx,
    request: Request,
    kinds: Collection[str],
    states: Collection[State],
    leans_on: Side,
    found: tuple[list[Request], ApprovalOrder],
    read: Callable[[], Awaitable[tuple[list[Request], ApprovalOrder]]],
) -> Count:
    """Those of them that are leant on: as they were requested, and approved when the audit log says."""

    def counts(one: Counted) -> bool:
        is_there = (one.program, one.subject) == (request.program, request.subject)
        order = found[1]
        return is_there and one.kind in kinds and one.state in states and leans_on(order(one), order(request))

    def said(rows: Iterable[Request], order: ApprovalOrder) -> dict[str, object]:
        return {
            one.id: _as_approved(one)
            for one in rows
            if leans_on(order(one), order(request)) and has_its_digest(tx.vault, one, as_proof=True)
        }

    async def again() -> dict[str, object]:
        return said(*await read())

    return Count(tx.now - KEPT_FOR, counts, _as_approved, said(*found), again)


def _settings(core: Core, request: Request) -> frozenset[str]:
    return core.kinds[request.kind].of_stored(request.terms, request.subject_label).settings


def _as_approved(one: Request | Counted) -> tuple[datetime | None, datetime, str]:
    return one.approved_at, one.created_at, one.digest
