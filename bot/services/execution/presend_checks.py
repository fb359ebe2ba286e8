"""Before the first byte: is what would be sent still what was approved, and may it go?

Three looks. `may_go` takes its time: it asks Slack for the people and the API for the facts. When a place in the rate
budget is there too, `people_stand` asks Slack once more, because a person may have lost the right to approve while
all that was waited for. `last_look` is made in the transaction of the claim and reads the database alone: a pause, a
cancel, an expiry, a lost approval or a newer request that was committed before it stops the call. If anything cannot
be read, nothing is sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.errors import CountersignError, LookupFailed, NotAllowed
from bot.domain.people import APPROVAL_VALID_FOR, Standing, is_full_member
from bot.domain.requests import (
    HOW_TO_RESOLVE,
    Conditions,
    Decision,
    DecisionKind,
    Event,
    Request,
    State,
    second_people,
)
from bot.domain.time import in_words
from bot.operations import urgency
from bot.outcomes import planning
from bot.partner.client import PartnerClient
from bot.partner.errors import PartnerError, Unauthorized
from bot.services import people
from bot.services.core import Core
from bot.services.execution import approving_file, newest_wins
from bot.services.execution.approving_file import ApprovingFile
from bot.services.operators import programs
from bot.services.passkeys import proofs
from bot.services.requests import (
    batch_approval,
    given,
    granted_sums,
    has_its_digest,
    local_facts,
)
from storage.errors import CannotOpen, Purged
from storage.requests import Kept, before_sending, decisions
from storage.transaction import Tx

_NO_MEMBER = "is no longer a full member of this workspace"
RETRY_AFTER = timedelta(seconds=5)
# At the time of sending, Slack was asked for the people so many seconds ago at most.
PEOPLE_GOOD_FOR_S = 15.0
# Requests sent together, and the click that approved them, share a reading for a little less, so that what follows
# it has time.
_PEOPLE_SHARED_FOR_S = 12.0
# So long one reading of the account serves all that is to be sent.
ACCOUNT_SHARED_FOR_S = 1.0
_MOST_LOOKS = 3
_ASK_SLACK_AGAIN = "Who may approve has to be asked of Slack again first."
# What was read from the API before a place in the rate budget was there: a minute in line is within it.
FACTS_GOOD_FOR_S = 120.0


@dataclass(frozen=True, slots=True)
class Stop:
    """Nothing is sent and the request ends. `alarm` asks for a top-severity alert.

    `needless`: a newer request decides instead, or the card cannot be used; else people are notified of what cannot
    wait that it has not happened.
    """

    event: Event
    text: str
    alarm: bool = False
    needless: bool = False


@dataclass(frozen=True, slots=True)
class Later:
    """It cannot be found out just now; ask again soon, or at `at`, before which it may not be sent."""

    text: str
    at: datetime | None = None


Answer = Stop | Later | None


@dataclass(frozen=True, slots=True)
class Approved:
    """What people decided: their genuine decisions, what these are about (a row's is its batch), and what is sent.

    `needed`: how many approvals the policy asks for today, or asked for when they were given. `waits`: how long after
    the last of them it is sent at the earliest, as it was when that was given; `waits_now`, by today's policy. `file`:
    what is judged again because it was approved by another file.
    """

    words: list[Decision]
    whole: Request
    needed: int
    body: bytes
    file: ApprovingFile
    waits: timedelta = timedelta(0)
    waits_now: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class Cleared:
    """Nothing speaks against sending, by a look that began at `began_s`, by the monotonic clock.

    `people_until_s`: until when what Slack said of the people holds. `counted`: for what is counted again.
    """

    approved: Approved
    began_s: float
    counted: people.Counted
    people_until_s: float = float("inf")


Look = Cleared | Stop | Later
#: What our own records say of a request: what is sent, or why not.
Recorded = Approved | Stop | Later


async def may_go(core: Core, request: Request, partner: PartnerClient, approved: Recorded) -> Look:
    """The people, then the facts; this may take long. `approved` is what our records say.

    For a request that was sent before, `Cleared` means that a repeat which may be the first to arrive is still
    allowed. A `Stop` with `alarm` forbids every call: what is stored cannot be trusted, the key included.
    """
    began_s = core.clock.monotonic()
    if not isinstance(approved, Approved):
        return approved
    is_urgent = core.kinds[request.kind].handling.is_urgent
    try:
        async with asyncio.timeout(local_facts.READ_WITHIN_S if is_urgent else None):
            stop = await _approvers_stand(core, request, approved, _PEOPLE_SHARED_FOR_S)
            counted = await _counted(core, request, approved)
    except (LookupFailed, TimeoutError) as error:
        # What is urgent only makes things safer: while Slack does not say more, the signed approval is enough.
        if not is_urgent:
            return Later(str(error))
        stop, counted = None, people.Counted(people.known_persons(core))
    return stop or await recheck(core, request, partner) or Cleared(approved, began_s, counted)


async def _counted(core: Core, request: Request, approved: Approved) -> people.Counted:
    """Who belongs together. Where a limit or a tier was changed since the approval, what other accounts were granted is
    counted again, and those that may be of the same people are looked up."""
    if not _is_counted_again(request, approved.file):
        return people.Counted(people.known_persons(core))
    accounts = _accounts_of(request, approved)
    seen = await people.seen_to_send(approved.file.people, accounts, within_s=_PEOPLE_SHARED_FOR_S)

    async def judge(_: Standing, _looked_at: Collection[str], found: people.Counted) -> people.Counted:
        async with core.store.read() as tx:
            await _asked_now(tx, core, request, approved.whole, approved.file, found)
            await _over_limit(tx, core, request, approved, found)
        return found

    return await people.judged(core, seen.roles.standing, seen.actors.values(), judge)


async def people_stand(core: Core, request: Request, look: Cleared) -> Look:
    """Do those who approved still have the right to, and for how long is that known?

    Asked when nothing else has to be waited for. What is urgent is never held up by it: the first look has to do.
    """
    if request.break_glass or core.kinds[request.kind].handling.is_urgent:
        return look
    for _ in range(_MOST_LOOKS):
        asked_s = core.clock.monotonic()
        try:
            stop = await _approvers_stand(core, request, look.approved, _PEOPLE_SHARED_FOR_S)
        except LookupFailed as error:
            return Later(str(error))
        if stop is not None:
            return stop
        accounts = _accounts_of(request, look.approved)
        since_s = people.seen_to_send_since(look.approved.file.people, accounts)
        until_s = (asked_s if since_s is None else since_s) + PEOPLE_GOOD_FOR_S
        now_s = core.clock.monotonic()
        if now_s > look.began_s + FACTS_GOOD_FOR_S:
            return Later("What was read from your card provider is too old by now. It is read again.")
        if now_s < until_s:
            return replace(look, people_until_s=until_s)
    return Later("Slack takes too long to say who may approve. Nothing is sent until it does.")


async def last_look(tx: Tx, core: Core, kept: Kept, look: Cleared) -> Look:
    """`Cleared` = send what it has approved, at once: nothing is asked and nothing waits any more.

    In the transaction of the claim. Reads again what people may have changed in the meantime: the approval, its time,
    newer requests on the same setting, and others on the same target.
    """
    try:
        found = await by_our_records(tx, core, kept, look.counted)
    except people.NotLookedAt:
        return Later(_ASK_SLACK_AGAIN)
    if not isinstance(found, Approved):
        return found
    is_known = _people_of(found) <= _people_of(look.approved) and core.clock.monotonic() < look.people_until_s
    return replace(look, approved=found) if is_known else Later(_ASK_SLACK_AGAIN)


async def kept_of(tx: Tx, core: Core, request: Request) -> Kept | None:
    """What is kept of it now, with what it may have to wait for, and whether this process holds it."""
    kept = await before_sending.of(tx, request.id, others=_waited_for(core, request))
    return kept if kept is None else replace(kept, is_held=is_held(core, request))


def is_held(core: Core, request: Request) -> bool:
    """Did somebody stop it, or all of its list or program, so that it is not sent though no row says so yet?"""
    whole = f"request:{request.parent_id}" if request.parent_id else None
    return core.held.holds(f"request:{request.id}", whole, f"program:{request.program}")


def _waited_for(core: Core, request: Request) -> Collection[str] | None:
    """The kinds of requests on the same target that it may have to wait for; None = all."""
    handling = core.kinds[request.kind].handling
    return None if handling.alone else handling.doubts


async def by_our_records(tx: Tx, core: Core, kept: Kept, counted: people.Counted | None = None) -> Recorded:
    """All that the database alone can say. Who belongs together is as `counted` says, or as this process knows; raises
    `NotLookedAt` where others may matter who are not among it."""
    request = kept.request
    found = await _as_approved(tx, core, kept, counted or people.Counted(people.known_persons(core)))
    if not isinstance(found, Approved):
        return found
    answer = (
        _doubtful(request, tx.now) or _expired(core, request, tx.now) or _too_soon(request, found, tx.now)
    )
    answer = answer or await _superseded(tx, core, request)
    return answer or _others_on_target(tx, core, kept) or found


def _doubtful(request: Request, now: datetime) -> Stop | None:
    """None unless it may have been sent before an older copy of the database was put in place, too long ago for its
    key."""
    if not planning.is_doubtful(request, now):
        return None
    return Stop(Event.CANCEL, "It was not sent while your card provider was sure to know its key.")


def _expired(core: Core, request: Request, now: datetime) -> Answer:
    """None while the approval is valid. What is urgent and was tried once in time does not expire."""
    if planning.approval_is_valid(request, now) or urgency.waited_for_a_pause(request):
        return None
    if request.state is State.APPROVED:
        why = f" What it waited for last: {request.outcome_text}" if request.outcome_text else ""
        return Stop(Event.EXPIRE, f"Approved, but it could not be sent in time. Nothing was sent.{why}")
    return None if core.kinds[request.kind].handling.is_urgent else Later("The approval has expired.")


def _too_soon(request: Request, found: Approved, now: datetime) -> Later | None:
    """None once the time has passed in which any approver can stop it, or where there is none, whatever the clock of
    the approval said. What is due says nothing: it is not signed."""
    if request.break_glass or request.approved_at is None or request.state is not State.APPROVED:
        return None
    if not found.waits:
        return None
    sent_from = request.approved_at + found.waits
    return Later("", sent_from) if now < sent_from else None


async def _superseded(tx: Tx, core: Core, request: Request) -> Answer:
    """The newest request on a setting decides; of what can wait none is sent that an older call could undo."""
    if not core.kinds[request.kind].handling.superseded_by:
        return None
    newest = await newest_wins.newer(tx, core, request, decides=True)
    if newest is not None and request.state is State.APPROVED:
        text = (
            f"{newest.id}, which was approved later, decides this now ({newest.summary}). Nothing was sent."
        )
        return Stop(Event.CANCEL, text, needless=True)
    if newest is not None:
        text = f"{newest.id}, a newer request on the same target, was approved."
        return Stop(Event.CANCEL, text, needless=True)
    if request.state is not State.APPROVED or core.kinds[request.kind].handling.is_urgent:
        return None
    older = await newest_wins.goes_first(tx, core, request)
    ids = ", ".join(sorted(other.id for other in older))
    return Later(f"It waits for {ids}, which sets the same and has no outcome yet.") if ids else None


def _others_on_target(tx: Tx, core: Core, kept: Kept) -> Later | None:
    """What was sent on the same target goes first, for as long as its outcome is not known: both might pay."""
    ids = ", ".join(kept.others)
    if kept.request.state is not State.APPROVED:
        return None
    if not ids:
        before_sending.lean_on_others(tx, kept, kinds=_waited_for(core, kept.request))
        return None
    return Later(f"It waits for {ids} on the same target, whose outcome is not known yet. {HOW_TO_RESOLVE}")


_TAMPERED = Stop(
    Event.CANCEL,
    "What is stored is not what was approved. Nothing was sent. Keep the database as it is and look at"
    " `countersign audit verify`.",
    alarm=True,
)


async def _as_approved(tx: Tx, core: Core, kept: Kept, counted: people.Counted) -> Recorded:
    """Digest, MACs and quorum: a row changed in the database by hand is not sent."""
    request = kept.request
    try:
        body = kept.frozen(tx).body
    except CannotOpen:
        return _TAMPERED
    except Purged:
        body = None
    if request.is_batch or not has_its_digest(tx.vault, request, body):
        return _TAMPERED
    if body is None:
        if request.state is State.APPROVED:
            return _TAMPERED
        return Later("Its details were deleted, so it can only be looked up.")
    if request.parent_id is not None and not await batch_approval.batch_stands(tx, request):
        return _TAMPERED
    kind = DecisionKind.BREAK_GLASS if request.break_glass else DecisionKind.APPROVE
    words = given(tx.vault, request, kept.decisions, kind)
    try:
        whole = request if request.parent_id is None else await batch_approval.decided_on(tx, request)
    except NotAllowed:  # by a master key of which this process has learned just now that it is retired
        return _TAMPERED
    file = await approving_file.of(tx, core, request, whole, words)
    then, now = Conditions.of(words), await _asked_now(tx, core, request, whole, file, counted)
    found = Approved(words, whole, max(now.needed, then.needed), body, file, then.waits, now.waits)
    stop = _quorum(core, request, found) or await _over_limit(tx, core, request, found, counted)
    return stop or await _passkeys(tx, core, request, found) or found


async def _asked_now(
    tx: Tx, core: Core, request: Request, whole: Request, file: ApprovingFile, counted: people.Counted
) -> Conditions:
    """What today's policy asks for. Where it asks for no other sums, the approvals say what it asked for of them."""
    policy = core.policy.of(whole.kind)
    if not file.counts_sums or not policy.looks_at_sums or request.approved_at is None:
        return Conditions(policy.approvals_needed(whole.exposure_usd), policy.waits(whole.exposure_usd))
    asked = await granted_sums.of_request(tx, core, whole, counted=counted, until=request.approved_at)
    return asked.conditions


async def _over_limit(
    tx: Tx, core: Core, request: Request, found: Approved, counted: people.Counted
) -> Stop | None:
    """Would today's limits have refused the approval? Asked before the first call, of those lowered since: what was
    approved later, or under the same limit, stops nothing. And nothing stops what only makes things safer."""
    if not _is_counted_again(request, found.file) or request.approved_at is None:
        return None
    if core.kinds[request.kind].handling.is_urgent:
        return None
    passed = await granted_sums.passed_limit(
        tx,
        core,
        found.whole,
        {decision.actor for decision in found.words},
        counted,
        until=request.approved_at,
        limits=found.file.limits,
    )
    return None if passed is None else Stop(Event.CANCEL, passed.stop(found.whole.exposure_usd))


def _is_counted_again(request: Request, file: ApprovingFile) -> bool:
    """Is what was granted before it counted again, before its first call?"""
    return request.state is State.APPROVED and not request.break_glass and file.counts_again


async def _passkeys(tx: Tx, core: Core, request: Request, found: Approved) -> Stop | None:
    return None if request.break_glass else await why_not_proven(tx, core, found.whole, found.needed)


async def why_not_proven(tx: Tx, core: Core, whole: Request, needed: int) -> Stop | None:
    """Where the policy asks for passkeys: enough approvals with a signature that holds when it is checked again."""
    if not proofs.needed_for(core, whole):
        return None
    made = given(tx.vault, whole, await decisions.of(tx, whole.id), DecisionKind.APPROVE)
    worth = {d.actor: await proofs.standing(tx, core, whole, d) for d in made}
    proven = [actor for actor, one in worth.items() if one is proofs.Standing.HOLDS]
    if len(second_people(proven, asked_by=whole.requester)) >= max(whole.approvals_needed, needed):
        return None
    if proofs.Standing.WRONG in worth.values():
        return _TAMPERED
    if proofs.Standing.ENDED in worth.values():
        text = "A passkey with which this was approved was removed since, or reported lost."
        return Stop(Event.CANCEL, f"{text} Nothing was sent; ask again.")
    if proofs.Standing.ELSEWHERE in worth.values():
        text = (
            "This was approved with a passkey of another address: COUNTERSIGN_PUBLIC_URL was changed since."
        )
        return Stop(Event.CANCEL, f"{text} Nothing was sent; ask again.")
    return Stop(Event.CANCEL, "The policy now asks for approval with a passkey. Nothing was sent; ask again.")


def _quorum(core: Core, request: Request, found: Approved) -> Stop | None:
    """Enough genuine approvals, made when the row says they were, and by today's policy still enough."""
    words = found.words
    # The deciding approval need not be the latest by the clock: a clock may have stepped back before it.
    if request.approved_at is None or request.approved_at not in {d.decided_at for d in words}:
        return _TAMPERED
    if request.valid_until != request.approved_at + found.waits + APPROVAL_VALID_FOR:
        return _TAMPERED
    if request.break_glass:
        allowed = core.policy.of(request.kind).now and core.kinds[request.kind].handling.can_run_now
        return None if allowed and {d.actor for d in words} == {request.requester} else _TAMPERED
    approvers = second_people((d.actor for d in words), asked_by=request.requester)
    least = max(found.whole.approvals_needed, Conditions.of(words).needed)
    if len(approvers) < least or request.approved_at > request.expires_at:
        return _TAMPERED
    if found.waits_now > found.waits:
        waits = in_words(found.waits_now)
        return Stop(
            Event.CANCEL, f"The policy now asks for {waits} before it is sent. Nothing was sent; ask again."
        )
    if len(approvers) < found.needed:
        return Stop(
            Event.CANCEL, f"The policy now asks for {found.needed} approvals. Nothing was sent; ask again."
        )
    return None


def _people_of(found: Approved) -> set[str]:
    """Whose accounts the approval rests on."""
    return {decision.actor for decision in found.words}


def _accounts_of(request: Request, found: Approved) -> set[str]:
    """Whose accounts are looked at before it is sent."""
    return {request.requester, *_people_of(found)}


async def _approvers_stand(core: Core, request: Request, found: Approved, within_s: float) -> Stop | None:
    """Those who approved are still active approvers, and who asked may ask; raises LookupFailed.

    By a reading of Slack that began less than `within_s` ago, and by the newer of two files.
    """
    if request.break_glass:
        return None
    core = found.file.people
    seen = await people.seen_to_send(core, _accounts_of(request, found), within_s=within_s)
    roles, standing = seen.roles, people.as_persons(seen.roles.standing, seen.actors.values())
    cls = core.kinds[request.kind]
    gone = [actor for actor in seen.actors.values() if actor.is_gone]
    if gone and cls.handling.is_urgent:  # as in an outage
        raise LookupFailed("Slack does not know the account of one of the people in this.", "user_not_found")
    people.require_gone_for_sure(core, gone)
    if not is_full_member(seen.actors[request.requester], core.directory.home_team):
        is_gone = seen.actors[request.requester].is_gone
        how = "has an account that Slack does not know any more" if is_gone else _NO_MEMBER
        text = f"{request.requester_name}, who requested this, {how}."
        return Stop(Event.CANCEL, f"{text} Nothing was sent; somebody else can request it.")
    # What only makes things safer is sent whoever may ask now.
    may_ask = roles.may_ask(cls, request.requester) or cls.handling.is_urgent
    if cls.handling.asked_by_admins and not may_ask:
        text = f"{request.requester_name} is no longer an admin. Nothing was sent; ask again."
        return Stop(Event.CANCEL, text)
    if request.state is State.APPROVED and not may_ask:
        text = (
            f"{request.requester_name}, who requested this, may not make requests any more: only"
            f" {people.who_may_ask(core, cls)} may. Nothing was sent; one of them can request it."
        )
        return Stop(Event.CANCEL, text)
    for decision in found.words:
        if lost := people.why_counts_no_more(core, seen.actors[decision.actor], standing):
            return Stop(
                Event.CANCEL, f"{decision.actor_name} approved this but {lost}. Nothing was sent; ask again."
            )
    counted = second_people((d.actor for d in found.words), asked_by=request.requester, standing=standing)
    if len(counted) < max(found.whole.approvals_needed, found.needed):
        text = "Some of those who decided on this count as one person, by a delegation or as accounts of one person."
        return Stop(Event.CANCEL, f"{text} Nothing was sent; ask again.")
    return None


def _sharing_the_account(core: Core, program: str, partner: PartnerClient) -> PartnerClient:
    """What is sent within a second is compared with one reading of the float: the API compares again."""
    return partner.with_account(
        lambda: core.accounts_seen.lately(program, partner.me, core.clock, within_s=ACCOUNT_SHARED_FOR_S)
    )


async def recheck(core: Core, request: Request, partner: PartnerClient) -> Answer:
    """Do the facts still allow it? Reads the API live; a kind may choose to act when it cannot be read.

    Such a kind waits for the reading a moment only.
    """
    operation = core.kinds[request.kind].of_stored(request.terms, request.subject_label)
    partner = _sharing_the_account(core, request.program, partner)
    must = operation.handling.must_recheck
    try:
        async with asyncio.timeout(None if must else local_facts.READ_WITHIN_S):
            if request.parent_id is None:
                facts = await operation.read(partner)
            else:
                facts = await type(operation).of_many().row_facts(operation, partner)
    except PartnerError as error:
        await programs.key_refused(core, request.program, error)
        if isinstance(error, Unauthorized):
            return Later("Sending to this program is paused: your card provider does not take the key.")
        return Later(f"Your card provider could not be read: {error.message}") if must else None
    except TimeoutError:
        return None
    except CountersignError as error:
        return Later(str(error))
    if local_facts.other_card(operation, partner):
        return _TAMPERED
    if operation.handling.needs_our_records:
        async with core.store.read() as tx:
            facts = {**facts, **await local_facts.facts(tx, operation, request.program)}
    stops = operation.stops(facts, again=request.state is not State.APPROVED)
    if stops:
        text = f"{' '.join(stops)} Nothing was sent; ask again when it fits."
        return Stop(Event.CANCEL, text, needless=True)
    return None
