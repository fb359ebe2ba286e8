"""Claims a request that is due: the last look and the claim in one transaction, committed before any byte leaves.

A claim that finds an unanswered attempt knows that nobody knows: `outcome_unknown` is set for good, and from then on
no refusal alone proves a failure.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from bot.domain.errors import Stale
from bot.domain.people import draft_only
from bot.domain.requests import Attempt, Event, Request, State
from bot.operations import Operation, urgency
from bot.outcomes import effects, planning
from bot.services.alerts import put_back_rules
from bot.services.core import Core
from bot.services.execution import effect_writer, ending_without_a_call, newest_wins, presend_checks
from bot.services.execution.presend_checks import Cleared, Later, Stop
from bot.services.passkeys import readiness
from bot.services.requests import batch_approval, close
from storage.errors import CannotOpen, NotAsCounted, NotAsOnRecord, Purged
from storage.operators import Stopped, stops
from storage.requests import Kept, attempts, requests
from storage.transaction import Tx

log = logging.getLogger("countersign.execution")

# A last look is good for this long: no bytes follow a claim later than that.
STALE_AFTER_S = 10.0
# What was reserved by a process that died is free again so soon.
RESERVED_S = 10.0
# Most calls are over by then: their lease is not renewed.
SHORT_S = 5.0


@dataclass(frozen=True, slots=True)
class ToSend:
    """What is sent, at once: the frozen body, and what the last look at it is good for."""

    body: bytes
    looked_at_s: float  # when the last look began, in `loop_s`
    people_until_s: float  # until when what Slack said of the people holds, by the monotonic clock

    def is_stale(self, core: Core) -> bool:
        """This process stood still since its last look, and others may have acted meanwhile."""
        return loop_s() >= self.looked_at_s + STALE_AFTER_S or core.clock.monotonic() >= self.people_until_s


@dataclass(frozen=True, slots=True)
class Claim:
    """The request as claimed, its operation, and what is done for it now.

    Nobody else makes an attempt under its fence, so those read with the claim are all there are.
    """

    request: Request
    operation: Operation
    made: list[Attempt]  # those before it, and last this claim's own
    approval_holds: bool
    waits_for: str  # of what cannot wait: why nobody can say just now whether it may be sent again
    to_send: ToSend | None  # None = it is only looked up
    older: list[Request]  # of what cannot wait: older calls on its setting that have no outcome
    was_held: bool  # the key may not have been allowed to make this call

    @property
    def is_urgent(self) -> bool:
        return self.operation.handling.is_urgent

    @property
    def history(self) -> planning.History:
        """Of the attempts before this claim's."""
        return planning.History.of(self.made[:-1], self.operation.endpoint)


@contextmanager
def noted(core: Core, request_id: str) -> Iterator[None]:
    """For as long as this process may hold it: a lease in its name at any other time was written by somebody else."""
    core.holding[request_id] += 1
    try:
        yield
    finally:
        core.holding[request_id] -= 1
        if not core.holding[request_id]:
            del core.holding[request_id]


@dataclass(slots=True)
class Reservation:
    """A request that this process holds while it looks at it, and what our records said of it then."""

    request: Request
    recorded: presend_checks.Recorded
    is_claimed: bool = False


async def reserve(core: Core, request_id: str) -> Reservation | None:
    """Take a request that is due for a look, so that of several processes one asks Slack and the API about it.

    None where nothing may be called for it now, or another process has it.
    """
    if core.policy.uses_passkeys:  # what tells whose count is read before, as that may take a while
        await readiness.read_log(core, to_its_end=True)
    async with core.store.begin() as tx:
        held = await requests.reserve(tx, request_id, owner=core.owner, lease_s=RESERVED_S)
        if held is None:
            return None
        kept = await presend_checks.kept_of(tx, core, held)
        if kept is None or await _nothing_to_call(tx, core, held, kept):
            await requests.give_back(tx, held)
            return None
        return Reservation(held, await presend_checks.by_our_records(tx, core, kept))


async def _nothing_to_call(tx: Tx, core: Core, held: Request, kept: Kept) -> bool:
    if held.program not in core.partners or (held.is_batch and held.due_at is None):  # its rows are sent
        return True
    # Another process may have queued it, or the one before this.
    if core.awaits_look() and not core.kinds[held.kind].handling.is_urgent:
        return True
    return await ending_without_a_call.nothing_to_call(tx, core, held, kept)


@asynccontextmanager
async def reserved(core: Core, held: Reservation) -> AsyncIterator[None]:
    """Hold it while it is looked at. It is given back where it was not claimed."""
    try:
        async with lease_kept(core, held.request, RESERVED_S):
            yield
    finally:
        if not held.is_claimed:
            async with core.store.begin() as tx:
                await requests.give_back(tx, held.request)


async def take(core: Core, held: Reservation, look: presend_checks.Look) -> Claim | None:
    """Claim what is reserved, or None where nothing is called for it now. `look` is what was found of it."""
    if core.closing.is_set():
        return None
    try:
        claim = await _claim(core, held.request, look)
    except NotAsCounted as found:  # of others, which decide about this one
        await _notify(core, found)
        claim = await _claim(core, held.request, Later(f"It waits: {found}"))
    except NotAsOnRecord as found:  # it ended, and somebody put its row back
        await _notify(core, found)
        return None
    except Stale as found:
        claim = await _claim(core, held.request, Later(str(found)))
    held.is_claimed = claim is not None
    return claim


async def _notify(core: Core, found: NotAsOnRecord) -> None:
    log.critical("execution.not_as_on_record", extra={"request": found.request_id, "why": found.why})
    await put_back_rules.tell(core)


async def _claim(core: Core, seen: Request, look: presend_checks.Look) -> Claim | None:
    looked_at_s = loop_s()
    async with core.store.begin() as tx:
        await stops.hold(tx, seen.program)
        kept = await presend_checks.kept_of(tx, core, seen)
        if kept is None or not _is_unchanged(kept.request, seen):
            return None
        request, stopped = kept.request, kept.stopped
        if _nothing_leaves(core, kept):
            return None
        if isinstance(look, Cleared):
            look = await presend_checks.last_look(tx, core, kept, look)
        look = _unless_draft(request, look, stopped)
        if isinstance(look, Stop) and look.alarm and request.state is not State.APPROVED:
            await ending_without_a_call.stop_tampered(tx, core, request)
            return None
        if not isinstance(look, Cleared) and request.state is State.APPROVED:
            await _held_back(tx, core, request, look)
            return None
        return await _begin(tx, core, kept, look, looked_at_s)


def _is_unchanged(current: Request, seen: Request) -> bool:
    """It was not decided on, taken up by another process, or signed again under another master key since it was
    `seen`."""
    return (current.version, current.fence, current.digest) == (seen.version, seen.fence, seen.digest)


def _nothing_leaves(core: Core, kept: Kept) -> bool:
    """Was sending stopped since it was looked at? What was sent before is still looked up, unless the key fails."""
    cls = core.kinds[kept.request.kind]
    may_send = kept.may_be_sent(cls.endpoint, is_urgent=cls.handling.is_urgent)
    return kept.stopped.by_key or (not may_send and kept.request.state is State.APPROVED)


def _unless_draft(request: Request, look: presend_checks.Look, stopped: Stopped) -> presend_checks.Look:
    """What was approved while draft only was on is not sent after it either."""
    if not isinstance(look, Cleared) or request.state is not State.APPROVED:
        return look
    is_draft = stopped.were_drafts(word.decided_at for word in look.approved.words)
    return Stop(Event.CANCEL, draft_only.NOT_SENT) if is_draft else look


async def hold_back(core: Core, seen: Request, why: Stop | Later) -> None:
    """As found before the last look; nothing where it changed since it was `seen`."""
    async with core.store.begin() as tx:
        current = await requests.get(tx, seen.id)
        if current is not None and _is_unchanged(current, seen):
            await _held_back(tx, core, current, why)


def loop_s() -> float:
    """Seconds by the clock of the event loop: whether this process stood still is a question about it alone."""
    return asyncio.get_running_loop().time()


async def _begin(
    tx: Tx, core: Core, kept: Kept, look: presend_checks.Look, looked_at_s: float
) -> Claim | None:
    """approved → executing, lease, fence + 1, an attempt; None where another process was quicker."""
    before, stopped = kept.request, kept.stopped
    request = await requests.claim(
        tx,
        before.id,
        owner=core.owner,
        lease_s=core.lease_s,
        judged=before,
        may_expire=not urgency.waited_for_a_pause(before),
    )
    if request is None:
        return None
    operation = core.kinds[request.kind].of_stored(request.terms, request.subject_label)
    is_urgent = operation.handling.is_urgent
    there = await attempts.all_of(tx, request.id) if before.attempts else []
    made = await attempts.on_record_of(tx, request.id, there)
    history = planning.History.of(made, operation.endpoint)
    request = await _with_what_is_known(tx, before, request, history, is_urgent=is_urgent)
    # What may not be repeated is only looked at as soon as anybody could doubt what the call did.
    may_repeat = operation.handling.repeats or history.last_doubt_at is None
    # Asked of the log once its row is held: whoever stops its list holds that, too.
    is_stopped = await batch_approval.is_stopped(tx, request)
    may_repeat = may_repeat and not is_stopped and not planning.approval_is_void(request)
    approval_holds = isinstance(look, Cleared) and may_repeat
    step = planning.next_step(request, history, tx.now, approval_holds=approval_holds, is_urgent=is_urgent)
    # A pause stops sending, and nothing else; so does a message that a start did not see. What is undone is sent again
    # only where the card reads otherwise.
    may_send = kept.may_be_sent(operation.endpoint, is_urgent=is_urgent)
    if urgency.is_for_now(request) or not may_send:
        step = planning.Step.LOOK
    to_send = None if step is planning.Step.LOOK else _to_send(tx, kept, look, looked_at_s)
    purpose = (planning.Step.LOOK if to_send is None else step).value
    attempt = await attempts.start(tx, request, purpose, after=made)
    older = await newest_wins.without_outcome(tx, core, request) if is_urgent else []
    await effect_writer.write(tx, core, request, effects.of_claim(before, attempt, made=made))
    return Claim(
        request,
        operation,
        made=[*made, attempt],
        approval_holds=approval_holds,
        waits_for=look.text if is_urgent and isinstance(look, Later) else "",
        to_send=to_send,
        older=older,
        was_held=operation.endpoint.value in stopped.endpoints,
    )


async def _with_what_is_known(
    tx: Tx, before: Request, request: Request, history: planning.History, *, is_urgent: bool
) -> Request:
    """What held it back is over; and that nobody knows what an unanswered attempt did is known for good."""
    if before.state is State.APPROVED and before.outcome_text and not is_urgent:
        request = await requests.touch(tx, request, outcome_text="")
    if history.last_doubt_at is not None and not request.outcome_unknown:
        request = await requests.touch(tx, request, outcome_unknown=True)
    return request


def _to_send(tx: Tx, kept: Kept, look: presend_checks.Look, looked_at_s: float) -> ToSend | None:
    """None where the body is gone or was tampered with: then it can only be looked up."""
    if isinstance(look, Cleared):
        return ToSend(look.approved.body, looked_at_s, look.people_until_s)
    try:
        return ToSend(kept.frozen(tx).body, looked_at_s, float("inf"))
    except (CannotOpen, Purged):
        return None


async def _held_back(tx: Tx, core: Core, request: Request, why: Stop | Later) -> None:
    """Nothing is sent: the request ends, or is tried again in a moment while its approval is valid."""
    if isinstance(why, Later):
        due_at = why.at or tx.now + presend_checks.RETRY_AFTER
        if request.outcome_text == why.text:
            await requests.put_off(tx, request, due_at)
            return
        held = await requests.touch(tx, request, due_at=due_at, outcome_text=why.text)
        is_urgent = core.kinds[held.kind].handling.is_urgent
        await effect_writer.write(tx, core, held, effects.of_holding_back(is_urgent=is_urgent))
        return
    ended = await close(tx, core, request, why.event, "system:execution", why.text)
    # What has expired leaves its alert by itself.
    if core.kinds[ended.kind].handling.is_urgent and why.event is Event.CANCEL and not why.needless:
        await effect_writer.write(tx, core, ended, effects.of_urgent_stop())
    if why.alarm:
        await effect_writer.write(tx, core, request, effects.of_tampering(request))


@asynccontextmanager
async def lease_kept(core: Core, request: Request, lease_s: float) -> AsyncIterator[None]:
    """Renew the lease every third of it, and not within `SHORT_S`, from this loop: a stalled loop loses it, as it
    should.

    A renewal that fails is tried again, and takes nothing from what goes on inside: an answer of the API that is
    on its way, with the only copy of a secret perhaps, is worth more than the lease.
    """
    task = asyncio.create_task(_keep_lease(core, request, lease_s))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


def _renewed_after_s(lease_s: float) -> float:
    return min(lease_s / 2, max(lease_s / 3, SHORT_S))


async def _keep_lease(core: Core, request: Request, lease_s: float) -> None:
    held, pause_s = True, _renewed_after_s(lease_s)
    while held:
        await core.clock.sleep(pause_s)
        try:
            async with core.store.begin() as tx:
                held = await requests.renew(
                    tx, request.id, owner=core.owner, fence=request.fence, lease_s=lease_s
                )
            pause_s = _renewed_after_s(lease_s)
        except Exception:  # a database that is busy or away; without it nobody else can take over either
            log.exception("execution.lease_not_renewed", extra={"request": request.id})
            pause_s = lease_s / 6
    log.warning("execution.lease_lost", extra={"request": request.id})
