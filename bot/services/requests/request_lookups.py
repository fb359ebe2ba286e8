"""Looking at requests: who waits for whom, one in all its detail, what an approver is shown."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from bot.domain.events.statements import RequestPage
from bot.domain.requests.approvals import waits_for
from bot.domain.requests.lifecycle import OPEN, State
from bot.domain.time.periods import Period
from bot.partner.errors import PartnerError
from bot.services import people
from bot.services.core import Core
from bot.services.messages import view_model_loader
from bot.services.requests import batch_facts, batch_results, local_facts
from bot.services.requests.drafts import house_concerns
from bot.services.requests.lifecycle import existing
from bot.view_models.pictures import BulkRowPicture, Confirmation, InboxPicture, RequestPicture
from storage.errors import Purged
from storage.requests import decisions, request_search, requests

REQUESTS_PAGE = 25


async def inbox_of(core: Core, slack_id: str) -> InboxPicture:
    """What waits for this person, what they asked for, what was decided lately; oldest waiting first."""
    standing = await people.standing_lately(core)
    async with core.store.read() as tx:
        pending = await requests.find(tx, states=(State.PENDING,), limit=100, oldest_first=True)
        waiting = [
            request
            for request in (pending if slack_id in standing.approvers else ())
            if waits_for(slack_id, request, await decisions.of(tx, request.id), standing)
        ]
        mine = await requests.find(tx, requester=slack_id, states=OPEN, limit=50)
        recent = await requests.find(tx, states=frozenset(State) - OPEN, limit=10)
    return InboxPicture(tuple(waiting), tuple(mine), tuple(recent))


async def request_picture(core: Core, request_id: str) -> RequestPicture:
    """Raises NotFound."""
    async with core.store.read() as tx:
        return await view_model_loader.request(tx, core, await existing(tx, request_id))


async def private_of(core: Core, request_id: str) -> Mapping[str, str]:
    """The sealed values of a pending request, for the approver's modal only; empty once purged."""
    async with core.store.read() as tx:
        try:
            return (await requests.frozen(tx, request_id)).private
        except Purged:
            return {}


async def confirmation(core: Core, request_id: str) -> Confirmation:
    """The confirmation modal: frozen terms, the facts read again now, and what changed since submit."""
    picture = await request_picture(core, request_id)
    request = picture.request
    if request.is_batch:
        return await _confirmation_of_batch(core, picture)
    private = await private_of(core, request_id)
    operation = core.kinds[request.kind]({**request.terms, **private}, request.subject_label)
    try:
        facts = {**request.facts, **await operation.read(core.partners[request.program])}
    except PartnerError:
        return Confirmation(picture, picture.lines, picture.concerns, (), facts_read=False)
    async with core.store.read() as tx:
        facts |= await local_facts.facts(tx, operation, request.program)
    lines = tuple(operation.lines(facts))
    before = dict(picture.lines)
    changed = tuple(f"{label}: now {value}" for label, value in lines if before.get(label, value) != value)
    concerns = (*operation.concerns(facts), *house_concerns(operation, facts))
    return Confirmation(picture, lines, concerns, changed, facts_read=True)


async def search(
    core: Core,
    *,
    states: Collection[State] = (),
    kinds: Collection[str] = (),
    requester: str = "",
    period: Period | None = None,
    page: int = 1,
) -> RequestPage:
    """One page of the requests that fit everything given; a page past the end is the last one."""
    since, until = (period.since, period.until) if period else (None, None)
    wanted = request_search.Wanted(states, kinds, requester, since=since, until=until)
    async with core.store.read() as tx:
        total = await request_search.count(tx, wanted)
        pages = max(1, math.ceil(total / REQUESTS_PAGE))
        page = min(page, pages)
        rows = await request_search.page(tx, wanted, limit=REQUESTS_PAGE, offset=(page - 1) * REQUESTS_PAGE)
    return RequestPage(tuple(rows), total, page, pages)


async def _confirmation_of_batch(core: Core, picture: RequestPicture) -> Confirmation:
    """The same for a batch: the account is read once, and every row is shown with its private values."""
    request = picture.request
    try:
        live = await batch_facts.account(core, request.program, core.kinds[request.kind])
    except PartnerError:
        return Confirmation(picture, picture.lines, picture.concerns, (), facts_read=False)
    lines, concerns = batch_results.effect(request, {**request.facts, **live})
    before = dict(picture.lines)
    changed = tuple(f"{label}: now {value}" for label, value in lines if before.get(label, value) != value)
    return Confirmation(picture, lines, concerns, changed, facts_read=True)


async def rows_to_approve(core: Core, request_id: str) -> tuple[BulkRowPicture, ...]:
    """The rows of a pending batch with their private values, for the approver's modal only."""
    async with core.store.read() as tx:
        return await batch_results.rows_in_full(tx, core, await existing(tx, request_id))
