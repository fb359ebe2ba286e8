"""The call to the API for a claimed request, or a look at what became of it: one answer, in the words of its kind.

Which answers prove what is in `bot.partner.answers`. No transaction is open meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace

from bot.operations import Look
from bot.outcomes import Evidence, Finding, Outcome, planning
from bot.partner.client import PartnerClient
from bot.partner.errors import PartnerError
from bot.services.core import Core
from bot.services.execution import evidence, presend_checks
from bot.services.execution.claims import Claim
from bot.services.operators import programs

log = logging.getLogger("countersign.execution")

READ_WITHIN_S = 8.0
"""How long what cannot wait waits for a reading: while one hangs, nothing is sent and nobody is notified."""

_UNFORESEEN = "The outcome is not known: something unforeseen went wrong around the call. Do not repeat this."
_STOOD_STILL = "Nothing was sent: the bot stood still just before the call. It is tried again."
_STOPPED = "Nothing was sent: somebody stopped it just before the call, which is not recorded yet."
_UNREADABLE = (
    "The outcome is not known yet, and your card provider could not be read to find out. Do not repeat this."
)


@dataclass(frozen=True, slots=True)
class Answered:
    """What came back, for the attempt row."""

    outcome: Outcome
    status: int | None = None
    code: str | None = None
    certainty: str | None = None
    finding: str = ""
    changed_card: str | None = None  # the id of the card that a success has changed or made


async def answer_of(core: Core, claim: Claim, partner: PartnerClient) -> Answered:
    """What the call came to. `partner` has its place in the rate budget.

    What nobody foresaw leaves an unknown outcome, like an answer that was lost.
    """
    try:
        answered = await _call(core, claim, partner)
    except Exception:
        log.exception("execution.call_failed", extra={"request": claim.request.id})
        answered = _of(Outcome(Finding.UNKNOWN, _UNFORESEEN))
    outcome = answered.outcome
    if answered.finding != Evidence.REPLACED:  # whose words are of the newer request
        outcome = claim.operation.in_its_words(outcome, in_doubt=claim.request.outcome_unknown)
    changed = claim.operation.changed_card(outcome) if outcome.finding is Finding.SUCCEEDED else None
    return replace(answered, outcome=outcome, changed_card=changed)


async def _call(core: Core, claim: Claim, partner: PartnerClient) -> Answered:
    """The foreign call. Raises nothing the API or its absence could cause.

    Nothing is awaited between the claim's commit and the call itself.
    """
    if claim.to_send is None:
        return await _look(core, claim, partner, None)
    if claim.to_send.is_stale(core):
        return _of(Outcome(Finding.NOTHING_YET, _STOOD_STILL))
    if presend_checks.is_held(core, claim.request):
        return _of(Outcome(Finding.NOTHING_YET, _STOPPED))
    try:
        outcome = await claim.operation.send(partner, claim.request.key, claim.to_send.body)
        answered = _of(outcome, status=200)
    except PartnerError as error:
        outcome = claim.operation.judge(error, outcome_unknown=claim.request.outcome_unknown)
        if outcome.finding is Finding.HELD:
            await programs.key_refused(core, claim.request.program, error)
        answered = _of(outcome, error.status, error.code, error.certainty.value)
    return await _look(core, claim, partner, answered) if outcome.finding is Finding.EVIDENCE else answered


def _of(
    outcome: Outcome, status: int | None = None, code: str | None = None, certainty: str | None = None
) -> Answered:
    return Answered(outcome, status, code, certainty, outcome.finding.value)


async def _look(core: Core, claim: Claim, partner: PartnerClient, answered: Answered | None) -> Answered:
    """Read the evidence; with `answered`, the refusal that sent us here."""
    base = answered or Answered(Outcome(Finding.UNKNOWN, ""))
    try:
        async with asyncio.timeout(READ_WITHIN_S if claim.is_urgent else None):
            look = await evidence.look(core, claim.request, claim.operation, partner, claim.made)
    except (PartnerError, TimeoutError) as error:
        why = error.code if isinstance(error, PartnerError) else "too late"
        outcome, finding = Outcome(Finding.UNKNOWN, _UNREADABLE), base.finding or f"unreadable:{why}"
        return replace(base, outcome=outcome, finding=finding)
    refused = answered.outcome if answered else None
    outcome = _settled(core, claim, look, refused)
    facts = {**(refused.facts if refused else {}), **look.facts}
    return replace(base, outcome=replace(outcome, facts=facts), finding=look.evidence.value)


def _settled(core: Core, claim: Claim, look: Look, refused: Outcome | None) -> Outcome:
    request, history, now = claim.request, claim.history, core.clock.now()
    if refused is not None and not request.outcome_unknown:
        # This refusal was answered and no other attempt is in doubt: nothing of ours is on its way.
        history = replace(history, last_doubt_at=None)
    return planning.settle(
        look.evidence,
        look.text,
        history=history,
        refused=refused,
        approval_holds=claim.approval_holds,
        waits_for=claim.waits_for,
        outdated=planning.is_outdated(request, now, is_urgent=claim.is_urgent),
        now=now,
    )
