"""Looking at the API for what became of a request, with what is on record here of the others.

What another request has made is nobody else's: a card, a submission, a quote counts as evidence of one request only.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.requests import SENT, Attempt, Request, State
from bot.operations import Look, Operation, Others, Sought, loaded_facts
from bot.outcomes import timing
from bot.partner.client import PartnerClient
from bot.services.core import Core
from storage.requests import requests


async def look(
    core: Core, request: Request, operation: Operation, partner: PartnerClient, made: Sequence[Attempt]
) -> Look:
    """What reading the API shows of a request that was sent, by the attempts `made` for it. Raises PartnerError."""
    since = request.first_sent_at or core.clock.now()
    sent = [attempt.sent_at for attempt in made if attempt.purpose != "look"]

    async def others() -> Others:
        return await _others(core, request, operation)

    last = max(sent, default=since)
    sought = Sought(request.key, since, last, loaded_facts(request.facts), request.outcome or {}, others)
    return await operation.look(partner, sought)


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
