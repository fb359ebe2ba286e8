"""Writes what an attempt came to, in one transaction under the fence of its claim: all that follows, or nothing.

What to do next is in `bot.outcomes.planning`, what follows from it in `bot.outcomes.effects`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.money import format_usd
from bot.domain.requests import Attempt, Event, Request, State, fingerprints, reopening
from bot.operations import loaded_facts, urgency
from bot.outcomes import Evidence, Finding, Outcome, SealSecret, effects, planning
from bot.services import audit
from bot.services.alerts import ledger_rules
from bot.services.cards import card_sync
from bot.services.core import Core
from bot.services.execution import effect_writer, newest_wins
from bot.services.execution.api_call import Answered
from bot.services.execution.claims import Claim
from bot.services.requests import resolved_as
from storage.log_record import open_requests
from storage.requests import attempts, requests
from storage.transaction import Tx

log = logging.getLogger("countersign.execution")

# The outcome is written again after these, in seconds, where the database does not take it.
FINISH_PAUSES_S = (0.1, 0.5, 2.0, 4.0)
# What a look found, where no other look will tell more.
_ONLY_PEOPLE_TELL = (
    Evidence.UNPROVEN,
    Evidence.TRACED,
    Evidence.UNSEEN,
    Evidence.HALF_DONE,
    Evidence.REPLACED,
)


async def write(core: Core, claim: Claim, answered: Answered) -> datetime | None:
    """Write the outcome, again where the database refuses: what was answered is known here alone.

    Returns when the reading of the card that it changed was queued; None where none was."""
    for pause_s in FINISH_PAUSES_S:
        try:
            return await _write(core, claim, answered)
        except Exception:  # busy, away, or this one the victim of a deadlock: nothing of it was written
            log.exception("execution.outcome_not_written", extra={"request": claim.request.id})
            await core.clock.sleep(pause_s)
    return await _write(core, claim, answered)


async def _write(core: Core, claim: Claim, answered: Answered) -> datetime | None:
    """Under our fence; a claim that was taken over writes no outcome, and keeps a secret all the same."""
    async with core.store.begin() as tx:
        outcome = await _among_others(tx, core, claim, answered.outcome)
        of_kind = claim.operation.effects(outcome)
        mine = replace(
            claim.made[-1],
            answered_at=claim.made[-1].sent_at,
            status=answered.status,
            code=answered.code,
            certainty=answered.certainty,
            finding=answered.finding,
        )
        made = [*claim.made[:-1], mine]
        is_interim = outcome is not answered.outcome and outcome.finding is Finding.UNKNOWN
        change = (
            planning.not_final(outcome, claim.request)
            if is_interim
            else _change(tx, claim, made, answered.finding, outcome)
        )
        request = await _finish(tx, claim, outcome, change)
        # What a call was answered stays true whoever holds its request by now.
        is_new = await attempts.answer(
            tx,
            mine,
            status=answered.status,
            code=answered.code,
            certainty=answered.certainty,
            finding=answered.finding,
            detail=outcome.text[:500],
        )
        if request is None:
            log.warning("execution.fenced", extra={"request": claim.request.id, "fence": claim.request.fence})
            if is_new:
                said = {"answer": fingerprints.of_answer(mine)}
                await audit.record(
                    tx,
                    core,
                    effects.EXECUTION,
                    open_requests.ANSWERED_LATE,
                    f"attempt:{mine.request_id}.{mine.number}",
                    said,
                )
            # The API gives it once, and whoever took over cannot ask for it again.
            secrets = [effect for effect in of_kind if isinstance(effect, SealSecret)]
            await effect_writer.write(tx, core, claim.request, secrets)
            await _tell_of_contradiction(tx, core, claim, outcome)
            return None
        sent = effects.Sent(made, core.partners[request.program].key_prefix)
        found = effects.of_outcome(request, change.event, outcome, sent=sent, of_kind=of_kind)
        if urgency.is_for_now(request) and not urgency.is_for_now(claim.request):
            found += effects.of_being_not_final(request)
        await effect_writer.write(tx, core, request, found)
        if answered.changed_card is not None:
            await card_sync.queue_reading(
                tx,
                answered.changed_card,
                request,
                moves_money=claim.operation.moves_money,
                is_balance=claim.operation.changes_the_balance_alone,
            )
        core.crash_point("execution.finishing")
    return None if answered.changed_card is None else tx.now


async def _tell_of_contradiction(tx: Tx, core: Core, claim: Claim, outcome: Outcome) -> None:
    """A success that was answered after two people had said that it failed, or a return of the money after they had
    said that it succeeded: nothing else may ever tell of it."""
    current = await requests.get(tx, claim.request.id)
    back_usd = loaded_facts(outcome.facts).get("refund_usd")
    if back_usd and current is not None and current.state is State.SUCCEEDED:
        row = f"{format_usd(back_usd)} under its key, read by a look that was under way"
        await ledger_rules.tell_of_return(tx, core, current, back_usd, [row])
        return
    if outcome.finding is not Finding.SUCCEEDED or current is None or current.state is not State.FAILED:
        return
    if await resolved_as(tx, current) != "failed":
        return
    facts = {**(current.outcome or {}), **outcome.facts, "contradicted_by": Evidence.DONE.value}
    touched = await requests.touch(tx, current, outcome=facts)
    text = (
        f"Two people said that {current.id} failed, and that stands. A call of it that was under way was answered after"
        f" that: {outcome.text}"
    )
    await effect_writer.write(tx, core, touched, effects.of_contradiction(touched, text))


def _change(tx: Tx, claim: Claim, made: Sequence[Attempt], finding: str, outcome: Outcome) -> planning.Change:
    """What this outcome does to the request, after these attempts, of which the last had this finding."""
    change = planning.after(
        outcome,
        claim.request,
        planning.History.of(made, claim.operation.endpoint),
        tx.now,
        readable=not (outcome.finding is Finding.UNRESOLVED and finding in _ONLY_PEOPLE_TELL),
        is_urgent=claim.is_urgent,
    )
    if urgency.is_for_now(claim.request) and change.due_in is not None:
        return replace(change, due_in=timedelta())  # undone: sent again at once
    return change


async def _finish(tx: Tx, claim: Claim, outcome: Outcome, change: planning.Change) -> Request | None:
    """The request as it is now; None where another process has taken it over."""
    # Read from the facts as they are stored, so that a later reading of the same says the same.
    facts = dict(outcome.facts) or urgency.no_longer_for_now(claim.request.outcome)
    progress = claim.operation.progress(facts or {}) if change.event is Event.SUCCEED else None
    facts = {**(facts or {}), **reopening(claim.request)} or None
    return await requests.finish(
        tx,
        claim.request,
        change.event,
        due_at=None if change.due_in is None else tx.now + change.due_in,
        outcome_unknown=change.outcome_unknown,
        needs_person=change.needs_person,
        outcome=facts,
        stage=progress.stage if progress else None,
        outcome_text=change.text,
        finished_at=tx.now if change.due_in is None else None,
    )


async def _among_others(tx: Tx, core: Core, claim: Claim, outcome: Outcome) -> Outcome:
    """A success beside other requests on the same setting: an older one may undo it, a newer one decides."""
    if outcome.finding is not Finding.SUCCEEDED or not claim.operation.handling.superseded_by:
        return outcome
    if claim.is_urgent:
        older = {other.id: other for other in claim.older}
        older |= {other.id: other for other in await newest_wins.without_outcome(tx, core, claim.request)}
        if older:
            return urgency.for_now(outcome, claim.request.kind, older.values())
    newer = await newest_wins.newer(tx, core, claim.request)
    if newer is None or newer.body_mac == claim.request.body_mac:
        return outcome
    return replace(outcome, text=f"{outcome.text} {newest_wins.that_it_decides(newer)}")
