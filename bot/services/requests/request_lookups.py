"""Looking at requests: who waits for whom, one in all its detail, what an approver is shown."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from bot.domain.errors import NotAllowed
from bot.domain.events import RequestPage
from bot.domain.people import Standing
from bot.domain.requests import OPEN, DecisionKind, Request, State
from bot.domain.time import Period
from bot.domain.visibility import may_see_private_values, waits_for
from bot.operations import Concern
from bot.partner.errors import PartnerError
from bot.services import people
from bot.services.core import Core
from bot.services.requests import batch_results, local_facts, view_models
from bot.services.requests.drafts import house_concerns, limit_cautions
from bot.services.requests.lifecycle import existing
from bot.view_models import BulkRowView, Confirmation, InboxView, RequestView
from storage.errors import Purged
from storage.requests import decisions, request_search, requests
from storage.transaction import Tx

REQUESTS_PAGE = 25
_MOST_PENDING = 100


@dataclass(frozen=True, slots=True)
class Pending:
    """A request that waits for a decision, and who approved it already."""

    request: Request
    approved_by: frozenset[str]


async def pending(tx: Tx) -> list[Pending]:
    """The requests that wait for a decision, the oldest first, a hundred at most."""
    found = []
    for request in await requests.find(tx, states=(State.PENDING,), limit=_MOST_PENDING, oldest_first=True):
        given = [d.actor for d in await decisions.of(tx, request.id) if d.kind is DecisionKind.APPROVE]
        found.append(Pending(request, frozenset(given)))
    return found


def waiting_for(slack_id: str, waiting: Iterable[Pending], standing: Standing) -> tuple[Request, ...]:
    """Those of them that wait for this person."""
    return tuple(p.request for p in waiting if waits_for(slack_id, p.request, p.approved_by, standing))


async def inbox_of(core: Core, slack_id: str) -> InboxView:
    """What waits for this person, what they asked for, what was decided lately; oldest waiting first."""
    standing = await people.standing_lately(core)
    async with core.store.read() as tx:
        waiting = waiting_for(slack_id, await pending(tx), standing)
        mine = await requests.find(tx, requester=slack_id, states=OPEN, limit=50)
        recent = await requests.find(tx, states=frozenset(State) - OPEN, limit=10)
    return InboxView(waiting, tuple(mine), tuple(recent))


async def request_picture(core: Core, request_id: str) -> RequestView:
    """Raises NotFound."""
    async with core.store.read() as tx:
        return await view_models.request(tx, core, await existing(tx, request_id))


async def private_of(core: Core, request_id: str, slack_id: str, standing: Standing) -> Mapping[str, str]:
    """The sealed values of a request that waits for this person, for their modal; empty once purged.

    `standing` is that of `refresh.require_may_approve`. Raises NotAllowed for everybody else.
    """
    async with core.store.read() as tx:
        await _require_may_see_private_values(tx, await existing(tx, request_id), slack_id, standing)
        return await _private(tx, request_id)


async def _private(tx: Tx, request_id: str) -> Mapping[str, str]:
    try:
        return (await requests.frozen(tx, request_id)).private
    except Purged:
        return {}


async def _require_may_see_private_values(
    tx: Tx, request: Request, slack_id: str, standing: Standing
) -> None:
    approved_by = {d.actor for d in await decisions.of(tx, request.id) if d.kind is DecisionKind.APPROVE}
    if not may_see_private_values(slack_id, request, approved_by, standing):
        raise NotAllowed(
            f"The details of {request.id} are shown in full only to approvers whose decision it waits for.",
            "does_not_wait_for_you",
        )


async def confirmation(core: Core, request_id: str, slack_id: str) -> Confirmation:
    """The modal of this approver: frozen terms, the facts read again now, and what changed since submit."""
    async with core.store.read() as tx:
        picture = await view_models.request(tx, core, await existing(tx, request_id))
        approvers = {d.actor for d in picture.decisions if d.kind is DecisionKind.APPROVE} | {slack_id}
        cautions = await limit_cautions(tx, core, picture.request, approvers)
    picture = replace(picture, concerns=(*cautions, *picture.concerns))
    request = picture.request
    if request.is_batch:
        return await _confirmation_of_batch(core, picture, cautions)
    async with core.store.read() as tx:
        private = await _private(tx, request_id)
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
    concerns = (*cautions, *operation.concerns(facts), *house_concerns(operation, facts))
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
    wanted = request_search.Wanted(states or None, kinds or None, requester or None, since=since, until=until)
    async with core.store.read() as tx:
        total = await request_search.count(tx, wanted)
        pages = max(1, math.ceil(total / REQUESTS_PAGE))
        page = min(page, pages)
        rows = await request_search.page(tx, wanted, limit=REQUESTS_PAGE, offset=(page - 1) * REQUESTS_PAGE)
    return RequestPage(tuple(rows), total, page, pages)


async def _confirmation_of_batch(
    core: Core, picture: RequestView, cautions: tuple[Concern, ...]
) -> Confirmation:
    """The same for a batch: the account is read once, and every row is shown with its private values."""
    request = picture.request
    try:
        live = await core.kinds[request.kind].of_many().account(core.partners[request.program])
    except PartnerError:
        return Confirmation(picture, picture.lines, picture.concerns, (), facts_read=False)
    lines, concerns = batch_results.effect(core, request, {**request.facts, **live})
    before = dict(picture.lines)
    changed = tuple(f"{label}: now {value}" for label, value in lines if before.get(label, value) != value)
    return Confirmation(picture, lines, (*cautions, *concerns), changed, facts_read=True)


async def rows_to_approve(
    core: Core, request_id: str, slack_id: str, standing: Standing
) -> tuple[BulkRowView, ...]:
    """The rows of a batch that waits for this person, with their private values, for their modal.

    `standing` is that of `refresh.require_may_approve`. Raises NotAllowed for everybody else.
    """
    async with core.store.read() as tx:
        batch = await existing(tx, request_id)
        await _require_may_see_private_values(tx, batch, slack_id, standing)
        return await batch_results.rows_in_full(tx, core, batch)
