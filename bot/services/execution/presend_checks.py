"""Before the first byte: is what would be sent still what was approved, and may it go?

Two looks. `may_go` takes its time: it asks Slack for the people and the API for the facts. `last_look` is made in
the transaction of the claim, after everything that waits, and reads the database alone: a pause, a cancel, an
expiry, a lost approval or a newer request that was committed before it stops the call. If anything cannot be read,
nothing is sent.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.errors import CountersignError, LookupFailed
from bot.domain.people import APPROVAL_VALID_FOR, is_full_member
from bot.domain.requests import (
    Decision,
    DecisionKind,
    Event,
    Reason,
    Request,
    State,
    second_people,
    why_not_second,
)
from bot.operations import Operation
from bot.outcomes import planning
from bot.partner.client import PartnerClient
from bot.partner.errors import PartnerError, Unauthorized
from bot.partner.ratelimit import Lane
from bot.services import people
from bot.services.core import Core
from bot.services.operators import programs
from bot.services.requests import (
    batch_approval,
    given,
    has_its_body,
    has_its_digest,
    local_facts,
)
from storage.errors import CannotOpen, Purged
from storage.requests import decisions, requests
from storage.transaction import Tx

RETRY_AFTER = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Stop:
    """Nothing is sent and the request ends. `alarm` asks for a top-severity alert."""

    event: Event
    text: str
    alarm: bool = False


@dataclass(frozen=True, slots=True)
class Later:
    """It cannot be told just now; ask again after a moment."""

    text: str


Answer = Stop | Later | None

# A newer request in one of these states has taken effect on the setting, or may yet.
_COUNTS = (State.APPROVED, State.EXECUTING, State.UNRESOLVED, State.SUCCEEDED)


@dataclass(frozen=True, slots=True)
class _Approved:
    """What people decided: their genuine decisions, and what these are about (a row's is its batch)."""

    words: list[Decision]
    whole: Request


def operation_of(core: Core, request: Request) -> Operation:
    """The operation as approved, private values masked: enough for everything but the frozen body."""
    return core.kinds[request.kind](request.terms, request.subject_label)


def partner_of(core: Core, request: Request) -> PartnerClient:
    """The client for all calls of this request; what is urgent has the lane that nothing else uses."""
    partner = core.partners[request.program]
    return partner.in_lane(Lane.URGENT) if core.kinds[request.kind].handling.is_urgent else partner


async def may_go(core: Core, request: Request) -> Answer:
    """None = go on to the last look. What is stored, the approvals, the people, then the facts; this may take long.

    For a request that was sent before, None means that a repeat which may be the first to arrive is still allowed.
    A `Stop` with `alarm` forbids every call: what is stored cannot be trusted, the key included.
    """
    async with core.store.read() as tx:
        found = await _as_approved(tx, core, request)
    if not isinstance(found, _Approved):
        return found
    lapsed = _lapsed(core, request, core.clock.now())
    if lapsed is not None:
        return lapsed
    try:
        stop = await _approvers_stand(core, request, found)
    except LookupFailed as error:
        # What is urgent only makes things safer: while Slack cannot say more, the signed approval is enough.
        if not core.kinds[request.kind].handling.is_urgent:
            return Later(str(error))
        stop = None
    return stop or await recheck(core, request)


async def last_look(tx: Tx, core: Core, request: Request) -> Answer:
    """None = send it, at once: nothing is asked and nothing waits any more. In the transaction of the claim.

    Reads again what people may have changed in the meantime: the approval, its time, newer requests on the same
    setting, and others on the same target.
    """
    found = await _as_approved(tx, core, request)
    if not isinstance(found, _Approved):
        return found
    lapsed = _lapsed(core, request, tx.now)
    if lapsed is not None:
        return lapsed
    newer = await _superseded_by(tx, core, request)
    if newer is None:
        return await _others_on_target(tx, core, request)
    if request.state is State.APPROVED:
        text = f"{newer.id}, which was approved later, decides this now ({newer.summary}). Nothing was sent."
        return Stop(Event.CANCEL, text)
    return Later(f"{newer.id}, a newer request on the same target, was approved.")


def _lapsed(core: Core, request: Request, now: datetime) -> Answer:
    """None while the approval is valid. What is urgent and was tried once in time does not lapse."""
    if planning.approval_is_valid(request, now):
        return None
    if request.state is State.APPROVED:
        return Stop(Event.EXPIRE, "Approved, but it could not be sent in time. Nothing was sent.")
    return None if core.kinds[request.kind].handling.is_urgent else Later("The approval has lapsed.")


async def _superseded_by(tx: Tx, core: Core, request: Request) -> Request | None:
    """The newest request on the same setting that was approved later and has not come to nothing."""
    kinds = core.kinds[request.kind].handling.superseded_by
    if not kinds or request.approved_at is None:
        return None
    others = await requests.find(tx, states=_COUNTS, subject=request.subject, kinds=kinds)
    newer = [o for o in others if o.program == request.program and _is_newer(o, request)]
    return max(newer, key=_decided, default=None)


def _is_newer(other: Request, request: Request) -> bool:
    return other.approved_at is not None and _decided(other) > _decided(request)


def _decided(request: Request) -> tuple[datetime, datetime]:
    """When it was approved, and of two approved at one moment, when it was asked for."""
    return request.approved_at or request.created_at, request.created_at


async def _others_on_target(tx: Tx, core: Core, request: Request) -> Answer:
    """What is under way on the same target goes first; what nobody knows the outcome of stops a further payment."""
    handling = core.kinds[request.kind].handling
    if request.state is not State.APPROVED or not request.subject:
        return None
    if not (handling.alone or handling.doubts):
        return None
    kinds = None if handling.alone else handling.doubts
    found = await requests.find(
        tx, states=(State.EXECUTING, State.UNRESOLVED), subject=request.subject, kinds=kinds
    )
    others = [other for other in found if other.program == request.program]
    if handling.alone:
        return _turn_after(others)
    known = request.facts.get("unresolved", ())
    in_doubt = sorted(o.id for o in others if _is_in_doubt(o) and o.id not in known)
    if not in_doubt:
        return _turn_after([o for o in others if not _is_in_doubt(o)])
    return Stop(
        Event.CANCEL,
        f"{', '.join(in_doubt)} on the same card has no known outcome since this was asked for, so it might"
        " pay twice. Nothing was sent; ask again, and the approvers will see both.",
    )


def _is_in_doubt(other: Request) -> bool:
    """Nobody knows what became of it; a call that has just not been answered yet is no doubt."""
    return other.state is State.UNRESOLVED or other.outcome_unknown


def _turn_after(others: list[Request]) -> Later | None:
    ids = ", ".join(sorted(other.id for other in others))
    return Later(f"It waits for {ids}, which is under way.") if ids else None


_TAMPERED = Stop(
    Event.CANCEL,
    "What is stored is not what was approved. Nothing was sent. Keep the database as it is and look at"
    " `countersign audit verify`.",
    alarm=True,
)


async def _as_approved(tx: Tx, core: Core, request: Request) -> _Approved | Stop | Later:
    """Digest, MACs and quorum: a row changed in the database by hand is not sent."""
    if not has_its_digest(tx.vault, request) or request.is_batch:
        return _TAMPERED
    try:
        frozen = await requests.frozen(tx, request.id)
    except CannotOpen:
        return _TAMPERED
    except Purged:
        if request.state is State.APPROVED:
            return _TAMPERED
        return Later("Its details were deleted, so it can only be looked up.")
    if not has_its_body(tx.vault, request, frozen.body):
        return _TAMPERED
    if request.parent_id is not None and not await batch_approval.batch_stands(tx, request):
        return _TAMPERED
    kind = DecisionKind.BREAK_GLASS if request.break_glass else DecisionKind.APPROVE
    words = given(tx.vault, request, await decisions.of(tx, request.id), kind)
    whole = await batch_approval.decided_on(tx, request)
    return _quorum(core, request, whole, words) or _Approved(words, whole)


def _quorum(core: Core, request: Request, whole: Request, words: list[Decision]) -> Stop | None:
    """Enough genuine approvals, made when the row says they were, and by today's policy still enough.

    `whole` is what people decided on: the request itself, or the batch that it is a row of.
    """
    # The deciding approval need not be the latest by the clock: a clock may have stepped back before it.
    if request.approved_at is None or request.approved_at not in {d.decided_at for d in words}:
        return _TAMPERED
    if request.valid_until != request.approved_at + APPROVAL_VALID_FOR:
        return _TAMPERED
    if request.break_glass:
        allowed = core.policy.of(request.kind).now and core.kinds[request.kind].handling.can_run_now
        return None if allowed and {d.actor for d in words} == {request.requester} else _TAMPERED
    approvers = second_people((d.actor for d in words), asked_by=request.requester)
    if len(approvers) < whole.approvals_needed or request.approved_at > request.expires_at:
        return _TAMPERED
    needed = _needed_now(core, whole)
    if len(approvers) < needed:
        return Stop(Event.CANCEL, f"The policy now asks for {needed} approvals. Nothing was sent; ask again.")
    return None


async def _approvers_stand(core: Core, request: Request, found: _Approved) -> Stop | None:
    """Those who approved are still active approvers, and who asked may ask; raises LookupFailed."""
    if request.break_glass:
        return None
    roles = await people.roles_to_send(core)
    standing = roles.standing
    if core.kinds[request.kind].handling.asked_by_admins and request.requester not in roles.admins:
        text = f"{request.requester_name} is no longer an admin. Nothing was sent; ask again."
        return Stop(Event.CANCEL, text)
    for decision in found.words:
        actor = await people.actor_to_send(core, decision.actor)
        reason = why_not_second(actor.id, asked_by=request.requester, standing=standing)
        if reason is Reason.NOT_AN_APPROVER or not is_full_member(actor, core.directory.home_team):
            return Stop(
                Event.CANCEL,
                f"{decision.actor_name} approved this but is no longer an approver. Nothing was sent; ask again.",
            )
    counted = second_people((d.actor for d in found.words), asked_by=request.requester, standing=standing)
    if len(counted) < max(found.whole.approvals_needed, _needed_now(core, found.whole)):
        text = "Some of those who decided on this count as one person now, by delegation."
        return Stop(Event.CANCEL, f"{text} Nothing was sent; ask again.")
    return None


def _needed_now(core: Core, whole: Request) -> int:
    """How many approvals today's policy asks for."""
    return core.policy.of(whole.kind).approvals_needed(whole.exposure_usd)


async def recheck(core: Core, request: Request) -> Answer:
    """Do the facts still allow it? Reads the API live; a kind may choose to act when it cannot be read.

    Such a kind waits for the reading a moment only.
    """
    operation, partner = operation_of(core, request), partner_of(core, request)
    must = operation.handling.must_recheck
    try:
        async with asyncio.timeout(None if must else local_facts.READ_WITHIN_S):
            if request.parent_id is None:
                facts = await operation.read(partner)
            else:
                facts = await type(operation).of_many().row_facts(operation, partner)
    except PartnerError as error:
        await programs.key_refused(core, request.program, error)
        if isinstance(error, Unauthorized):
            return Later("Sending to this program is paused: the API does not take the key.")
        return Later(f"The API could not be read: {error.message}") if must else None
    except TimeoutError:
        return None
    except CountersignError as error:
        return Later(str(error))
    async with core.store.read() as tx:
        facts = {**facts, **await local_facts.facts(tx, operation, request.program)}
    stops = operation.stops(facts, again=request.state is not State.APPROVED)
    if stops:
        return Stop(Event.CANCEL, f"{' '.join(stops)} Nothing was sent; ask again when it fits.")
    return None
