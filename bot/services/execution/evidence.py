"""Looking at the API for what became of a request, with what is on record here of the others.

What another request has made is nobody else's: a card, a submission, a quote counts as evidence of one request only.
A setting shows the newest alone: once a newer request was sent on it, a reading says nothing of an older one.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.requests import SENT, Attempt, Request, State
from bot.operations import Look, Operation, Others, Sought, loaded_facts, urgency
from bot.outcomes import Evidence, planning, timing
from bot.partner.client import PartnerClient
from bot.services.core import Core
from bot.services.execution import newest_wins
from storage.requests import requests


async def look(
    core: Core, request: Request, operation: Operation, partner: PartnerClient, made: Sequence[Attempt]
) -> Look:
    """What reading the API shows of a request that was sent, by the attempts `made` for it. Raises PartnerError."""
    since = planning.may_have_been_sent_since(request, core.clock.now())
    sent = [attempt.sent_at for attempt in made if attempt.purpose != "look"]

    async def others() -> Others:
        return await _others(core, request, operation)

    last = max(sent, default=since)
    sought = Sought(request.key, since, last, loaded_facts(request.facts), request.outcome or {}, others)
    found = await operation.look(partner, sought)
    async with core.store.read() as tx:  # after the reading: whoever made what was seen is on record by now
        newer = await newest_wins.sent_since(tx, core, request)
    return _beside_newer(request, found, newer)


def _beside_newer(request: Request, found: Look, newer: Sequence[Request]) -> Look:
    """The same look, unless newer requests on the setting were sent: what is set now may be the work of those.

    What was requested and is set proves itself, unless a newer one asked for just that after another had replaced it.
    """
    others = [other for other in newer if other.body_mac != request.body_mac]
    is_by_another = len(others) < len(newer)
    if not others or not (
        found.evidence is Evidence.ABSENT or (found.evidence is Evidence.DONE and is_by_another)
    ):
        return found
    last = others[-1]
    text = (
        f"Not known, replaced by {last.id}, which was approved later ({last.summary}): what is set now does not tell"
        " whether this was in force before."
    )
    return Look(Evidence.REPLACED, text, {**found.facts, **urgency.replaced_by(last)})


async def _others(core: Core, request: Request, operation: Operation) -> Others:
    """What the other requests of this kind have made, and which of them may have made what this one would."""
    since = None
    if not operation.subject and request.first_sent_at is not None:
        since = request.first_sent_at - timing.KEY_TRUSTED_FOR - timing.CLOCKS_AGREE
    async with core.store.read() as tx:
        found = await requests.sent_of_kind(
            tx, request.kind, program=request.program, subject=operation.subject, since=since
        )
    taken: dict[str, str] = {}
    rivals = []
    for other in found:
        if other.id == request.id:
            continue
        effect = operation.effect(other.outcome or {})
        if effect:
            taken[effect] = other.id
        elif _may_have_made_something(other) and _asks_for_the_same(core, operation, other):
            rivals.append(other.id)
    return Others(taken, tuple(sorted(rivals)))


def _may_have_made_something(other: Request) -> bool:
    return other.state in SENT and (other.state is not State.FAILED or other.outcome_unknown)


def _asks_for_the_same(core: Core, operation: Operation, other: Request) -> bool:
    return core.kinds[other.kind].of_stored(other.terms, other.subject_label).likeness == operation.likeness
