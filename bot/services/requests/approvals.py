"""Deciding: the one gate every approval, rejection, confirmation and resolution goes through.

Membership is read from Slack now, before the transaction; the transaction then judges by
the row as it is. If the membership cannot be read, nothing is decided.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from bot.domain import slack_faults
from bot.domain.alerts import request_alerts
from bot.domain.errors import (
    AlreadyDecided,
    CountersignError,
    Expired,
    InvalidInput,
    NotAllowed,
    NotFound,
    NotPosted,
    OverLimit,
    PasskeyNeeded,
    Stale,
)
from bot.domain.ids import read_request_id
from bot.domain.limits import never_approvable
from bot.domain.passkeys import Purpose, evidence_digest, terms_of_resolution
from bot.domain.people import APPROVAL_VALID_FOR, Actor, Standing, is_full_member
from bot.domain.requests import (
    TERMINAL,
    UNSENT,
    Conditions,
    Decision,
    DecisionKind,
    Event,
    Reason,
    Request,
    State,
    Verdict,
    decide,
    two_agree,
)
from bot.domain.sentences import quoted, with_stop
from bot.domain.visibility import may_see_form
from bot.operations import read_reason, urgency
from bot.outcomes import planning
from bot.partner.secret import Secret
from bot.services import alerts, audit, held_stops, message_kinds, outbox_messages, people
from bot.services.alerts import put_back_rules, urgent_rules
from bot.services.audit import audited_refusal
from bot.services.core import Core
from bot.services.operators import people_watch
from bot.services.passkeys import links, proofs
from bot.services.processes import start_holds
from bot.services.requests import batch_approval, batch_rows, granted_sums
from bot.services.requests.lifecycle import (
    close,
    existing,
    existing_as_on_record,
    existing_with_message,
    is_stopped,
    stop_approved,
    stop_held,
)
from bot.services.requests.signatures import newest_words, require_its_digest, signed
from storage import columns
from storage.messages import outbox
from storage.operators import safe_mode
from storage.requests import Draft, decisions, drafts, requests
from storage.transaction import Tx

_CHANNEL = "the approvals channel"


async def approve(
    core: Core, request_id: str, slack_id: str, *, shown_digest: str, proof: proofs.Proof | None = None
) -> tuple[Request, Verdict]:
    """Record an approval; the deciding one also moves the request to approved and wakes the executor.

    Raises the refusal as a `CountersignError` (audited). `shown_digest` is of the terms the person read, `proof` from
    the page for passkeys, which the policy may ask for.
    """
    core.crash_point("approve.received")
    refusals = audited_refusal(core, slack_id, "request.approve", f"request:{request_id}")
    async with refusals, put_back_rules.noticed(core):
        actor = await people.member(core, slack_id)
        roles = await people.roles(core)
        await people_watch.note(core, "approvers", roles.standing.named)
        requester = await _requester_of(core, request_id)
        _require_active(core, requester)
        judge = partial(_approve, core, request_id, actor, shown_digest, proof, roles)
        request, verdict = await people.judged(core, roles.standing, (actor, requester), judge)
    core.crash_point("approve.committed")
    return request, verdict


async def _requester_of(core: Core, request_id: str) -> Actor:
    async with core.store.read() as tx:
        requester = (await existing_as_on_record(tx, request_id)).requester
    return await people.account(core, requester)


def _require_active(core: Core, requester: Actor) -> None:
    """Raise NotAllowed where who asked may not ask any more."""
    if requester.is_gone:
        text = "Slack does not know the account of the person who asked any more; reject this request."
        raise NotAllowed(text, "requester_unknown")
    if requester.deleted:
        raise NotAllowed("The person who asked is deactivated; reject this request.", "requester_deactivated")
    if not is_full_member(requester, core.directory.home_team):
        text = "The person who asked is no longer a full member of this workspace; reject this request."
        raise NotAllowed(text, "requester_no_member")


def _require_still_count(
    core: Core, made: Sequence[Decision], accounts: Mapping[str, Actor], standing: Standing
) -> None:
    """Raise NotAllowed where somebody approved this whose approval would stop it before it is sent."""
    for one in made:
        if one.kind is not DecisionKind.APPROVE or one.actor not in accounts:
            continue
        if lost := people.why_counts_no_more(core, accounts[one.actor], standing):
            text = (
                f"{one.actor_name} approved this but {lost}. Reject this request; it can be requested again."
            )
            raise NotAllowed(text, "approver_lost")


def _require_may_ask(core: Core, request: Request, roles: people.Roles) -> None:
    """Raise NotAllowed where the policy, or Slack, has taken from who asked the right to ask for this."""
    if not roles.may_ask(core.kinds[request.kind], request.requester):
        names = people.who_may_ask(core, core.kinds[request.kind])
        raise NotAllowed(
            f"The person who asked may not request this any more: only {names} may. Reject this request.",
            "requester_may_not_ask",
        )


async def _approve(
    core: Core,
    request_id: str,
    actor: Actor,
    shown_digest: str,
    proof: proofs.Proof | None,
    roles: people.Roles,
    standing: Standing,
    seen: Mapping[str, Actor],
    counted: people.Counted,
) -> tuple[Request, Verdict]:
    async with core.store.begin() as tx:
        await requests.lock_rows(tx, request_id)
        request, is_posted = await existing_with_message(tx, request_id)
        await _refuse_in_safe_mode(tx)
        _refuse_doubtful(request, tx.now)
        batch_approval.refuse_row(request)
        require_its_digest(tx.vault, request)
        earlier = await decisions.of(tx, request.id)
        people.require_looked_at((d.actor for d in earlier if d.kind is DecisionKind.APPROVE), seen)
        asked = await _asked(tx, core, request, counted)
        verdict = decide(
            request,
            earlier,
            actor=actor.id,
            standing=standing,
            shown_digest=shown_digest,
            now=tx.now,
            needed=asked.needed,
        )
        if not verdict.counts:
            raise await refusal_of(tx, core, request, verdict)
        _require_still_count(core, earlier, seen, standing)
        _require_may_ask(core, request, roles)
        _require_possible(core, request)
        await _require_posted(tx, core, request, is_posted=is_posted)
        assertion = await _assertion(tx, core, request, actor, Purpose.APPROVE, proof)
        # What stands in the request needs no second record.
        beyond = replace(asked, needed=asked.needed if asked.needed > request.approvals_needed else 0)
        decision = signed(
            tx, core, request, DecisionKind.APPROVE, actor, assertion=assertion, conditions=beyond
        )
        settles = verdict.reason is Reason.SETTLES
        if settles:
            await _within_limits(tx, core, request, [*earlier, decision], counted)
        await decisions.insert(tx, decision)
        if settles:
            request = await _settle(tx, core, request, [*earlier, decision])
        else:
            request = await requests.touch(tx, request)
        in_place_of = sorted(standing.stands_for.get(actor.id, ()))
        recorded = {"approvals": verdict.approvals, "mac": decision.mac, "in_place_of": in_place_of}
        recorded |= {"assertion": assertion} if assertion else {}
        recorded |= {"conditions": dict(decision.conditions)} if decision.conditions else {}
        approvers = {d.actor for d in (*earlier, decision) if d.kind is DecisionKind.APPROVE}
        await audit.of_request(tx, core, request, actor.id, "request.approval", recorded, approvers=approvers)
        await _show_approval(tx, core, request, actor.id)
        core.crash_point("approve.before_commit")
    verdict = replace(verdict, waits=Conditions.of([*earlier, decision]).waits)
    return replace(request, approvals_needed=max(request.approvals_needed, asked.needed)), verdict


async def _asked(tx: Tx, core: Core, request: Request, counted: people.Counted) -> Conditions:
    """What the policy asks for now, counted under the lock of the limits where it looks at sums."""
    if request.exposure_usd and core.policy.of(request.kind).looks_at_sums:
        await requests.lock_limits(tx)
    return (await granted_sums.of_request(tx, core, request, counted=counted)).conditions


def _refuse_doubtful(request: Request, now: datetime) -> None:
    """What a key that may be forgotten no longer keeps from being paid twice."""
    if planning.is_doubtful(request, now):
        raise NotAllowed(
            "This may have been carried out: an older copy of the database was put in place after it was requested, or"
            " another copy was used. Your card provider may have forgotten its key by now, so it is cancelled within a"
            " minute. Check the card and the ledger before you request it again.",
            "key_forgotten",
        )


async def _refuse_in_safe_mode(tx: Tx) -> None:
    """What is approved may have been carried out before the older copy of the database was put in place."""
    if await safe_mode.current(tx) is not None:
        raise NotAllowed(
            "Countersign is in safe mode: its database is an older copy. No approval is taken until two people leave it"
            " with `/countersign resume`; see the alert. Nothing was recorded.",
            "safe_mode",
        )


async def _assertion(
    tx: Tx,
    core: Core,
    request: Request,
    actor: Actor,
    purpose: Purpose,
    proof: proofs.Proof | None,
    *,
    terms: dict[str, str] | None = None,
) -> dict[str, Any] | None:
    """The signature of this person's passkey on exactly this, as it is stored; None where a click is enough.

    `terms`: how they say that it ended, of a resolution. Raises `PasskeyNeeded`, and what the signature is refused for.
    """
    if proof is None:
        if proofs.needed_for(core, await batch_approval.decided_on(tx, request)):
            raise PasskeyNeeded(purpose, request.id, terms)
        return None
    digest = terms_of_resolution(request.digest, **terms) if terms else request.digest
    made = await proofs.check(
        tx,
        core,
        proof,
        purpose,
        subject=request.id,
        person=actor.id,
        version=request.version,
        digest=digest,
    )
    return made.as_json()


async def _settle(tx: Tx, core: Core, request: Request, made: list[Decision]) -> Request:
    """The last approval that was missing: it is due now. A batch sends nothing itself: its rows are due, and expire."""
    due = tx.now + Conditions.of(made).waits
    valid_until = None if request.is_batch else due + APPROVAL_VALID_FOR
    due_at = None if request.is_batch else due
    approved = await requests.move(
        tx,
        request,
        Event.APPROVE,
        approved_at=tx.now,
        valid_until=valid_until,
        due_at=due_at,
        remind_at=None,
    )
    if approved.is_batch:
        await batch_approval.approve_rows(tx, core, approved, made)
    if due == tx.now:
        await core.carry_out(tx, approved)
    return approved


async def _show_approval(tx: Tx, core: Core, request: Request, approver: str) -> None:
    await outbox_messages.card(tx, core, request)
    await outbox_messages.line(tx, core, request, "approval", actor=approver, tag=approver)
    if request.state is State.APPROVED:
        await outbox_messages.tell_requester(tx, core, request, approver)


async def refusal_of(tx: Tx, core: Core, request: Request, verdict: Verdict) -> CountersignError:
    """The sentence for a verdict that does not count."""
    match verdict.reason:
        case Reason.EXPIRED:
            said = f"{request.id} has expired. Nothing was sent. You can request it again."
            return Expired(await start_holds.said_unsent(tx, request, said))
        case Reason.STALE:
            return Stale("What you were shown is no longer what would be sent. Open it again.")
        case Reason.NOT_PENDING:
            return Stale(f"{request.id} is {request.state} already.")
        case reason:
            return people.not_second(core, reason)


def _require_possible(core: Core, request: Request) -> None:
    """A request of before its limit: no first approval is taken that no last one can follow. Raises `OverLimit`."""
    if why := never_approvable(core.policy.limits, request.exposure_usd):
        raise OverLimit(why)


async def _require_posted(tx: Tx, core: Core, request: Request, *, is_posted: bool) -> None:
    """Raise NotPosted where its message is not in Slack as the database has it, with what is wrong as far as Slack said
    it. Its message shows what becomes of it, also to a start on an older copy of the database in which it is still
    approved: without one it could be stopped and leave no trace outside the database, and be paid from such a copy.
    What is urgent is approved all the same: to freeze a card again costs nothing."""
    if is_posted or core.kinds[request.kind].handling.is_urgent:
        return
    kind = message_kinds.REQUEST_CARD
    last = await outbox.last_of(tx, message_kinds.stored_subject(kind.about, request.id), kind.form.value)
    if last is not None and last.is_given_up:
        raise NotPosted(
            f"Slack refused the message of {request.id} ({last.error}), so nobody can see it in {_CHANNEL}. Nothing was"
            " approved. Reject it, and request it again."
        )
    error = last.error if last is not None else ""
    others = None if error else await outbox.waiting(tx, channel=core.channels.approvals)
    if others is not None and slack_faults.holds_for_others(others.error):
        error = others.error
    why = (
        f"{slack_faults.explained(error, _CHANNEL)} Then try again."
        if error
        else "Try again in a few seconds."
    )
    raise NotPosted(
        f"Countersign knows no message of {request.id} in {_CHANNEL} yet, so what becomes of it would not be seen"
        f" there. Nothing was approved. {why}"
    )


async def _within_limits(
    tx: Tx,
    core: Core,
    request: Request,
    approvals: list[Decision],
    counted: people.Counted,
) -> None:
    """Rolling limits, counted under a lock in the transaction that would spend them; raises `OverLimit`."""
    if not request.exposure_usd:
        return
    await requests.lock_limits(tx)
    approvers = [d.actor for d in approvals if d.kind is DecisionKind.APPROVE]
    passed = await granted_sums.passed_limit(tx, core, request, approvers, counted)
    if passed is not None:
        raise OverLimit(passed.refusal(request.exposure_usd))


async def reject(core: Core, request_id: str, slack_id: str, *, reason: str) -> Request:
    """One rejection ends it. The requester cancels instead. Raises `InvalidInput` without a reason."""
    reason, request_id = _words_of("reason", reason), read_request_id(request_id)
    known: list[tuple[Actor, Standing]] = []

    async def do(is_again: bool) -> Request:
        async with audited_refusal(core, slack_id, "request.reject", f"request:{request_id}"):
            if not known:  # once is enough: it is tried again where it could not be recorded
                known.append((await people.member(core, slack_id, safer=True), await people.standing(core)))
            return await _reject(core, request_id, *known[0], reason, is_again)

    return await core.held.recorded(held_stops.of_request(slack_id, request_id, "rejected"), do, core.clock)


async def _reject(
    core: Core, request_id: str, actor: Actor, standing: Standing, reason: str, is_again: bool
) -> Request:
    async with put_back_rules.noticed(core), core.store.begin() as tx:
        request = await existing_as_on_record(tx, request_id)
        if is_again and await is_stopped(tx, request):
            return request
        batch_approval.refuse_row(request)
        is_held = request.state is State.EXECUTING and core.held.holds(f"request:{request.id}")
        if is_held and actor.id != request.requester:  # the call was not made, for this very "no"
            people.require_approver(core, actor, standing)
            return await stop_held(tx, core, request, actor, f"The reason given: {with_stop(quoted(reason))}")
        _require_rejectable(request, actor.id)
        people.require_approver(core, actor, standing)
        await decisions.insert(tx, signed(tx, core, request, DecisionKind.REJECT, actor, reason=reason))
        text = f"The reason given: {with_stop(quoted(reason))} Nothing was sent."
        if request.state is State.PENDING:
            return await close(tx, core, request, Event.REJECT, actor.id, text)
        return await stop_approved(tx, core, request, actor, text)


async def require_may_reject(core: Core, request_id: str, slack_id: str) -> None:
    """Tell at the click what is known without asking Slack, and would be refused later: raises that refusal."""
    async with put_back_rules.noticed(core), core.store.read() as tx:
        _require_rejectable(await existing_as_on_record(tx, request_id), slack_id)


def _require_rejectable(request: Request, slack_id: str) -> None:
    """Is it pending, or approved and not sent? Raises NotAllowed, Stale."""
    if slack_id == request.requester:
        raise NotAllowed("You requested this: cancel it instead of rejecting it.", "own_request")
    if request.state not in UNSENT:
        raise Stale(f"{request.id} is {request.state} already.")


def _words_of(field: str, text: str) -> str:
    try:
        return read_reason(text)
    except ValueError as error:
        raise InvalidInput(field, str(error)) from None


async def page_to_approve(core: Core, request: Request, slack_id: str, view_id: str) -> Secret | None:
    """The address of the page where this person approves it; None where the policy lets a click do.

    `view_id`: the window that shows it. Raises NotAllowed for a person without a passkey.
    """
    if not proofs.needed_for(core, request):
        return None
    needed = PasskeyNeeded(Purpose.APPROVE, request.id)
    return await links.for_needed(core, needed, slack_id, view_id=view_id)


async def _offer_passkey(
    core: Core,
    request_id: str,
    purpose: Purpose,
    proof: proofs.Proof | None,
    terms: dict[str, str] | None = None,
) -> None:
    """Raises `PasskeyNeeded` where a click isn't enough, before anything is on record: the page comes next."""
    if proof is None and core.policy.uses_passkeys:
        async with core.store.read() as tx:
            whole = await batch_approval.decided_on(tx, await existing(tx, request_id))
            if proofs.needed_for(core, whole):
                raise PasskeyNeeded(purpose, request_id, terms)


async def confirm(
    core: Core, request_id: str, slack_id: str, *, proof: proofs.Proof | None = None
) -> Request:
    """The second person's word on what was done at once, given once it happened. Raises Stale before.

    `proof` is from the page for passkeys; raises `PasskeyNeeded` where the policy asks for one.
    """
    await _offer_passkey(core, request_id, Purpose.CONFIRM, proof)
    refusals = audited_refusal(core, slack_id, "request.confirm", f"request:{request_id}")
    async with refusals, put_back_rules.noticed(core):
        actor = await people.member(core, slack_id)
        standing = await people.standing(core)
        standing = people.as_persons(standing, (actor, await _requester_of(core, request_id)))
        async with core.store.begin() as tx:
            request = await existing_as_on_record(tx, request_id)
            await batch_approval.decided_on(tx, request)
            if not request.break_glass:
                raise Stale(f"{request.id} has nothing to confirm.")
            people.require_second_person(core, actor, asked_by=request.requester, standing=standing)
            require_happened(request)
            if any(d.kind is DecisionKind.CONFIRM for d in await decisions.of(tx, request.id)):
                raise AlreadyDecided(f"{request.id} was confirmed already.")
            assertion = await _assertion(tx, core, request, actor, Purpose.CONFIRM, proof)
            decision = signed(tx, core, request, DecisionKind.CONFIRM, actor, assertion=assertion)
            await decisions.insert(tx, decision)
            request = await requests.touch(tx, request, remind_at=None)
            recorded = {"assertion": assertion} if assertion else {}
            await audit.of_request(tx, core, request, actor.id, "request.confirmed", recorded)
            await outbox_messages.card(tx, core, request)
            await outbox_messages.line(tx, core, request, "confirmed", actor=actor.id)
            return request


def require_happened(request: Request) -> None:
    """Nobody confirms what has not happened. Raises Stale."""
    if request.state is State.SUCCEEDED:
        return
    words = urgency.urgency_of(request.kind)
    if request.state in TERMINAL or words is None:
        raise Stale(f"{request.id} is {request.state}: there is nothing to confirm.")
    if urgency.is_for_now(request):
        word = _within(words.for_now)
        raise Stale(f"{request.id} is {word}, so there is nothing to confirm yet. {request.outcome_text}")
    word = _within(words.not_yet)
    raise Stale(
        f"{request.id} is {word}, so there is nothing to confirm. {words.perhaps} Confirm appears when it happened."
    )


def _within(words: str) -> str:
    """The same words in the middle of a sentence."""
    return words[:1].lower() + words[1:]


async def resolve(
    core: Core,
    request_id: str,
    slack_id: str,
    *,
    verdict: str,
    evidence: str,
    proof: proofs.Proof | None = None,
) -> Request:
    """A person's verdict on an unresolved outcome; it holds once the newest words of two people agree.

    One of the two must be an approver who did not ask. `verdict` is "succeeded" or "failed"; `evidence`
    is what they saw, in words. A person may correct what they said. `proof` is from the page for passkeys. Raises
    `InvalidInput`, `AlreadyDecided` for the same word again where it settles nothing, and `PasskeyNeeded`.
    """
    if verdict not in ("succeeded", "failed"):
        raise InvalidInput("verdict", "Choose whether it happened or not.")
    evidence = _words_of("evidence", evidence)
    terms = {"verdict": verdict, "evidence": evidence}
    await _offer_passkey(core, request_id, Purpose.RESOLVE, proof, terms)
    refusals = audited_refusal(core, slack_id, "request.resolve", f"request:{request_id}")
    async with refusals, put_back_rules.noticed(core):
        actor = await people.member(core, slack_id)
        standing = await people.standing(core)
        requester = await _requester_of(core, request_id)
        judge = partial(_resolve, core, request_id, actor, terms, proof)
        return await people.judged(core, standing, (actor, requester), judge)


async def _resolve(
    core: Core,
    request_id: str,
    actor: Actor,
    terms: dict[str, str],
    proof: proofs.Proof | None,
    standing: Standing,
    seen: Collection[str],
    _counted: people.Counted,
) -> Request:
    async with core.store.begin() as tx:
        request = await existing_as_on_record(tx, request_id)
        if request.state is not State.UNRESOLVED:
            raise Stale(f"{request.id} is {request.state}: there is nothing to resolve.")
        if request.is_batch:
            raise Stale(f"Resolve the rows of {request.id} whose outcome is not known; it follows them.")
        await batch_approval.decided_on(tx, request)
        if actor.id != request.requester:
            people.require_approver(core, actor, standing)
        words = newest_words(tx.vault, request, await decisions.of(tx, request.id))
        people.require_looked_at(words, seen)
        before = words.get(actor.id)
        decision = signed(
            tx,
            core,
            request,
            DecisionKind.RESOLVE,
            actor,
            reason=terms["evidence"],
            verdict=terms["verdict"],
            after=before.decided_at if before else None,
            assertion=await _assertion(tx, core, request, actor, Purpose.RESOLVE, proof, terms=terms),
        )
        await decisions.insert(tx, decision)
        return await _settle_by_hand(tx, core, request, decision, before, standing)


async def _settle_by_hand(
    tx: Tx,
    core: Core,
    request: Request,
    decision: Decision,
    before: Decision | None,
    standing: Standing,
) -> Request:
    """End it where two people agree now. `before` is what the same person said until now."""
    said = newest_words(tx.vault, request, await decisions.of(tx, request.id)).values()
    agreeing = sorted((d for d in said if d.verdict == decision.verdict), key=lambda d: d.actor)
    if two_agree({d.actor for d in agreeing}, asked_by=request.requester, standing=standing):
        return await _resolve_as_agreed(tx, core, request, decision, agreeing)
    if before is not None and before.verdict == decision.verdict:
        raise AlreadyDecided(
            f"You said {decision.verdict} already. A second person has to say the same; to correct yourself,"
            " choose the other outcome."
        )
    return await _propose(tx, core, request, decision, is_correction=before is not None)


async def _propose(
    tx: Tx, core: Core, request: Request, decision: Decision, *, is_correction: bool
) -> Request:
    """What one person says of the outcome, shown until a second one says the same."""
    request = await requests.touch(tx, request)
    await audit.of_request(
        tx, core, request, decision.actor, "request.resolution_proposed", _recorded_word(decision)
    )
    await outbox_messages.card(tx, core, request)
    line = "resolution_corrected" if is_correction else "resolution"
    text = f"{decision.verdict}: {quoted(decision.reason)}"
    await outbox_messages.line(tx, core, request, line, actor=decision.actor, tag=decision.id, text=text)
    return request


async def _resolve_as_agreed(
    tx: Tx, core: Core, request: Request, decision: Decision, agreeing: Sequence[Decision]
) -> Request:
    """The outcome that two people have said, with the evidence of each."""
    event = Event.SUCCEED if decision.verdict == "succeeded" else Event.FAIL
    happened = "it happened" if event is Event.SUCCEED else urgency.failed_how(request.kind)
    names = " and ".join(d.actor_name for d in agreeing)
    evidence = " ".join(f"Evidence of {d.actor_name}: {with_stop(quoted(d.reason))}" for d in agreeing)
    moved = await requests.move(
        tx,
        request,
        event,
        outcome_text=f"Resolved by hand by {names}: {happened}. {evidence}",
        finished_at=tx.now,
        due_at=None,
        needs_person=False,
        lease_owner=None,
        lease_until=None,
        # An executor that is looking at it just now must not write over this.
        fence=columns.counted(request.fence) + 1,
    )
    await requests.purge(tx, request.id)
    await audit.of_request(
        tx, core, moved, decision.actor, "request.resolved_by_hand", _recorded_word(decision)
    )
    await alerts.resolve(tx, core, request_alerts.UNRESOLVED.condition(request.id))
    await urgent_rules.follow(tx, core, moved)
    await outbox_messages.card(tx, core, moved)
    await batch_rows.row_changed(tx, core, moved)
    await outbox_messages.line(tx, core, moved, str(moved.state), actor=decision.actor)
    await outbox_messages.tell_requester(tx, core, moved, decision.actor)
    return moved


def _recorded_word(decision: Decision) -> dict[str, Any]:
    """What the audit log keeps of how somebody says that a request ended."""
    word = {"verdict": decision.verdict, "mac": decision.mac, "evidence": evidence_digest(decision.reason)}
    return {**word, "assertion": dict(decision.assertion)} if decision.assertion else word


async def redraw(core: Core, request_id: str) -> None:
    """The card in Slack is not as the request is: send it again. Raises NotFound."""
    async with core.store.begin() as tx:
        await outbox_messages.redraw(tx, core, await existing(tx, request_id))


async def draft(core: Core, draft_id: str, owner: str) -> Draft:
    """A form that was filled and not submitted, for its owner alone. Raises NotFound."""
    async with core.store.read() as tx:
        found = await drafts.get(tx, draft_id)
    if found is None or not may_see_form(owner, found.owner):
        raise NotFound("This form is gone: it was submitted, or it is too old. Look at /requests.")
    return found


async def require_may_approve(core: Core, request_id: str, slack_id: str) -> Standing:
    """Tell at the click what `approvals.approve` would refuse later; raises that refusal (audited).

    Returns who may approve, as just read: Slack allows few such readings.
    """
    refusals = audited_refusal(core, slack_id, "request.approve", f"request:{request_id}")
    async with refusals, put_back_rules.noticed(core):
        actor = await people.member(core, slack_id, within_s=people.SHOWN_WITHIN_S)
        async with core.store.read() as tx:
            request = await existing_as_on_record(tx, request_id)
            given = await decisions.of(tx, request.id)
        others = {request.requester, *(d.actor for d in given if d.kind is DecisionKind.APPROVE)} - {actor.id}
        accounts = [await people.account_lately(core, one, people.SHOWN_WITHIN_S) for one in sorted(others)]
        roles = await people.roles_lately(core)
        standing = people.as_persons(roles.standing, (actor, *accounts))
        async with core.store.read() as tx:
            request, is_posted = await existing_with_message(tx, request_id)
            await _refuse_in_safe_mode(tx)
            _refuse_doubtful(request, tx.now)
            batch_approval.refuse_row(request)
            require_its_digest(tx.vault, request)
            verdict = decide(
                request,
                await decisions.of(tx, request.id),
                actor=actor.id,
                standing=standing,
                shown_digest=request.digest,
                now=tx.now,
            )
            if not verdict.counts:
                raise await refusal_of(tx, core, request, verdict)
            _require_still_count(core, given, {one.id: one for one in accounts}, standing)
            _require_may_ask(core, request, roles)
            _require_possible(core, request)
            await _require_posted(tx, core, request, is_posted=is_posted)
        return standing
