"""Carrying out an approved request once, whatever dies in between.

    wait     for Slack, for readings of the API, for a place in the rate budget     no transaction open
    claim    the last look; approved → executing, lease, fence + 1, an attempt      committed before any byte leaves
    call     the stored key and the frozen bytes, at once                           no transaction open
    finish   WHERE fence = mine: the outcome, the audit, the messages owed          else nothing is written

A claim that finds an unanswered attempt knows that nobody knows: `outcome_unknown` is set for good,
and from then on no refusal alone proves a failure. Which answers prove what is in
`bot.partner.answers`; what to do next is in `bot.outcomes.planning`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

from bot.domain.requests import Attempt, Event, Request, State, moves_of
from bot.operations import Operation, urgency
from bot.outcomes import Evidence, Finding, Outcome, SealSecret, effects, planning
from bot.partner.client import PartnerClient
from bot.partner.errors import PartnerError
from bot.partner.ratelimit import Lane
from bot.services.alerts import card_rules
from bot.services.cards import card_sync
from bot.services.core import Core
from bot.services.execution import effect_writer, ending_without_a_call, evidence, newest_wins, presend_checks
from bot.services.operators import programs
from bot.services.requests import close
from storage.errors import CannotOpen, Purged
from storage.operators import stops
from storage.requests import attempts, requests
from storage.transaction import Tx

log = logging.getLogger("countersign.execution")

# A last look is good for this long: no bytes follow a claim later than that.
STALE_AFTER_S = 10.0
# The outcome is written again after these, in seconds, where the database does not take it.
FINISH_PAUSES_S = (0.1, 0.5, 2.0, 4.0)
# What a look found, where no other look will tell more.
_ONLY_PEOPLE_TELL = (Evidence.UNPROVEN, Evidence.UNSEEN, Evidence.HALF_DONE, Evidence.REPLACED)
_UNFORESEEN = "The outcome is not known: something unforeseen went wrong around the call. Do not repeat this."
_STOOD_STILL = "Nothing was sent: the bot stood still just before the call. It is tried again."


@dataclass(frozen=True, slots=True)
class _Work:
    """One claim: the request as claimed, its operation, and the attempts for it.

    Nobody else makes an attempt under its fence, so those read with the claim are all there are.
    """

    request: Request
    operation: Operation
    made: list[Attempt]  # those before it, and this claim's
    history: planning.History  # of those before it
    approval_holds: bool
    waits_for: str  # of what cannot wait: why nobody can say just now whether it may be sent again
    partner: PartnerClient  # with its place in the rate budget, where it sends
    body: bytes | None  # what is sent; None = it is only looked up
    looked_at_s: float  # when the last look began, in `_loop_s`
    people_until_s: float  # until when what Slack said of the people holds, by the monotonic clock
    older: tuple[Request, ...]  # of what cannot wait: older calls on its setting that have no outcome


@dataclass(frozen=True, slots=True)
class _Answered:
    """What came back, for the attempt row."""

    outcome: Outcome
    status: int | None = None
    code: str | None = None
    certainty: str | None = None
    finding: str = ""
    changed_card: str | None = None  # the id of the card that a success has changed or made


async def execute(core: Core, request_id: str) -> None:
    """Send, repeat or look once for a request that is due. Safe to call at any time, from anywhere."""
    async with core.store.read() as tx:
        request = await requests.get(tx, request_id)
        if request is None or request.program not in core.partners:
            return
        stopped = await stops.of(tx, request.program)
    if request.state not in moves_of(Event.CLAIM):
        return
    if request.is_batch and request.due_at is None:
        return  # its rows are sent
    if await ending_without_a_call.nothing_to_call(core, request, stopped):
        return
    partner = core.partners[request.program]
    if core.kinds[request.kind].handling.is_urgent:
        partner = partner.in_lane(Lane.URGENT)  # which nothing else uses
    checked_s = core.clock.monotonic()
    answer = await presend_checks.may_go(core, request, partner)
    if request.state is State.APPROVED and answer is not None:
        await _hold_back(core, request, answer)
        return
    core.crash_point("execution.before_claim")
    with await partner.place(Lane.MONEY) as place:
        people_until_s = float("inf")
        if answer is None:
            answer, people_until_s = await presend_checks.people_stand(core, request, checked_s=checked_s)
        work = await _claim(core, request, answer, partner.at(place), people_until_s)
        if work is None:
            return
        core.crash_point("execution.claimed")
        async with _lease_kept(core, work.request):
            answered = await _answer_of(core, work)
            core.crash_point("execution.answered")
            await _finish(core, work, answered)
    core.crash_point("execution.finished")
    endpoint = work.operation.endpoint.value
    if answered.status == 200 and endpoint in stopped.endpoints:  # the key may call it after all
        async with core.store.begin() as tx:
            await programs.release(tx, core, request.program, endpoint)
    if answered.changed_card is not None:
        read_at = core.clock.now()
        try:
            await card_sync.refresh_card(core, request.program, answered.changed_card)
            await card_rules.look_at(core, answered.changed_card, read_at)
        except PartnerError as error:  # made up for: the reading is owed
            log.info("execution.card_not_read", extra={"request": request.id, "error": str(error)})
    await newest_wins.wake_newer(core, work.request)


async def _claim(
    core: Core, seen: Request, answer: presend_checks.Answer, partner: PartnerClient, people_until_s: float
) -> _Work | None:
    """The last look and the claim, in one transaction. `answer` is what was found before, of `seen` as it then was.

    What Slack said of the people holds until `people_until_s`.
    """
    if core.closing.is_set():
        return None
    looked_at_s = _loop_s()
    async with core.store.begin() as tx:
        stopped = await stops.of(tx, seen.program)
        before = await requests.get(tx, seen.id)
        if before is None or before.version != seen.version:
            return None  # decided on, or taken up by another process, since it was looked at
        cls = core.kinds[before.kind]
        may_send = stopped.sends(cls.endpoint, is_urgent=cls.handling.is_urgent)
        if stopped.by_key or (not may_send and before.state is State.APPROVED):
            return None  # stopped since it was looked at: nothing leaves
        approved_body: bytes | None = None
        if answer is None:
            answer, approved_body = await presend_checks.last_look(tx, core, before)
        if answer is None and core.clock.monotonic() >= people_until_s:
            answer = presend_checks.Later("Who may approve has to be asked of Slack again first.")
        if isinstance(answer, presend_checks.Stop) and answer.alarm and before.state is not State.APPROVED:
            await ending_without_a_call.stop_tampered(tx, core, before)
            return None
        if answer is not None and before.state is State.APPROVED:
            await _held_back(tx, core, before, answer)
            return None
        request = await requests.claim(
            tx,
            seen.id,
            owner=core.owner,
            lease_s=core.lease_s,
            version=before.version,
            may_lapse=not urgency.waited_for_a_pause(before),
        )
        if request is None:
            return None
        if before.state is State.APPROVED and before.outcome_text and not cls.handling.is_urgent:
            request = await requests.touch(tx, request, outcome_text="")  # what held it back is over
        operation = core.kinds[request.kind].of_stored(request.terms, request.subject_label)
        made = await attempts.of(tx, seen.id)
        history = planning.History.of(made, operation.endpoint)
        if history.last_doubt_at is not None and not request.outcome_unknown:
            request = await requests.touch(tx, request, outcome_unknown=True)
        # What may not be repeated is only looked at as soon as anybody could doubt what the call did.
        approval_holds = answer is None and (operation.handling.repeats or history.last_doubt_at is None)
        is_urgent = operation.handling.is_urgent
        step = planning.next_step(
            request, history, tx.now, approval_holds=approval_holds, is_urgent=is_urgent
        )
        if urgency.is_for_now(request):
            step = planning.Step.LOOK  # sent again only where the card reads otherwise
        # A pause stops sending, and nothing else.
        sends = may_send and step is not planning.Step.LOOK
        body = (approved_body or await _frozen_body(tx, request)) if sends else None
        attempt = await attempts.start(tx, request, (planning.Step.LOOK if body is None else step).value)
        older = await newest_wins.without_outcome(tx, core, request) if is_urgent else ()
        await effect_writer.write(tx, core, request, effects.of_claim(before, attempt))
    made.append(attempt)
    return _Work(
        request,
        operation,
        made,
        history,
        approval_holds,
        answer.text if is_urgent and isinstance(answer, presend_checks.Later) else "",
        partner,
        body,
        looked_at_s,
        people_until_s,
        tuple(older),
    )


def _loop_s() -> float:
    """Seconds by the clock of the event loop: whether this process stood still is a question about it alone."""
    return asyncio.get_running_loop().time()


async def _frozen_body(tx: Tx, request: Request) -> bytes | None:
    """None where it is gone or was tampered with: then it can only be looked up."""
    try:
        return (await requests.frozen(tx, request.id)).body
    except (CannotOpen, Purged):
        return None


async def _hold_back(core: Core, seen: Request, answer: presend_checks.Stop | presend_checks.Later) -> None:
    """As found before the last look; nothing where it changed since it was `seen`."""
    async with core.store.begin() as tx:
        current = await requests.get(tx, seen.id)
        if current is not None and current.version == seen.version:
            await _held_back(tx, core, current, answer)


async def _held_back(
    tx: Tx, core: Core, request: Request, answer: presend_checks.Stop | presend_checks.Later
) -> None:
    """Nothing is sent: the request ends, or is tried again in a moment while its approval is valid."""
    if isinstance(answer, presend_checks.Later):
        due_at = tx.now + presend_checks.RETRY_AFTER
        if request.outcome_text == answer.text:
            await requests.put_off(tx, request, due_at)
            return
        held = await requests.touch(tx, request, due_at=due_at, outcome_text=answer.text)
        is_urgent = core.kinds[held.kind].handling.is_urgent
        await effect_writer.write(tx, core, held, effects.of_holding_back(is_urgent=is_urgent))
        return
    await close(tx, core, request, answer.event, "system:execution", answer.text)
    if answer.alarm:
        await effect_writer.write(tx, core, request, effects.of_tampering(request))


async def _answer_of(core: Core, work: _Work) -> _Answered:
    """What the call came to, in the words of its kind.

    What nobody foresaw leaves an unknown outcome, like an answer that was lost.
    """
    try:
        answered = await _call(core, work)
    except Exception:
        log.exception("execution.call_failed", extra={"request": work.request.id})
        answered = _Answered(Outcome(Finding.UNKNOWN, _UNFORESEEN), finding=Finding.UNKNOWN.value)
    outcome = answered.outcome
    if answered.finding != Evidence.REPLACED:  # whose words are of the newer request
        outcome = work.operation.in_its_words(outcome, in_doubt=work.request.outcome_unknown)
    changed = work.operation.changed_card(outcome) if outcome.finding is Finding.SUCCEEDED else None
    return replace(answered, outcome=outcome, changed_card=changed)


async def _call(core: Core, work: _Work) -> _Answered:
    """The foreign call. Raises nothing the API or its absence could cause.

    Nothing is awaited between the claim's commit and the call itself.
    """
    if work.body is None:
        return await _look(core, work, None)
    if _loop_s() >= work.looked_at_s + STALE_AFTER_S or core.clock.monotonic() >= work.people_until_s:
        # This process stood still since its last look, and others may have acted: it is looked at anew.
        return _Answered(Outcome(Finding.NOTHING_YET, _STOOD_STILL), finding=Finding.NOTHING_YET.value)
    try:
        outcome = await work.operation.send(work.partner, work.request.key, work.body)
        answered = _Answered(outcome, status=200, finding=outcome.finding.value)
    except PartnerError as error:
        outcome = work.operation.judge(error, outcome_unknown=work.request.outcome_unknown)
        if outcome.finding is Finding.HELD:
            await programs.key_refused(core, work.request.program, error)
        answered = _Answered(outcome, error.status, error.code, error.certainty.value, outcome.finding.value)
    if outcome.finding is Finding.EVIDENCE:
        return await _look(core, work, answered)
    return answered


async def _look(core: Core, work: _Work, answered: _Answered | None) -> _Answered:
    """Read the evidence; with `answered`, the refusal that sent us here."""
    request, now = work.request, core.clock.now()
    refused = answered.outcome if answered else None
    base = answered or _Answered(Outcome(Finding.UNKNOWN, ""))
    try:
        look = await evidence.look(core, request, work.operation, work.partner)
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
        waits_for=work.waits_for,
        outdated=planning.is_outdated(request, now, is_urgent=work.operation.handling.is_urgent),
        now=now,
    )
    facts = {**(refused.facts if refused else {}), **look.facts}
    return replace(base, outcome=replace(outcome, facts=facts), finding=look.evidence.value)


async def _finish(core: Core, work: _Work, answered: _Answered) -> None:
    """Write the outcome, again where the database refuses: what was answered is known here alone."""
    for pause_s in FINISH_PAUSES_S:
        try:
            await _write_outcome(core, work, answered)
        except Exception:  # busy, away, or this one the victim of a deadlock: nothing of it was written
            log.exception("execution.outcome_not_written", extra={"request": work.request.id})
            await core.clock.sleep(pause_s)
        else:
            return
    await _write_outcome(core, work, answered)


async def _write_outcome(core: Core, work: _Work, answered: _Answered) -> None:
    """Under our fence; a claim that was taken over writes no outcome, and keeps a secret all the same."""
    async with core.store.begin() as tx:
        outcome = await _among_others(tx, core, work, answered.outcome)
        of_kind = work.operation.effects(outcome)
        mine = replace(
            work.made[-1],
            answered_at=work.made[-1].sent_at,
            status=answered.status,
            code=answered.code,
            finding=answered.finding,
        )
        made = [*work.made[:-1], mine]
        history = planning.History.of(made, work.operation.endpoint)
        unreadable = answered.finding in _ONLY_PEOPLE_TELL
        change = planning.after(
            outcome,
            work.request,
            history,
            tx.now,
            readable=not (outcome.finding is Finding.UNRESOLVED and unreadable),
            is_urgent=work.operation.handling.is_urgent,
        )
        if outcome is not answered.outcome and outcome.finding is Finding.UNKNOWN:
            change = planning.not_final(outcome, work.request)
        elif urgency.is_for_now(work.request) and change.due_in is not None:
            change = replace(change, due_in=timedelta())  # undone: sent again at once
        # Read from the facts as they are stored, so that a later reading of the same says the same.
        facts = dict(outcome.facts) or urgency.no_longer_for_now(work.request.outcome)
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
            # The API gives it once, and whoever took over cannot ask for it again.
            secrets = [effect for effect in of_kind if isinstance(effect, SealSecret)]
            await effect_writer.write(tx, core, work.request, secrets)
            return
        await attempts.answer(
            tx,
            mine,
            status=answered.status,
            code=answered.code,
            certainty=answered.certainty,
            finding=answered.finding,
            detail=outcome.text[:500],
        )
        sent = effects.Sent(made, core.partners[request.program].key_prefix)
        found = effects.of_outcome(request, change.event, outcome, sent=sent, of_kind=of_kind)
        if urgency.is_for_now(request) and not urgency.is_for_now(work.request):
            found += effects.of_being_not_final(request)
        await effect_writer.write(tx, core, request, found)
        if answered.changed_card is not None:
            await card_sync.owe_reading(tx, answered.changed_card, request)
        core.crash_point("execution.finishing")


async def _among_others(tx: Tx, core: Core, work: _Work, outcome: Outcome) -> Outcome:
    """A success beside other requests on the same setting: an older one may undo it, a newer one decides."""
    if outcome.finding is not Finding.SUCCEEDED:
        return outcome
    if work.operation.handling.is_urgent:
        older = {other.id: other for other in work.older}
        older |= {other.id: other for other in await newest_wins.without_outcome(tx, core, work.request)}
        if older:
            return urgency.for_now(outcome, work.request.kind, older.values())
    newer = await newest_wins.newer(tx, core, work.request)
    if newer is None or newer.body_mac == work.request.body_mac:
        return outcome
    return replace(outcome, text=f"{outcome.text} {newest_wins.that_it_decides(newer)}")


@asynccontextmanager
async def _lease_kept(core: Core, request: Request) -> AsyncIterator[None]:
    """Renew the lease every third of it from this loop: a stalled loop loses it, as it should.

    A renewal that fails is tried again, and takes nothing from what goes on inside: an answer of the API that is
    on its way, with the only copy of a secret perhaps, is worth more than the lease.
    """
    task = asyncio.create_task(_keep_lease(core, request))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def _keep_lease(core: Core, request: Request) -> None:
    held, pause_s = True, core.lease_s / 3
    while held:
        await core.clock.sleep(pause_s)
        try:
            async with core.store.begin() as tx:
                held = await requests.renew(
                    tx, request.id, owner=core.owner, fence=request.fence, lease_s=core.lease_s
                )
            pause_s = core.lease_s / 3
        except Exception:  # a database that is busy or away; without it nobody else can take over either
            log.exception("execution.lease_not_renewed", extra={"request": request.id})
            pause_s = core.lease_s / 6
    log.warning("execution.lease_lost", extra={"request": request.id})
