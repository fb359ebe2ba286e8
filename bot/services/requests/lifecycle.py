"""Asking and withdrawing: submit, cancel, expire, remind."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from bot.domain.errors import LookupFailed, NotAllowed, NotFound, Stale
from bot.domain.ids import no_request, read_request_id
from bot.domain.limits import require_possible
from bot.domain.people import APPROVAL_VALID_FOR, Actor, draft_only
from bot.domain.requests import (
    UNSENT,
    DecisionKind,
    Event,
    Request,
    State,
    ended_line,
    fingerprints,
)
from bot.operations import Operation, urgency
from bot.partner.codec import encode
from bot.services import audit, held_stops, message_kinds, outbox_messages, people
from bot.services.alerts import put_back_rules, urgent_rules
from bot.services.audit import audited_refusal
from bot.services.core import Core
from bot.services.processes import start_holds
from bot.services.requests import batch_rows, local_facts
from bot.services.requests.drafts import may_run_now, operation_of
from bot.services.requests.signatures import body_mac, digest_of, has_its_digest, signed
from bot.together import each_by_itself
from storage.errors import NotAsOnRecord
from storage.log_record import on_record
from storage.operators import pauses, stops
from storage.requests import Draft, as_on_record, attempts, decisions, drafts, requests
from storage.transaction import Contradiction, Tx

FIRST_REMINDER = timedelta(minutes=15)
# Said of one whose calls the API refused before it did anything, or of which none was made.
_NOT_AGAIN = "Your card provider had not carried it out, and it is not sent again."
_WITHDRAWN = f"Cancelled by the requester. {_NOT_AGAIN}"


async def submit(core: Core, draft_id: str, slack_id: str) -> Request:
    """Record the request, its frozen body and its key; the card goes to the approvals channel.

    One transaction, no network: it is committed before Slack is answered. A draft can be submitted
    once; its owner must have been looked up within the last minutes (the preview did).
    """
    actor = await people.checked_lately(core, slack_id)
    async with put_back_rules.noticed(core), core.store.begin() as tx:
        draft = await drafts.take(tx, draft_id)
        if draft is None or draft.owner != slack_id:
            raise Stale(
                "This was submitted already, or the draft is gone. Look at /requests before asking again."
            )
        request = await record(tx, core, draft, operation_of(core, draft), actor)
        if draft.run_now and await may_run_now(tx, core, draft):
            request = await _break_glass(tx, core, request, actor)
            await core.carry_out(tx, request)
        await outbox_messages.card(tx, core, request)
        core.crash_point("submit.before_commit")
    core.crash_point("submit.committed")
    core.traces.submitted(request.id, kind=request.kind, program=request.program)
    return request


async def record(
    tx: Tx, core: Core, draft: Draft, operation: Operation, actor: Actor, *, parent_id: str | None = None
) -> Request:
    """Insert the pending request for `operation`, which a draft asks for; with `parent_id` as a row of that batch.

    Raises `OverLimit` for what nobody could ever approve.
    """
    require_possible(core.policy.limits, operation.exposure_usd())
    body = encode(operation.body())
    kind_policy = core.policy.of(draft.kind)
    request = Request(
        id=await free_id(tx, core),
        program=draft.program,
        kind=draft.kind,
        state=State.PENDING,
        version=1,
        requester=actor.id,
        requester_name=actor.name,
        reason=draft.reason,
        terms=operation.terms(),
        subject=operation.subject,
        subject_label=operation.target_label,
        summary=operation.summary(),
        exposure_usd=operation.exposure_usd(),
        digest="",
        key=core.ids.idempotency_key(),
        approvals_needed=kind_policy.approvals_needed(operation.exposure_usd()),
        policy_version=core.policy.version,
        created_at=tx.now,
        expires_at=tx.now + kind_policy.expires,
        facts=draft.facts,
        body_mac=body_mac(tx.vault, body),
        remind_at=None if parent_id else tx.now + min(FIRST_REMINDER, kind_policy.expires / 2),
        parent_id=parent_id,
    )
    request = replace(request, digest=digest_of(tx.vault, request))
    await requests.insert(tx, request, private=operation.private(), body=body)
    await audit.of_request(tx, core, request, actor.id, "request.submitted", asked_for(core, request))
    return request


def asked_for(core: Core, request: Request) -> dict[str, Any]:
    """What an auditor compares the approvals with: what was at stake, and what the policy asked for then."""
    return {
        "exposure_usd": str(request.exposure_usd),
        "approvals_needed": request.approvals_needed,
        "passkey": core.policy.of(request.kind).needs_passkey(request.exposure_usd),
    }


async def free_id(tx: Tx, core: Core) -> str:
    for length in (4, 4, 4, 5, 6, 8):
        request_id = core.ids.request_id(length)
        if await requests.get(tx, request_id) is None:
            return request_id
    raise RuntimeError("No free request id was found; the random source repeats itself.")


async def _break_glass(tx: Tx, core: Core, request: Request, actor: Actor) -> Request:
    """Freeze now: the requester's own decision, marked as such; a second person confirms or undoes it."""
    decision = signed(tx, core, request, DecisionKind.BREAK_GLASS, actor)
    await decisions.insert(tx, decision)
    moved = await requests.move(
        tx,
        request,
        Event.BREAK_GLASS,
        break_glass=True,
        approved_at=tx.now,
        valid_until=tx.now + APPROVAL_VALID_FOR,
        due_at=tx.now,
        remind_at=tx.now + FIRST_REMINDER,
    )
    await audit.of_request(tx, core, moved, actor.id, "request.break_glass")
    return moved


async def cancel(core: Core, request_id: str, slack_id: str) -> Request:
    """The requester withdraws; possible until something of it may have been carried out. Refusals are audited.

    They are a full member by a look of the last ten minutes, such as that of the click before: Slack waits for the ack.
    """
    request_id = read_request_id(request_id)
    stop = held_stops.of_request(slack_id, request_id, "cancelled")
    return await core.held.recorded(stop, partial(_cancel, core, request_id, slack_id), core.clock)


async def _cancel(core: Core, request_id: str, slack_id: str, is_again: bool) -> Request:
    subject = f"request:{request_id}"
    await people.require_known_member(core, slack_id, action="request.cancel", subject=subject)
    refusals = audited_refusal(core, slack_id, "request.cancel", subject)
    async with refusals, put_back_rules.noticed(core), core.store.begin() as tx:
        request = await existing_as_on_record(tx, request_id)
        if not request.is_batch:  # of a list, its rows are held first
            await requests.lock(tx, request.id)
            request = await existing_as_on_record(tx, request_id)
        if is_again and await is_stopped(tx, request):
            return request
        if (
            request.requester != slack_id or request.parent_id is not None
        ):  # by what was requested, and no other row
            _require_unchanged(_terms_changed(tx, request), tx)
        require_own(request, slack_id)
        if request.parent_id is not None:
            raise NotAllowed(
                f"{request.id} is a row of {request.parent_id}: cancel that, or leave rows out of it while it"
                " is pending.",
                "row_of_a_batch",
            )
        if request.is_batch and request.state in (State.APPROVED, State.EXECUTING):
            return await _stop(tx, core, request, slack_id)
        if request.state not in UNSENT:  # what was not sent can be stopped whatever somebody made of it
            _require_unchanged(await _changed(tx, request), tx)
        await require_call_ended(tx, core, request)
        if not await local_facts.can_be_cancelled(tx, core, request):
            raise Stale(f"{request.id} is {request.word} already: it can no longer be cancelled.")
        if request.state is State.EXECUTING:  # no longer `cancelled`: that is said of what was never sent
            return await close(tx, core, request, Event.FAIL, slack_id, _WITHDRAWN)
        return await close(
            tx, core, request, Event.CANCEL, slack_id, "Cancelled by the requester. Nothing was sent."
        )


async def require_call_ended(tx: Tx, core: Core, request: Request) -> None:
    """What a held stop has kept from being called is executing until that is written down. Raises LookupFailed."""
    is_held = core.held.holds(f"request:{request.id}")
    if is_held and request.state is State.EXECUTING and await tx.lasts(request.lease_until):
        raise LookupFailed(f"Whether {request.id} was sent is known soon.")


async def stop_held(tx: Tx, core: Core, request: Request, actor: Actor, reason: str) -> Request:
    """An approver stops what is executing, of which a held stop has kept every call from being made.

    `reason`: theirs, as a sentence. Raises Stale, LookupFailed.
    """
    await (requests.lock_rows if request.is_batch else requests.lock)(tx, request.id)
    request = await existing(tx, request.id)
    withdrawn = f"Stopped by {actor.name}. {_NOT_AGAIN} {reason}"
    if request.is_batch:
        text = f"Stopped by {actor.name} before it was sent. {reason} Nothing was sent."
        return await _stop(tx, core, request, actor.id, text, withdrawn=withdrawn)
    await require_call_ended(tx, core, request)
    if not await local_facts.can_be_cancelled(tx, core, request):
        raise Stale(f"{request.id} is {request.word} already: it can no longer be rejected.")
    return await close(tx, core, request, Event.FAIL, actor.id, withdrawn)


async def stop_approved(tx: Tx, core: Core, request: Request, actor: Actor, text: str) -> Request:
    """An approver stops what is approved and was not sent; rows of a batch that were sent go on. Raises Stale."""
    # Another process may be claiming it, or its first row. The log comes last: whoever has it waits for nothing.
    await (requests.lock_rows if request.is_batch else requests.lock)(tx, request.id)
    request = await existing(tx, request.id)
    if request.state is not State.APPROVED:
        raise Stale(f"{request.id} is {request.word} already: it can no longer be rejected.")
    await audit.of_request(tx, core, request, actor.id, "request.rejected_before_sending")
    text = f"Stopped by {actor.name} before it was sent. {text}"
    if request.is_batch:
        return await _stop(tx, core, request, actor.id, text)
    return await close(tx, core, request, Event.CANCEL, actor.id, text)


async def is_stopped(tx: Tx, request: Request) -> bool:
    """Did somebody stop it already, as is on record? `request`: as on record.

    A list may have another end than its rows that were not sent.
    """
    if request.state in (State.REJECTED, State.CANCELLED):
        return True
    if request.is_batch:
        rows = await batch_rows.included(tx, request)
        states = {row.state for row in rows}
        is_so = State.CANCELLED in states and states.isdisjoint(UNSENT)
        return is_so and not await as_on_record.differing(tx, rows)
    return request.state is State.FAILED and _NOT_AGAIN in request.outcome_text


def require_own(request: Request, slack_id: str) -> None:
    """Who asked withdraws it, and nobody else. Raises NotAllowed."""
    if request.requester != slack_id:
        raise NotAllowed(
            "Only the person who asked can cancel. You can reject it instead.", "not_the_requester"
        )


async def _changed(tx: Tx, request: Request) -> Contradiction | None:
    """Where something of a request that was sent, or of its calls, is not as on record."""
    return await as_on_record.changed(tx, request) or _terms_changed(tx, request)


def _terms_changed(tx: Tx, request: Request) -> Contradiction | None:
    if has_its_digest(tx.vault, request, as_proof=True):
        return None
    why = f"is {request.state} by the audit log, and somebody changed in its row what was requested"
    return Contradiction(request.id, why, request.state)


def _require_unchanged(wrong: Contradiction | None, tx: Tx) -> None:
    """Nobody reads what somebody wrote into a row for that moment. Raises NotAsOnRecord, and people are notified."""
    if wrong is not None:
        on_record.note(tx, wrong)
        raise NotAsOnRecord(wrong.request_id, wrong.why)


async def _stop(
    tx: Tx,
    core: Core,
    batch: Request,
    slack_id: str,
    text: str = batch_rows.STOPPED,
    *,
    withdrawn: str = _WITHDRAWN,
) -> Request:
    """A batch that is under way: what was not sent is not, and what was refused each time is not sent again.

    `text`: what each row says that was not sent; `withdrawn`: each that was refused.
    A row that is not as on record is left to those who are notified of it; nothing more is sent for it either.
    """
    await requests.lock_rows(tx, batch.id)
    count = 0
    for row in await batch_rows.included(tx, batch):
        if row.state is not State.EXECUTING:
            continue
        wrong = await _changed(tx, row)
        if wrong is not None:
            on_record.note(tx, wrong)
        elif await local_facts.can_be_cancelled(tx, core, row):
            await close(tx, core, row, Event.FAIL, slack_id, withdrawn)
            count += 1
    current = await existing(tx, batch.id)  # as those rows have left it
    stopped = await batch_rows.stop(tx, core, current, slack_id, withdrawn=count, text=text)
    await urgent_rules.follow(tx, core, stopped)
    return stopped


async def close(
    tx: Tx, core: Core, request: Request, event: Event, actor: str, text: str, *, line: str = ""
) -> Request:
    """End a request before anything was carried out: reject, cancel, expire. Private details go with it.

    `line`: what its thread says, where that is not the new state. Of what may have been carried out before an older
    copy of the database was put in place, nobody reads that nothing was sent; nor while nobody could look for that.
    """
    if not line:
        text = await start_holds.said_unsent(tx, request, text)
    if request.is_batch:
        await requests.lock_rows(tx, request.id)
    was_called = request.state is State.EXECUTING and not request.is_batch
    leans_on = fingerprints.leant_on(await attempts.of(tx, request.id)) if was_called else {}
    moved = await requests.move(
        tx, request, event, outcome_text=text, finished_at=tx.now, due_at=None, remind_at=None
    )
    await requests.purge(tx, request.id)
    await audit.of_request(tx, core, moved, actor, f"request.{moved.state}", leans_on)
    if moved.is_batch:
        await batch_rows.close_rows(tx, core, moved, event, text, actor=actor)
    await batch_rows.row_changed(tx, core, moved)
    await urgent_rules.follow(tx, core, moved)
    await outbox_messages.card(tx, core, moved)
    line = (
        line or ended_line(moved) or ("withdrawn" if request.state is State.EXECUTING else str(moved.state))
    )
    await outbox_messages.line(tx, core, moved, line, actor=actor)
    await outbox_messages.tell_requester(tx, core, moved, actor)
    return moved


async def expire_due(core: Core) -> int:
    """Pending requests past their time, and approvals not sent in time: both end as expired."""
    count, last = 0, None
    async with each_by_itself() as each:
        while True:
            async with core.store.read() as tx:
                found = await requests.expiring(tx, last)
            if not found:
                return count
            for request in found:
                with each():
                    count += await _expire(core, request)
            last = found[-1]


async def _expire(core: Core, request: Request) -> bool:
    """In a transaction of its own; False where it changed since it was found."""
    with suppress(Stale):
        async with core.store.begin() as tx:
            return await _expire_in(tx, core, request)
    return False


async def _expire_in(tx: Tx, core: Core, request: Request) -> bool:
    if await _waits_for_a_pause(tx, core, request):
        return False
    paused = await pauses.of(tx, request.program)
    stopped = await stops.of(tx, request.program)
    if request.state is State.PENDING:
        text = "Nobody decided in time. Nothing was sent."
    elif stopped.draft_only:
        text = draft_only.NOT_SENT
    elif paused is not None:
        text = (
            f"Approved, but {paused.by_name} had paused sending to {request.program} until the approval ran"
            " out. Nothing was sent; request it again once sending has resumed."
        )
    else:
        text = "Approved, but it could not be sent in time. Nothing was sent."
    await close(tx, core, request, Event.EXPIRE, "system:expiry", text)
    return True


async def _waits_for_a_pause(tx: Tx, core: Core, request: Request) -> bool:
    """What cannot wait, and could not be sent because sending was paused, does not expire."""
    if request.state is not State.APPROVED or not core.kinds[request.kind].handling.is_urgent:
        return False
    if urgency.waited_for_a_pause(request):
        return True
    stopped = await stops.of(tx, request.program)
    return (stopped.by_key or stopped.by_people) and not stopped.draft_only


async def remind_due(core: Core) -> int:
    """Remind in the thread at 15 minutes, then at doubling distances, while approvals are missing."""
    async with core.store.read() as tx:
        found = await requests.reminding(tx)
    count = 0
    async with each_by_itself() as each:
        for request in found:
            with each():
                count += await _remind(core, request)
    return count


async def _remind(core: Core, request: Request) -> bool:
    """In a transaction of its own; False where it changed since it was found."""
    with suppress(Stale):
        async with core.store.begin() as tx:
            waited = tx.now - request.created_at
            await requests.touch(tx, request, remind_at=request.created_at + waited * 2)
            await outbox_messages.line(tx, core, request, "reminder", tag=str(int(waited.total_seconds())))
            return True
    return False


async def existing(tx: Tx, request_id: str) -> Request:
    wanted = read_request_id(request_id)
    return _found(tx, request_id, await requests.get(tx, wanted))


async def existing_as_on_record(tx: Tx, request_id: str) -> Request:
    """As `existing`, for who decides on it: raises NotAsOnRecord where its row isn't as the audit log has it."""
    wanted = read_request_id(request_id)
    request = await requests.get(tx, wanted)
    await as_on_record.require(tx, wanted, request)
    return _found(tx, request_id, request)


async def existing_with_message(tx: Tx, request_id: str) -> tuple[Request, bool]:
    """As `existing_as_on_record`, and whether its message is in Slack."""
    wanted, kind = read_request_id(request_id), message_kinds.REQUEST_CARD
    subject = message_kinds.stored_subject(kind.about, wanted)
    request, is_posted = await requests.get_with_message(tx, wanted, subject, kind.form.value)
    await as_on_record.require(tx, wanted, request)
    return _found(tx, request_id, request), is_posted


def _found(tx: Tx, request_id: str, request: Request | None) -> Request:
    if request is None:
        tx.require_readable("request", read_request_id(request_id))
        raise NotFound(no_request(request_id))
    return request
