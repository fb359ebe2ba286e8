"""How a request ends when no call can be made for it any more.

A request that waits for a key that works again, or whose stored terms were changed by hand, must not
wait without end: it ends as `failed` where nothing can have happened, and as `unresolved` where it may.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from bot.domain.requests import Attempt, Event, Request, State
from bot.operations import Urgency, urgency
from bot.outcomes import effects, planning, timing
from bot.services import audit
from bot.services.alerts import urgent_rules
from bot.services.core import Core
from bot.services.execution import effect_writer
from bot.services.processes import start_holds
from bot.services.requests import batch_approval, has_its_digest
from storage.requests import Kept, attempts, requests
from storage.transaction import Tx

_KEY_LOST = (
    "The outcome is not known, and your card provider does not take the key, so it cannot be looked up. {may_have}; do"
    " not repeat this. It is looked up as soon as the key works again."
)
_STOPPED = "Its list was stopped. Your card provider had not carried it out, and it is not sent again."
_UNTRUSTED = (
    "What is stored is not what was approved, so nothing is sent or looked up any more. What was sent before is not"
    " known; do not repeat this. Keep the database as it is, look at `countersign audit verify`, and let two people"
    " resolve it by the ledger."
)


async def nothing_to_call(tx: Tx, core: Core, current: Request, kept: Kept) -> bool:
    """Nothing may be called now for what this process holds; where that has gone on for too long, it ends here."""
    cls, stopped = core.kinds[current.kind], kept.stopped
    may_send = kept.may_be_sent(cls.endpoint, is_urgent=cls.handling.is_urgent)
    if current.state is not State.EXECUTING:
        is_stopped = stopped.by_key or (not may_send and current.state is State.APPROVED)
        can_be_held = current.state is State.APPROVED and not stopped.draft_only
        if is_stopped and cls.handling.urgency and can_be_held:
            await _held_by_a_pause(tx, core, current, cls.handling.urgency)
        return is_stopped
    made = await attempts.of(tx, current.id)
    history = planning.History.of(made, cls.endpoint)
    if planning.was_refused(current, history) and await batch_approval.is_stopped(tx, current):
        await _end(tx, core, current, Event.FAIL, _STOPPED, made)
        return True
    can_wait = not cls.handling.is_urgent  # no time ends what cannot
    if can_wait and planning.never_executed(current, history, tx.now):
        text = (
            await start_holds.said_unsent(tx, current, planning.LAPSED) if kept.is_unseen else planning.LAPSED
        )
        await _end(tx, core, current, Event.FAIL, text, made)
        return True
    if (
        can_wait
        and stopped.by_key
        and current.first_sent_at
        and tx.now >= current.first_sent_at + sum_of_pauses()
    ):
        text = _KEY_LOST.format(may_have=cls.may_have)
        await _end(tx, core, current, Event.LOSE_SIGHT, text, made)
        return True
    # What was never executed waits with the rest; what may have been is looked at, and not sent again.
    may_have_acted = history.leaves_a_doubt or history.was_carried_out
    waits = stopped.by_key or (not may_send and not may_have_acted)
    if waits:
        await requests.put_off(tx, current, tx.now + planning.HELD_FOR)
        await urgent_rules.stops_changed(tx, core, current)
    return waits


async def _held_by_a_pause(tx: Tx, core: Core, current: Request, words: Urgency) -> None:
    """What cannot wait was not even tried: from now on people know of it, and no time ends it."""
    until = tx.now + planning.HELD_FOR
    if urgency.waited_for_a_pause(current):
        await requests.put_off(tx, current, until)
    else:
        text = f"Nothing was sent yet. {words.meanwhile}"
        current = await requests.touch(
            tx, current, outcome=urgency.HELD_BY_A_PAUSE, outcome_text=text, due_at=until
        )
        await audit.of_request(tx, core, current, effects.EXECUTION, "request.held_by_a_pause")
    await urgent_rules.stops_changed(tx, core, current)


def sum_of_pauses() -> timedelta:
    """From the first send to the last repeat of an executing request."""
    return sum(timing.RETRY_PAUSES, timedelta())


async def lost_with_a_copy(tx: Tx, core: Core, request: Request, text: str) -> None:
    """Executing in an older copy of the database that was put in place: from now on it is looked up alone.

    The first look comes when nothing can still be on its way that was sent before the copy was put in place."""
    if not has_its_digest(tx.vault, request, as_proof=True):
        await stop_tampered(tx, core, request)
        return
    made = await attempts.of(tx, request.id)
    await _end(tx, core, request, Event.LOSE_SIGHT, text, made, due_in=timing.QUIESCENCE)


async def stop_tampered(tx: Tx, core: Core, request: Request) -> None:
    """Executing or unresolved, held by this process or by nobody, and changed by hand: its key and target cannot be
    trusted, even for a look.
    """
    if request.state is State.EXECUTING:
        await _end(tx, core, request, Event.LOSE_SIGHT, _UNTRUSTED, await attempts.of(tx, request.id))
    else:
        due_at = tx.now + timing.RECONCILE_EVERY
        await requests.touch(tx, request, needs_person=True, due_at=due_at, outcome_text=_UNTRUSTED)
    await effect_writer.write(tx, core, request, effects.of_tampering(request))


async def _end(
    tx: Tx,
    core: Core,
    request: Request,
    event: Event,
    text: str,
    made: Sequence[Attempt],
    *,
    due_in: timedelta = timing.RECONCILE_EVERY,
) -> None:
    lost = event is Event.LOSE_SIGHT
    moved = await requests.move(
        tx,
        request,
        event,
        outcome_text=text,
        outcome_unknown=request.outcome_unknown or lost,
        needs_person=lost,
        due_at=tx.now + due_in if lost else None,
        finished_at=None if lost else tx.now,
        lease_owner=None,
        lease_until=None,
    )
    partner = core.partners.get(request.program)  # an edited row may name a program that there is not
    sent = effects.Sent(made, partner.key_prefix if partner is not None else "")
    await effect_writer.write(tx, core, moved, effects.of_ending_without_call(moved, event, sent=sent))
