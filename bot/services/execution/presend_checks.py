"""The last gate before the first byte: is what would be sent still what was approved, and may it go?

Everything here is read again at this moment. If any of it cannot be read, nothing is sent.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta

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
from bot.partner.errors import Forbidden, PartnerError, Unauthorized
from bot.services import people
from bot.services.core import Core
from bot.services.operators import programs
from bot.services.requests import (
    batch_approval,
    given,
    has_its_body,
    has_its_digest,
    local_facts,
    on_target,
)
from storage.errors import CannotOpen, Purged
from storage.requests import decisions, requests

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


def operation_of(core: Core, request: Request) -> Operation:
    """The operation as approved, private values masked: enough for everything but the frozen body."""
    return core.kinds[request.kind](request.terms, request.subject_label)


async def first_send(core: Core, request: Request) -> Answer:
    """None = go. Checks the seal of the terms, the approvals, the people, then the facts."""
    if request.is_batch:
        return _TAMPERED  # it is never due: its rows are sent
    if not planning.approval_is_valid(request, core.clock.now()):
        return Stop(Event.EXPIRE, "Approved, but it could not be sent in time. Nothing was sent.")
    answer = await _as_approved(core, request)
    if answer is not None:
        return answer
    try:
        stop = await _approvers_stand(core, request)
    except LookupFailed as error:
        return Later(str(error))
    return stop or await recheck(core, request)


async def repeat(core: Core, request: Request) -> Answer:
    """None = a repeat that may be the first to arrive is still allowed. The same checks as at first.

    What is urgent and was tried once in time does not lapse.
    A `Stop` with `alarm` forbids every call: what is stored cannot be trusted, the key included.
    """
    answer = await _as_approved(core, request)
    if answer is not None:
        return answer
    is_urgent = core.kinds[request.kind].handling.is_urgent
    if not is_urgent and not planning.approval_is_valid(request, core.clock.now()):
        return Later("The approval has lapsed.")
    try:
        stop = await _approvers_stand(core, request)
    except LookupFailed as error:
        return Later(str(error))
    return stop or await recheck(core, request)


_TAMPERED = Stop(
    Event.CANCEL,
    "What is stored is not what was approved. Nothing was sent. Keep the database as it is and look at"
    " `countersign audit verify`.",
    alarm=True,
)


async def _as_approved(core: Core, request: Request) -> Answer:
    """Digest, MACs and quorum: a row changed in the database by hand is not sent."""
    async with core.store.read() as tx:
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
    return _quorum(core, request, whole, words)


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


async def _approvers_stand(core: Core, request: Request) -> Stop | None:
    """Those who approved are still active approvers, and who asked may ask; raises LookupFailed."""
    if request.break_glass:
        return None
    async with core.store.read() as tx:
        made = await decisions.of(tx, request.id)
        approved = given(tx.vault, request, made, DecisionKind.APPROVE)
        whole = await batch_approval.decided_on(tx, request)
    if core.kinds[request.kind].handling.asked_by_admins and request.requester not in await people.admins(
        core
    ):
        text = f"{request.requester_name} is no longer an admin. Nothing was sent; ask again."
        return Stop(Event.CANCEL, text)
    standing = await people.standing(core)
    for decision in approved:
        actor = await core.directory.actor(decision.actor)
        reason = why_not_second(actor.id, asked_by=request.requester, standing=standing)
        if reason is Reason.NOT_AN_APPROVER or not is_full_member(actor, core.directory.home_team):
            return Stop(
                Event.CANCEL,
                f"{decision.actor_name} approved this but is no longer an approver. Nothing was sent; ask again.",
            )
    counted = second_people((d.actor for d in approved), asked_by=request.requester, standing=standing)
    if len(counted) < max(whole.approvals_needed, _needed_now(core, whole)):
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
    operation = operation_of(core, request)
    must = operation.handling.must_recheck
    try:
        async with asyncio.timeout(None if must else local_facts.READ_WITHIN_S):
            if request.parent_id is None:
                facts = await operation.read(core.partners[request.program])
            else:
                facts = await type(operation).of_many().row_facts(operation, core.partners[request.program])
    except (Unauthorized, Forbidden) as error:
        await programs.pause(core, request.program, error)
        return Later("Sending to this program is paused: the API does not take the key.")
    except PartnerError as error:
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
    return await _no_new_doubt(core, request, operation)


async def _no_new_doubt(core: Core, request: Request, operation: Operation) -> Stop | None:
    """An unknown outcome on the same card that the approvers could not know of stops a further payment."""
    if not operation.handling.doubts or request.state is not State.APPROVED:
        return None
    async with core.store.read() as tx:
        now = await on_target(tx, operation)
    fresh = set(now["unresolved"]) - set(request.facts.get("unresolved", ())) - {request.id}
    if not fresh:
        return None
    return Stop(
        Event.CANCEL,
        f"{', '.join(sorted(fresh))} on the same card has no known outcome since this was asked for, so it might"
        " pay twice. Nothing was sent; ask again, and the approvers will see both.",
    )
