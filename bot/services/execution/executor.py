"""Carrying out an approved request once, whatever dies in between.

reserve  nobody else looks at it meanwhile; what our records say (`claims`)       committed before anything is asked
look     at the people in Slack and at the API (`presend_checks`)                 no transaction open
wait     for a place in the rate budget; then at the people once more             no transaction open
claim    the last look; approved → executing, an attempt (`claims`)               committed before any byte leaves
call     the stored key and the frozen bytes, at once (`api_call`)                no transaction open
write    WHERE fence = mine: the outcome and all that follows (`outcome_writer`)  else nothing is written
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import ExitStack
from datetime import datetime
from functools import partial

from bot.domain.requests import State
from bot.partner.client import PartnerClient
from bot.partner.errors import PartnerError
from bot.partner.ratelimit import Lane, Place
from bot.services.alerts import card_rules
from bot.services.cards import card_sync
from bot.services.core import Core
from bot.services.execution import api_call, claims, newest_wins, outcome_writer, presend_checks
from bot.services.operators import programs
from bot.services.traces import Span

log = logging.getLogger("countersign.execution")


async def execute(core: Core, request_id: str) -> None:
    """Send, repeat or look once for a request that is due. Safe to call at any time, from anywhere."""
    with claims.noted(core, request_id):
        held = await claims.reserve(core, request_id)
        if held is None:
            return
        with core.traces.of(held.request.id, "Execute", kind=held.request.kind) as span:
            await _execute(core, held, span)


async def _execute(core: Core, held: claims.Reservation, span: Span) -> None:
    partner = core.partners[held.request.program]
    if core.kinds[held.request.kind].handling.is_urgent:
        partner = partner.in_lane(Lane.URGENT)  # which nothing else uses
    with ExitStack() as places:
        async with claims.reserved(core, held):
            found = await _look_and_claim(core, held, partner, places)
        if found is None:
            span.note(finding="not sent now")
            return
        claim, place = found
        core.crash_point("execution.claimed")
        async with claims.lease_kept(core, claim.request, core.lease_s):
            answered = await api_call.answer_of(core, claim, partner.at(place))
            core.crash_point("execution.answered")
            queued_at = await outcome_writer.write(core, claim, answered)
        core.measures.executed(answered.outcome.finding)
        span.note(finding=answered.outcome.finding.value)
    core.crash_point("execution.finished")
    await _after_it(core, claim, answered, queued_at)


async def _look_and_claim(
    core: Core, held: claims.Reservation, partner: PartnerClient, places: ExitStack
) -> tuple[claims.Claim, Place] | None:
    """The claim, and the place in the rate budget that its call takes; None where nothing is called now."""
    request = held.request
    look = await presend_checks.may_go(core, request, partner, held.recorded)
    if request.state is State.APPROVED and not isinstance(look, presend_checks.Cleared):
        await claims.hold_back(core, request, look)
        return None
    core.crash_point("execution.before_claim")
    place = places.enter_context(await partner.place(Lane.MONEY))
    if isinstance(look, presend_checks.Cleared):
        look = await presend_checks.people_stand(core, request, look)
    claim = await claims.take(core, held, look)
    return None if claim is None else (claim, place)


async def _after_it(
    core: Core, claim: claims.Claim, answered: api_call.Answered, queued_at: datetime | None
) -> None:
    """What others may go on with. Nothing of it is lost with this process: other looks find it too.

    `queued_at`: when the reading of the card that it changed was queued."""
    request = claim.request
    if answered.status == 200 and claim.was_held:  # the key may call it after all
        async with core.store.begin() as tx:
            await programs.release(tx, core, request.program, claim.operation.endpoint.value)
    # What a card holds is read soon for all that moved, by one call: see `Poller.moved`.
    if answered.changed_card is not None and not claim.operation.changes_the_balance_alone:
        look = partial(card_rules.look_at, core=core, after=core.store.log_known_to)
        try:
            # What cannot wait may be due again in seconds, and is not taken up before this ends.
            async with asyncio.timeout(api_call.READ_WITHIN_S if claim.is_urgent else None):
                await card_sync.refresh_card(
                    core, request.program, answered.changed_card, queued_at=queued_at, then=look
                )
        except (PartnerError, TimeoutError) as error:  # made up for: the reading is recorded as missing
            log.info("execution.card_not_read", extra={"request": request.id, "error": str(error)})
    await newest_wins.wake_newer(core, request)
