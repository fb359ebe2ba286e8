"""Carrying out an approved request once, whatever dies in between.

    claim    approved → executing, lease, fence + 1, an attempt without an answer   committed before any byte leaves
    call     the stored key and the frozen bytes                                    no transaction open
    finish   WHERE fence = mine: the outcome, the audit, the messages owed          else nothing is written

A claim that finds an unanswered attempt knows that nobody knows: `outcome_unknown` is set for good,
and from then on no refusal alone proves a failure. Which answers prove what is in
`bot.partner.answers`; what to do next is in `bot.outcomes.planning`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from bot.domain.requests import Attempt, Event, Request, State, moves_of
from bot.operations import Operation
from bot.outcomes import Finding, Outcome, effects, planning
from bot.partner.errors import PartnerError
from bot.services.cards import card_sync
from bot.services.core import Core
from bot.services.execution import effect_writer, ending_without_a_call, presend_checks
from bot.services.operators import programs
from bot.services.requests import close
from storage.errors import CannotOpen, Purged
from storage.operators import pauses
from storage.requests import attempts, requests
from storage.transaction import Tx

log = logging.getLogger("countersign.execution")


@dataclass(frozen=True, slots=True)
class _Work:
    """One claim: the request as claimed, its operation, and the attempt this claim makes."""

    request: Request
    operation: Operation
    attempt: Attempt
    history: planning.History
    approval_holds: bool


@dataclass(frozen=True, slots=True)
class _Answered:
    """What came back, for the attempt row."""

    outcome: Outcome
    status: int | None = None
    code: str | None = None
    certainty: str | None = None
    finding: str = ""


async def execute(core: Core, request_id: str) -> None:
    """Send, repeat or look once for a request that is due. Safe to call at any time, from anywhere."""
    async with core.store.read() as tx:
        request = await requests.get(tx, request_id)
    if request is None or request.program not in core.partners:
        return
    if request.state not in moves_of(Event.CLAIM):
        return
    if request.is_batch and request.due_at is None:
        return  # its rows are sent
    if await ending_without_a_call.nothing_to_call(core, request):
        return
    answer = await (presend_checks.first_send if request.state is State.APPROVED else _may_repeat)(
        core, request
    )
    if request.state is State.APPROVED and answer is not None:
        await _hold_back(core, request, answer)
        return
    if isinstance(answer, presend_checks.Stop) and answer.alarm:
        await ending_without_a_call.stop_tampered(core, request)
        return
    core.crash_point("execution.before_claim")
    work = await _claim(core, request_id, approval_holds=answer is None)
    if work is None:
        return
    core.crash_point("execution.claimed")
    async with _lease_kept(core, work.request):
        answered = await _call(core, work)
    in_doubt = work.request.outcome_unknown
    outcome = work.operation.in_its_words(answered.outcome, in_doubt=in_doubt)
    answered = replace(answered, outcome=outcome)
    core.crash_point("execution.answered")
    await _finish(core, work, answered)
    core.crash_point("execution.finished")
    if answered.outcome.finding is Finding.SUCCEEDED:
        await _refresh_card(core, work, answered)


async def _refresh_card(core: Core, work: _Work, answered: _Answered) -> None:
    """Show the card as it now is. A failed read is made up for: the reading is owed."""
    card_id = work.operation.changed_card(answered.outcome)
    if card_id is None:
        return
    try:
        await card_sync.refresh_card(core, work.request.program, card_id)
    except PartnerError as error:
        log.info("execution.card_not_read", extra={"request": work.request.id, "error": str(error)})


async def _may_repeat(core: Core, request: Request) -> presend_checks.Answer:
    """None while the approval and the facts still allow a repeat that may be the first to arrive."""
    answer = await presend_checks.repeat(core, request)
    if answer is None and await _superseded(core, request):
        return presend_checks.Later("A newer request on the same target was approved.")
    return answer


async def _superseded(core: Core, request: Request) -> bool:
    kinds = core.kinds[request.kind].handling.superseded_by
    if not kinds or request.approved_at is None:
        return False
    async with core.store.read() as tx:
        others = await requests.find(tx, subject=request.subject, limit=50)
    same = (o for o in others if o.kind in kinds and o.program == request.program)
    return any(o.approved_at is not None and o.approved_at > request.approved_at for o in same)


async def _hold_back(
    core: Core, request: Request, answer: presend_checks.Stop | presend_checks.Later
) -> None:
    """Nothing is sent: the request ends, or is tried again in a moment while its approval is valid."""
    async with core.store.begin() as tx:
        current = await requests.get(tx, request.id)
        if current is None or current.version != request.version:
            return
        if isinstance(answer, presend_checks.Later):
            held = await requests.touch(
                tx, current, due_at=tx.now + presend_checks.RETRY_AFTER, outcome_text=answer.text
            )
            if core.kinds[held.kind].handling.is_urgent:
                await effect_writer.write(tx, core, held, effects.of_holding_back(held))
            return
        await close(tx, core, current, answer.event, "system:execution", answer.text)
        if answer.alarm:
            await effect_writer.write(tx, core, request, effects.of_tampering(request))


async def _claim(core: Core, request_id: str, *, approval_holds: bool) -> _Work | None:
    async with core.store.begin() as tx:
        before = await requests.get(tx, request_id)
        if before is not None and await _waits_its_turn(tx, core, before):
            return None
        held = before is not None and await pauses.of(tx, before.program) is not None
        if held and before is not None and before.state is State.APPROVED:
            return None  # paused since it was looked at: nothing leaves
        request = await requests.claim(tx, request_id, owner=core.owner, lease_s=core.lease_s)
        if request is None or before is None:
            return None
        operation = presend_checks.operation_of(core, request)
        history = planning.History.of(await attempts.of(tx, request_id), operation.endpoint)
        if history.last_doubt_at is not None and not request.outcome_unknown:
            request = await requests.touch(tx, request, outcome_unknown=True)
        # What may not be repeated is only looked at as soon as anybody could doubt what the call did.
        approval_holds = approval_holds and (operation.handling.repeats or history.last_doubt_at is None)
        step = planning.next_step(
            request,
            history,
            tx.now,
            approval_holds=approval_holds,
            is_urgent=operation.handling.is_urgent,
        )
        if held:
            step = planning.Step.LOOK  # a pause stops sending, and nothing else
        attempt = await attempts.start(tx, request, step.value)
        await effect_writer.write(tx, core, request, effects.of_claim(before, attempt))
    return _Work(request, operation, attempt, history, approval_holds)


async def _waits_its_turn(tx: Tx, core: Core, request: Request) -> bool:
    """Of a kind that goes alone, and another one is under way: put off until that one is settled."""
    if request.state is not State.APPROVED or not core.kinds[request.kind].handling.alone:
        return False
    under_way = await requests.find(tx, states=(State.EXECUTING, State.UNRESOLVED), subject=request.subject)
    others = [other.id for other in under_way if other.program == request.program]
    if others:
        text = f"It waits for {', '.join(others)}, which is under way."
        await requests.touch(tx, request, due_at=tx.now + presend_checks.RETRY_AFTER, outcome_text=text)
    return bool(others)


async def _call(core: Core, work: _Work) -> _Answered:
    """The foreign call. Raises nothing the API or its absence could cause."""
    if work.attempt.purpose == planning.Step.LOOK:
        return await _look(core, work, None)
    async with core.store.read() as tx:
        try:
            body = (await requests.frozen(tx, work.request.id)).body
        except (CannotOpen, Purged):
            return await _look(core, work, None)
    try:
        outcome = await work.operation.send(core.partners[work.request.program], work.request.key, body)
        answered = _Answered(outcome, status=200, finding=outcome.finding.value)
    except PartnerError as error:
        work = _with_lost_exchanges(work, error)
        outcome = work.operation.judge(error, outcome_unknown=work.request.outcome_unknown)
        if outcome.finding is Finding.HELD:
            await programs.pause(core, work.request.program, error)
        answered = _Answered(outcome, error.status, error.code, error.certainty.value, outcome.finding.value)
    if outcome.finding is Finding.EVIDENCE:
        return await _look(core, work, answered)
    return answered


def _with_lost_exchanges(work: _Work, error: PartnerError) -> _Work:
    """The client repeated within this call: what came before the last answer may have happened."""
    if not error.earlier_in_doubt:
        return work
    history = replace(work.history, last_doubt_at=work.attempt.sent_at)
    return replace(work, request=replace(work.request, outcome_unknown=True), history=history)


async def _look(core: Core, work: _Work, answered: _Answered | None) -> _Answered:
    """Read the evidence; with `answered`, the refusal that sent us here."""
    request, now = work.request, core.clock.now()
    refused = answered.outcome if answered else None
    base = answered or _Answered(Outcome(Finding.UNKNOWN, ""))
    try:
        look = await work.operation.look(
            core.partners[request.program], request.key, request.first_sent_at or now
        )
    except PartnerError as error:
        text = "The outcome is not known yet, and the API could not be read to find out. Do not repeat this."
        return replace(
            base, outcome=Outcome(Finding.UNKNOWN, text), finding=base.finding or f"unreadable:{error.code}"
        )
    history = work.history
    if answered is not None and not request.outcome_unknown:
        # This refusal was answered and no other attempt is in doubt: nothing of ours is on its way.
        history = replace(history, last_doubt_at=None)
    outcome = planning.settle(
        look.evidence,
        look.text,
        history=history,
        refused=refused,
        approval_holds=work.approval_holds,
        outdated=planning.is_outdated(request, now, is_urgent=work.operation.handling.is_urgent),
        now=now,
    )
    facts = {**(refused.facts if refused else {}), **look.facts}
    return replace(base, outcome=replace(outcome, facts=facts), finding=look.evidence.value)


async def _finish(core: Core, work: _Work, answered: _Answered) -> None:
    """Write the outcome under our fence; a claim that was taken over writes nothing."""
    outcome = answered.outcome
    async with core.store.begin() as tx:
        made = _with_answer(await attempts.of(tx, work.request.id), work, answered)
        history = planning.History.of(made, work.operation.endpoint)
        readable = not (outcome.finding is Finding.UNRESOLVED and answered.finding == "unproven")
        change = planning.after(
            outcome,
            work.request,
            history,
            tx.now,
            readable=readable,
            is_urgent=work.operation.handling.is_urgent,
        )
        # Read from the facts as they are stored, so that a later reading of the same says the same.
        facts = dict(outcome.facts) or work.request.outcome
        progress = work.operation.progress(facts or {}) if change.event is Event.SUCCEED else None
        request = await requests.finish(
            tx,
            work.request,
            change.event,
            due_at=None if change.due_in is None else tx.now + change.due_in,
            outcome_unknown=change.outcome_unknown,
            needs_person=change.needs_person,
            outcome=facts,
            stage=progress.stage if progress else None,
            outcome_text=change.text,
            finished_at=tx.now if change.due_in is None else None,
        )
        if request is None:
            log.warning("execution.fenced", extra={"request": work.request.id, "fence": work.request.fence})
            return
        await attempts.answer(
            tx,
            work.attempt,
            status=answered.status,
            code=answered.code,
            certainty=answered.certainty,
            finding=answered.finding,
            detail=outcome.text[:500],
        )
        sent = effects.Sent(made, core.partners[request.program].key_prefix)
        of_kind = work.operation.effects(outcome)
        found = effects.of_outcome(request, change.event, outcome, sent=sent, of_kind=of_kind)
        await effect_writer.write(tx, core, request, found)
        card_id = work.operation.changed_card(outcome)
        if outcome.finding is Finding.SUCCEEDED and card_id is not None:
            await card_sync.owe_reading(tx, request.program, card_id, request.id)
        core.crash_point("execution.finishing")


def _with_answer(made: list[Attempt], work: _Work, answered: _Answered) -> list[Attempt]:
    mine = replace(
        work.attempt,
        answered_at=work.attempt.sent_at,
        status=answered.status,
        code=answered.code,
        finding=answered.finding,
    )
    return [mine if attempt.id == mine.id else attempt for attempt in made]


@asynccontextmanager
async def _lease_kept(core: Core, request: Request) -> AsyncIterator[None]:
    """Renew the lease every third of it from this loop: a stalled loop loses it, as it should."""

    async def renew() -> None:
        while True:
            await core.clock.sleep(core.lease_s / 3)
            async with core.store.begin() as tx:
                held = await requests.renew(
                    tx, request.id, owner=core.owner, fence=request.fence, lease_s=core.lease_s
                )
            if not held:
                log.warning("execution.lease_lost", extra={"request": request.id})
                return

    task = asyncio.create_task(renew())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def due(core: Core) -> list[str]:
    """Ids to execute, repeat or reconcile now."""
    async with core.store.read() as tx:
        return await requests.due(tx)
