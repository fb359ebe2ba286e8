"""Looking at requests: who waits for whom, one in all its detail, what an approver is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot import intents
from bot.domain.alerts import float_alerts
from bot.domain.errors import LookupFailed, NotAllowed
from bot.domain.events import RequestPage
from bot.domain.people import Standing
from bot.domain.requests import OPEN, DecisionKind, Request, State, pages_of, who_may_decide
from bot.domain.slack_faults import NOT_THERE
from bot.domain.time import Period
from bot.domain.visibility import may_see_private_values, waits_for
from bot.operations import Concern, Line, loaded_facts
from bot.outcomes import planning
from bot.partner.errors import PartnerError
from bot.services import paging, people
from bot.services.core import Core
from bot.services.requests import (
    batch_approval,
    batch_results,
    batch_rows,
    batch_summary,
    granted_sums,
    local_facts,
    view_models,
)
from bot.services.requests.batch_summary import RowWarning
from bot.services.requests.drafts import (
    limit_cautions,
    limit_lines_for_approvers,
    on_target,
    recorded_concerns,
    resolve_card,
)
from bot.services.requests.lifecycle import existing
from bot.services.requests.signatures import require_its_digest
from bot.view_models import BatchConfirmation, Confirmation, InboxView, RequestView
from storage.cards import cards
from storage.errors import Purged
from storage.messages import alerts
from storage.requests import decisions, request_search, requests
from storage.transaction import Tx

REQUESTS_PAGE = 25
# What is counted, and how far a page can be named by its number; the rest is turned page by page.
MOST_COUNTED = 1_000
_MOST_PENDING = 100
# So many cards are read at the same time; the API's rate limit is everybody's.
_AT_ONCE = 5


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


async def inbox_of(core: Core, slack_id: str, name: str = "") -> InboxView:
    """What waits for this person, what they asked for, what was decided lately; oldest waiting first.

    `name` is theirs, where somebody else looks.
    """
    standing = await people.standing_lately(core)
    async with core.store.read() as tx:
        waiting = waiting_for(slack_id, await pending(tx), standing)
        mine = await requests.find(tx, requester=slack_id, states=OPEN, limit=50)
        recent = await requests.find(tx, states=frozenset(State) - OPEN, limit=10)
    return InboxView(waiting, tuple(mine), tuple(recent), name)


async def people_called(core: Core, written: str) -> Mapping[str, str]:
    """Who may decide or has an open request, and is called so: Slack id to display name.

    `written` is a Slack id, or a name as people write it: the whole of it or one of its words, with or without @.
    """
    standing = await people.standing_lately(core)
    async with core.store.read() as tx:
        waiting = await requests.find(tx, states=OPEN, limit=_MOST_PENDING)
    names = {one.requester: one.requester_name for one in waiting}
    names |= await _names(core, standing.approvers - names.keys())
    written = written.strip().removeprefix("@")
    wanted = intents.fold(written)
    return {
        one: name
        for one, name in names.items()
        if wanted and (written == one or wanted == intents.fold(name) or wanted in intents.fold(name).split())
    }


async def request_view(core: Core, request_id: str) -> RequestView:
    """Raises NotFound."""
    async with core.store.read() as tx:
        return await view_models.request(tx, core, await existing(tx, request_id))


async def view_to_sign(core: Core, request_id: str) -> RequestView:
    """What a person reads who decides on it: as it was requested, with its batch and its rows. Raises NotAllowed."""
    async with core.store.read() as tx:
        request = await existing(tx, request_id)
        await batch_approval.decided_on(tx, request)
        if request.is_batch:
            require_its_digest(tx.vault, *await batch_rows.included(tx, request))
        return await view_models.request(tx, core, request)


async def who_can_decide(core: Core, found: RequestView) -> tuple[str, ...]:
    """Display names of those who can approve or reject a pending request now; empty for any other. By name."""
    if found.request.state is not State.PENDING:
        return ()
    able = who_may_decide(found.request, found.decisions, await people.standing_lately(core))
    return tuple(sorted((await _names(core, able)).values()))


async def _names(core: Core, slack_ids: Collection[str]) -> dict[str, str]:
    """Display names by Slack id, of those whom Slack knows: a group may hold one whom it doesn't, who can do nothing.

    Raises LookupFailed where Slack cannot say.
    """
    names = {}
    for one in slack_ids:
        try:
            names[one] = (await core.directory.actor(one)).name
        except LookupFailed as error:
            if error.code not in NOT_THERE:
                raise
    return names


async def in_full(core: Core, request_id: str, slack_id: str, standing: Standing) -> tuple[Line, ...]:
    """What a request that waits for this person asks for, private values not masked, for their modal.

    Empty where it has none, and once they are purged. `standing` is that of `approvals.require_may_approve`. Raises
    NotAllowed for everybody else.
    """
    async with core.store.read() as tx:
        request = await existing(tx, request_id)
        await _require_may_see_private_values(tx, request, slack_id, standing)
        private = await _private(tx, request_id)
    if not private:
        return ()
    cls = core.kinds[request.kind]
    return cls.of_stored(request.terms, request.subject_label, private=private).in_full()


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


async def _foreign_debit(tx: Tx, request: Request) -> list[Concern]:
    """A debit under its key that nothing from here has made: the figures below do not hold then."""
    alert = await alerts.newest(tx, float_alerts.UNEXPLAINED.name, request.id)
    if alert is None or request.state is not State.PENDING or planning.is_doubtful(request, tx.now):
        return []  # a key that may be forgotten is approved by nobody
    text = (
        "The ledger has a debit under the key of this request already, and nothing was sent for it from here:"
        " see the alert. With your approval the same key is sent, and your card provider does not pay a second time."
    )
    return [Concern(text)]


async def confirmation(core: Core, request_id: str, slack_id: str) -> Confirmation:
    """The modal of this approver: frozen terms, the facts read again now, and what changed since submit.

    Of a batch, see `confirmation_of_batch`.
    """
    async with core.store.read() as tx:
        request = await existing(tx, request_id)
        require_its_digest(tx.vault, request)
        view = await view_models.request(tx, core, request)
        approvers = {d.actor for d in view.decisions if d.kind is DecisionKind.APPROVE} | {slack_id}
        cautions = [
            *await _foreign_debit(tx, view.request),
            *await limit_cautions(tx, core, view.request, approvers),
        ]
        limits = await limit_lines_for_approvers(tx, core, view.request, approvers)
        limits = (*limits, *await granted_sums.lines(tx, core, view.request))
    view = replace(view, concerns=(*cautions, *view.concerns))
    request = view.request
    async with core.store.read() as tx:
        private = await _private(tx, request_id)
    operation = core.kinds[request.kind].of_stored(request.terms, request.subject_label, private=private)
    read = await local_facts.read_now(operation, local_facts.shown_by(core, request.program))
    if read is None and not operation.handling.must_recheck:
        read = await local_facts.last_read(core, operation)
    async with core.store.read() as tx:
        # What was sent on the same target since this was requested is shown to whoever approves it.
        facts = {
            **loaded_facts(request.facts),
            **(read or {}),
            **await on_target(tx, operation, request.program, but={request.id}),
        }
        if read is not None:
            facts |= await local_facts.facts(tx, operation, request.program)
        waits = await local_facts.waits_for(tx, type(operation), request.subject, request.program)
        age = local_facts.reading_of(request.created_at, tx.now) if request.facts else ""
    concerns = (*cautions, *operation.concerns(facts), *recorded_concerns(operation, facts))
    if read is None:
        return Confirmation(
            view,
            (*view.lines, *limits),
            concerns,
            (),
            facts_read=False,
            last_read=age,
            waits=bool(waits),
        )
    lines = tuple(operation.lines(facts))
    changed = _changed(view.lines, lines)
    return Confirmation(view, (*lines, *limits), concerns, changed, facts_read=True, waits=bool(waits))


async def search(
    core: Core,
    *,
    states: Collection[State] = (),
    kinds: Collection[str] = (),
    requester: str = "",
    subject: str = "",
    period: Period | None = None,
    page: int = 1,
    beside: str = "",
) -> RequestPage:
    """One page of the requests that fit everything given; a page past the end is the last one.

    `beside`: where the page before or after it ended (`after:R-7K3M`, `before:R-7K3M`), so that nothing is shown twice
    or left out, whatever comes meanwhile. Raises NotFound for a number that is too high to count up to.

    With a `subject`, such as the id of a card, the rows of batches count one by one.
    """
    since, until = (period.since, period.until) if period else (None, None)
    wanted = request_search.Wanted(
        states or None, kinds or None, requester or None, subject or None, since=since, until=until
    )
    async with core.store.read() as tx:
        counted = await request_search.count(tx, wanted, most=MOST_COUNTED + 1)
        total = min(counted, MOST_COUNTED)
        pages = paging.number_of_pages(total, REQUESTS_PAGE) if total == counted else None
        side, _, last = beside.partition(":")
        place = await request_search.place(tx, last, back=side == "before") if last else None
        page, skip = paging.begins(page, pages, REQUESTS_PAGE, is_placed=place is not None)
        rows = await request_search.page(tx, wanted, limit=REQUESTS_PAGE + 1, skip=skip, beside=place)
    shown, has_more = paging.cut(rows, REQUESTS_PAGE, back=place is not None and place.back)
    return RequestPage(tuple(shown), total, page, pages, has_more)


async def open_about_card(core: Core, text: str) -> RequestPage:
    """The open requests about the card that `text` names. Raises NotFound, and ValueError for a card number."""
    async with core.store.read() as tx:
        entry = await resolve_card(tx, text)
    return await search(core, states=OPEN, subject=entry.id)


async def confirmation_of_batch(
    core: Core, request_id: str, slack_id: str, standing: Standing, page: int
) -> BatchConfirmation:
    """The same for a batch, one page of its rows: the account and the cards of this page are read live.

    All rows are judged again by our own records, and each is shown with its private values. `standing` is that of
    `approvals.require_may_approve`. Raises NotAllowed for everybody for whom it does not wait.
    """
    async with core.store.read() as tx:
        batch = await existing(tx, request_id)
        await _require_may_see_private_values(tx, batch, slack_id, standing)
        rows = await batch_results.rows_in_full(tx, core, batch)
        asked = {row.row_number: row for row in await batch_rows.included(tx, batch)}
        require_its_digest(tx.vault, batch, *asked.values())
    pages = pages_of([row.size for row in rows])
    page = min(max(page, 1), len(pages))
    of_page = [asked[rows[place].number] for place in pages[page - 1]]
    unread, live = await asyncio.gather(_read_cards(core, of_page), _account_now(core, batch))
    async with core.store.read() as tx:
        again = await existing(tx, request_id)
        require_its_digest(tx.vault, again)
        view = await view_models.request(tx, core, again)
        operations = {
            n: core.kinds[row.kind].of_stored(row.terms, row.subject_label) for n, row in asked.items()
        }
        _, now = await batch_summary.look(
            tx, operations, batch.program, but={row.id for row in asked.values()}
        )
        approvers = {d.actor for d in view.decisions if d.kind is DecisionKind.APPROVE} | {slack_id}
        cautions = await limit_cautions(tx, core, view.request, approvers)
        limits = await limit_lines_for_approvers(tx, core, view.request, approvers)
        limits = (*limits, *await granted_sums.lines(tx, core, view.request))
    facts = {**loaded_facts(batch.facts), **(live or {}), "warnings": batch_summary.kept(now)}
    lines, concerns = batch_results.effect(core, batch, facts)
    texts = batch_summary.by_number(now)
    found = Confirmation(
        view,
        (*lines, *limits),
        (*cautions, *unread, *concerns),
        (*_changed(view.lines, lines), *_changed_rows(batch, asked, now)),
        facts_read=live is not None,
        last_read="" if live is not None else local_facts.reading_of(batch.created_at, core.clock.now()),
    )
    return BatchConfirmation(found, tuple(replace(r, warnings=texts.get(r.number, ())) for r in rows), page)


def _changed(before: Iterable[Line], now: Iterable[Line]) -> tuple[str, ...]:
    """The facts that read otherwise now than they did at the submission."""
    was = dict(before)
    return tuple(f"{label}: now {value}" for label, value in now if was.get(label, value) != value)


def _changed_rows(batch: Request, asked: Collection[int], now: Sequence[RowWarning]) -> tuple[str, ...]:
    """The same of the rows asked for; nothing of a batch of an older version, whose warnings are sentences."""
    kept = batch.facts.get("warnings", ())
    if any(isinstance(warning, str) for warning in kept):
        return ()
    before = [warning for warning in batch_summary.of_facts(batch.facts) if warning.row in asked]
    return batch_summary.changes(before, now)


async def _account_now(core: Core, batch: Request) -> Mapping[str, Any] | None:
    """What the account says of a list, read live within a moment; None where the API does not tell by then."""
    try:
        async with asyncio.timeout(local_facts.READ_WITHIN_S):
            return await core.kinds[batch.kind].of_many().account(core.partners[batch.program])
    except (PartnerError, TimeoutError):
        return None


async def _read_cards(core: Core, rows: Sequence[Request]) -> tuple[Concern, ...]:
    """Read the cards of these rows live, for our records; what is said where some could not be read."""
    with_card = [row for row in rows if row.subject and any(f.card for f in core.kinds[row.kind].fields)]
    gate = asyncio.Semaphore(_AT_ONCE)

    async def read(row: Request) -> tuple[str, str | None]:
        async with gate:
            return row.subject, (await core.partners[row.program].card(row.subject)).card.status

    reading = [asyncio.create_task(read(row)) for row in with_card]
    try:
        if reading:
            await asyncio.wait(reading, timeout=local_facts.READ_WITHIN_S)
    finally:
        for task in reading:
            task.cancel()  # nothing where it is done
    answers = await asyncio.gather(*reading, return_exceptions=True)
    broken = [answer for answer in answers if isinstance(answer, BaseException)]
    for error in broken:
        if not isinstance(error, PartnerError | asyncio.CancelledError):
            raise error
    async with core.store.begin() as tx:
        for answer in answers:
            if not isinstance(answer, BaseException) and answer[1] is not None:
                await cards.set_status(tx, answer[0], answer[1])
    if not broken:
        return ()
    cards_of = "the card of 1 row" if len(broken) == 1 else f"the cards of {len(broken)} rows"
    return (
        Concern(
            f"Your card provider could not be read for {cards_of} here: what is said of them is as last read."
        ),
    )
