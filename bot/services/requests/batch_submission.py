"""Asking for many cards at once: preview, submit, and leaving rows out before the approval.

A batch is one request that people approve as a whole, with limits and tiers on its total; each row is a
request of its own under it, with its own key permanently, so that what holds for one call holds for each.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from bot.domain.errors import NotAllowed, NotFound, Stale
from bot.domain.limits import require_possible
from bot.domain.money import exact_sum
from bot.domain.requests import Event, Request, State, counted, digest_of_rows, who_may_be_second
from bot.operations import Concern, stored_facts, urgency
from bot.partner.codec import encode
from bot.services import audit, outbox_messages, people
from bot.services.alerts import put_back_rules
from bot.services.audit import audited_refusal
from bot.services.core import Core
from bot.services.operators import programs
from bot.services.requests import batch_rows, batch_summary, drafts, granted_sums, local_facts
from bot.services.requests.batch_approval import ROWS_DIGEST
from bot.services.requests.batch_reading import DraftRow, Read, of_draft
from bot.services.requests.lifecycle import FIRST_REMINDER, asked_for, existing_as_on_record, free_id, record
from bot.services.requests.signatures import body_mac, digest_of, require_its_digest
from bot.view_models import BulkPreviewView, BulkRowView
from storage.requests import Draft, decisions, requests
from storage.requests import drafts as draft_rows
from storage.transaction import Tx

_LEFT_OUT = "Left out by the requester before the approval. Nothing was sent."
_MOST_LINES_LISTED = 10
_GONE = "This was submitted already, or the draft is gone. Look at /requests before asking again."


async def preview(core: Core, draft_id: str, slack_id: str) -> BulkPreviewView:
    """Read the float once, look at each row's card, and say what all of it would do. Raises PartnerError."""
    async with core.store.read() as tx:
        draft = await draft_rows.get(tx, draft_id)
    read = of_draft(core, draft, slack_id)
    if draft is None or read is None:
        raise NotFound("This list is gone. Upload or paste it again; nothing was recorded.")
    await people.require_may_ask(
        core, slack_id, read.cls, action=f"{read.cls.kind}.bulk.preview", within_s=people.ANSWERED_WITHIN_S
    )
    live_facts = await local_facts.in_time(read.cls.of_many().account(core.partners[draft.program]))
    standing = await people.standing_lately(core)
    operations = read.operations
    total_usd = exact_sum(operation.exposure_usd() for operation in operations)
    require_possible(core.policy.limits, total_usd)
    async with core.store.begin() as tx:
        facts = {**live_facts, **await _recorded_facts(tx, core, read, draft.program)}
        await draft_rows.put(tx, replace(draft, facts=stored_facts(facts)))
        limits = await drafts.limit_lines(tx, core, total_usd, slack_id)
        over = await drafts.limit_warnings(tx, core, total_usd, slack_id)
        policy, by_card = core.policy.of(read.cls.kind), [(o.subject, o.exposure_usd()) for o in operations]
        asked = await granted_sums.of_amounts(tx, core, read.cls.kind, slack_id, total_usd, by_card)
        paused = await programs.why_waits(tx, draft.program, is_urgent=read.cls.handling.is_urgent)
    kind, rows = read.cls.kind, len(operations)
    warnings = batch_summary.by_number(batch_summary.of_facts(facts))
    concerns = [*over, *batch_summary.concerns(read.cls, rows, total_usd, facts)]
    if paused:
        concerns.insert(0, Concern(urgency.while_paused(kind, paused)))
    return BulkPreviewView(
        draft_id=draft.id,
        kind=kind,
        title=read.cls.title,
        verb=read.cls.verb,
        summary=batch_summary.summary(read.cls, rows, total_usd),
        total_usd=total_usd,
        lines=(
            *batch_summary.lines(read.cls, rows, total_usd, facts),
            *limits,
            *granted_sums.lines_of(policy, asked),
        ),
        concerns=tuple(concerns),
        rows=tuple(
            BulkRowView(
                number=number,
                line=row.line,
                summary=operation.summary(),
                warnings=warnings.get(number, ()),
            )
            for number, (row, operation) in enumerate(zip(read.rows, operations, strict=True), 1)
        ),
        approvals_needed=asked.conditions.needed,
        approvers=tuple(sorted(who_may_be_second(slack_id, standing))),
        program=draft.program,
        live=core.is_live(draft.program),
    )


async def _recorded_facts(tx: Tx, core: Core, read: Read, program: str) -> dict[str, Any]:
    """What our own records say of the whole and of each row, and the warnings that follow."""
    by_row, found = await batch_summary.look(tx, dict(enumerate(read.operations, 1)), program)
    hold = await requests.pending_hold(tx, program, core.float_kinds, core.policy.limits)
    return {"pending_usd": hold.usd, "by_row": by_row, "warnings": batch_summary.kept(found)}


async def submit(core: Core, draft_id: str, slack_id: str, *, reason: str) -> Request:
    """Record the batch and its rows, each with its key and its sealed body, in one transaction; no network."""
    actor = await people.checked_lately(core, slack_id)
    async with core.store.begin() as tx:
        draft = await draft_rows.take(tx, draft_id)
        read = of_draft(core, draft, slack_id)
        if draft is None or read is None or not draft.facts:
            raise Stale(_GONE)
        # Read again: what changed since the preview is seen by those who approve.
        facts = {**draft.facts, **stored_facts(await _recorded_facts(tx, core, read, draft.program))}
        draft = replace(draft, kind=read.cls.kind, reason=reason, facts=facts)
        parent_id = await free_id(tx, core)
        made = [
            await record(
                tx, core, _draft_of_row(draft, index, row), row.operation, actor, parent_id=parent_id
            )
            for index, row in enumerate(read.rows)
        ]
        batch = _batch(core, tx, parent_id, draft, made)
        require_possible(core.policy.limits, batch.exposure_usd)
        await requests.insert(tx, batch, private={}, body=_no_body())
        body = {**asked_for(core, batch), "rows": [row.id for row in made]}
        await audit.of_request(tx, core, batch, actor.id, "request.submitted", body)
        await outbox_messages.card(tx, core, batch)
        core.crash_point("submit.before_commit")
    core.crash_point("submit.committed")
    for request in (batch, *made):
        core.traces.submitted(request.id, kind=request.kind, program=request.program)
    return batch


def _draft_of_row(draft: Draft, index: int, row: DraftRow) -> Draft:
    return replace(draft, facts={**draft.facts["by_row"][index], "row": index + 1, "line": row.line})


def _no_body() -> bytes:
    """A batch sends nothing itself."""
    return encode({})


def _batch(core: Core, tx: Tx, request_id: str, draft: Draft, rows: Sequence[Request]) -> Request:
    """The request that stands for the rows; they tell who asks for what."""
    first = rows[0]
    kept = {name: value for name, value in draft.facts.items() if name != "by_row"}
    batch = replace(
        first,
        id=request_id,
        parent_id=None,
        subject="",
        subject_label="",
        key=core.ids.idempotency_key(),
        facts=kept,
        body_mac=body_mac(tx.vault, _no_body()),
        remind_at=tx.now + min(FIRST_REMINDER, core.policy.of(draft.kind).expires / 2),
    )
    terms = _terms(core, batch, rows)
    batch = replace(batch, **terms)
    return replace(batch, digest=digest_of(tx.vault, batch))


def _terms(core: Core, batch: Request, rows: Sequence[Request]) -> dict[str, Any]:
    """What a batch of these rows asks for: its sentence, its total, and the approvals for that total."""
    total_usd = exact_sum(row.exposure_usd for row in rows)
    return {
        "terms": {"rows": str(len(rows)), ROWS_DIGEST: digest_of_rows(row.digest for row in rows)},
        "rows": len(rows),
        "exposure_usd": total_usd,
        "summary": batch_summary.summary(core.kinds[batch.kind], len(rows), total_usd),
        "approvals_needed": core.policy.of(batch.kind).approvals_needed(total_usd),
    }


async def leave_out(core: Core, request_id: str, slack_id: str, row_ids: Collection[str]) -> Request:
    """The requester takes rows out of a pending batch. What is asked for changes, so earlier approvals fall."""
    refusals = audited_refusal(core, slack_id, "request.leave_out", f"request:{request_id}")
    async with refusals, put_back_rules.noticed(core), core.store.begin() as tx:
        return await _leave_out(tx, core, request_id, slack_id, frozenset(row_ids))


async def _leave_out(tx: Tx, core: Core, request_id: str, slack_id: str, row_ids: frozenset[str]) -> Request:
    await requests.lock_rows(tx, request_id)
    batch = await existing_as_on_record(tx, request_id)
    if not batch.is_batch:
        raise NotFound(f"{batch.id} has no rows.")
    if batch.requester != slack_id:
        raise NotAllowed(
            "Only the person who asked can leave rows out. You can reject it.", "not_the_requester"
        )
    if batch.state is not State.PENDING:
        raise Stale(f"{batch.id} is {batch.state} already: no row can be left out any more.")
    rows = await batch_rows.included(tx, batch)
    require_its_digest(tx.vault, batch, *rows)  # it is signed again below
    out = [row for row in rows if row.id in row_ids]
    kept = [row for row in rows if row.id not in row_ids]
    if len(out) != len(row_ids):
        raise Stale("A row you chose is not part of it any more. Open the rows again.")
    if not out or not kept:
        raise Stale("Choose at least one row and leave at least one; to withdraw all of it, cancel it.")
    for row in out:
        left_out = {"left_out": True}
        await batch_rows.close_row(tx, core, row, Event.CANCEL, _LEFT_OUT, actor=slack_id, outcome=left_out)
    terms = _terms(core, batch, kept)
    digest = digest_of(tx.vault, replace(batch, **terms))
    fallen = await decisions.drop_approvals(tx, batch.id)
    batch = await requests.change_terms(tx, batch, **terms, digest=digest)
    body = {**asked_for(core, batch), "rows": [row.id for row in out], "approvals_fallen": fallen}
    await audit.of_request(tx, core, batch, slack_id, "request.rows_left_out", body)
    await outbox_messages.card(tx, core, batch)
    await outbox_messages.line(
        tx, core, batch, "left_out", actor=slack_id, text=_in_words(out, batch, fallen)
    )
    return batch


def _in_words(out: Sequence[Request], batch: Request, fallen: int) -> str:
    gone = "; ".join(row.summary for row in out[:_MOST_LINES_LISTED])
    more = f"; and {len(out) - _MOST_LINES_LISTED} more" if len(out) > _MOST_LINES_LISTED else ""
    again = " Approvals given before no longer count." if fallen else ""
    return f"Left out: {gone}{more}. It now asks for {counted(batch.rows or 0)}: {batch.summary}.{again}"
