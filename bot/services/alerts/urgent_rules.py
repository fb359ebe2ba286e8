"""A freeze, or what else cannot wait, that has not happened: people are notified at the first failed try.

One alert for a request, or for the batch of many; it follows the request until it has happened, and ends with it. What
ended without having happened, and not because people wanted it so, leaves an alert of its own behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.domain.alerts import Said, request_alerts
from bot.domain.requests import Request, State
from bot.operations import Urgency, urgency
from bot.services import outbox_messages
from bot.services.alerts import lifecycle as alerts
from bot.services.core import Core
from bot.services.operators import programs
from storage.messages import alerts as alert_rows
from storage.requests import requests
from storage.transaction import Tx

_NAMED = 8
_MOST = 200


async def follow(tx: Tx, core: Core, request: Request, *, is_refused: bool = False) -> None:
    """Called in the transaction of each change of a request; nothing for what can wait.

    `is_refused`: the card provider has refused it for good, or a check before it was sent has.
    """
    words = urgency.urgency_of(request.kind)
    if words is None:
        return
    whole = request if request.parent_id is None else await requests.get(tx, request.parent_id)
    if whole is None:
        return
    waiting, not_final = await waiting_of(tx, whole), await _not_final(tx, whole)
    condition = request_alerts.NOT_DONE_YET.condition(whole.id)
    if waiting:
        await _raise(tx, core, whole, waiting, words, condition)
    elif await alert_rows.open_one(tx, condition) is None:
        pass
    elif not_final:
        await alerts.keep(
            tx,
            core,
            _for_now(whole, not_final, words),
            condition=condition,
            subject=whole.id,
            program=whole.program,
        )
    else:
        await _end(tx, core, whole, request, words, condition)
    if is_refused or request.state is State.EXPIRED:
        await _leave_behind(tx, core, request, words)


async def stops_changed(tx: Tx, core: Core, request: Request) -> None:
    """Sending stopped, or goes on: its alert and its messages say so. Nothing where they say it already."""
    whole = request if request.parent_id is None else await requests.get(tx, request.parent_id)
    if whole is None or urgency.urgency_of(whole.kind) is None:
        return
    condition = request_alerts.NOT_DONE_YET.condition(whole.id)
    before = await alert_rows.open_one(tx, condition)
    await follow(tx, core, request if request.parent_id else whole)
    after = await alert_rows.open_one(tx, condition)
    if after is not None and (before is None or before.text != after.text):
        await outbox_messages.redraw(tx, core, whole)
        await outbox_messages.redraw_notice(tx, core, whole)


async def all_stops_changed(tx: Tx, core: Core, program: str) -> None:
    """The same for everything of a program that cannot wait and has not happened."""
    kinds = [kind for kind, cls in core.kinds.items() if cls.handling.is_urgent]
    states = (State.APPROVED, State.EXECUTING, State.UNRESOLVED)
    for request in await requests.find(tx, program=program, states=states, kinds=kinds, limit=_MOST):
        for row in (await waiting_of(tx, request))[:1]:
            await stops_changed(tx, core, row)


async def waiting_of(tx: Tx, whole: Request) -> list[Request]:
    """What waits of it: the request itself, or those rows of a batch."""
    if urgency.urgency_of(whole.kind) is None:
        return []
    rows = await requests.rows_of(tx, whole.id) if whole.is_batch else [whole]
    return [row for row in rows if urgency.is_waiting(row)]


async def _not_final(tx: Tx, whole: Request) -> list[Request]:
    """What of it has happened and may yet be undone by an older call."""
    rows = await requests.rows_of(tx, whole.id) if whole.is_batch else [whole]
    return [row for row in rows if urgency.is_for_now(row)]


def _for_now(whole: Request, not_final: Sequence[Request], words: Urgency) -> Said:
    """What an alert that was raised before says while it is not final."""
    return request_alerts.NOT_DONE_YET.says(
        not_yet=words.for_now,
        what=_named(whole, not_final),
        why=not_final[0].outcome_text,
        next="",
        request=whole.id,
        advice=words.advice,
    )


async def _raise(
    tx: Tx, core: Core, whole: Request, waiting: Sequence[Request], words: Urgency, condition: str
) -> None:
    """The alert, kept in step; where it is new, the thread, the approvers and the requester are notified, too."""
    is_new = await alert_rows.open_one(tx, condition) is None
    why, paused = waiting[0].outcome_text or words.perhaps, await programs.why_paused(tx, whole.program)
    then = _next(waiting[0], paused)
    said = request_alerts.NOT_DONE_YET.says(
        not_yet=words.not_yet,
        what=_named(whole, waiting),
        why=why,
        next=then if paused else f"{then} Until then, press Try now here or on {whole.id}.",
        request=whole.id,
        advice=words.advice,
    )
    alert = await alerts.keep(tx, core, said, condition=condition, subject=whole.id, program=whole.program)
    if not is_new:
        return
    await alerts.thread_line(tx, core, alert, "system:alerts", f"{said.title}. {words.meanwhile}")
    try_now = "" if paused else "Press Try now above to try at once. "
    text = f"{why} {then} {try_now}{words.advice}"
    await outbox_messages.line(tx, core, whole, "not_yet", text=text)
    await outbox_messages.tell_requester(tx, core, whole, "")


async def _end(tx: Tx, core: Core, whole: Request, last: Request, words: Urgency, condition: str) -> None:
    """Nothing of it waits any more: the alert says how it ended, and is over."""
    rows = await requests.rows_of(tx, whole.id) if whole.is_batch else [whole]
    what = _named(whole, rows)
    done = all(row.state is State.SUCCEEDED for row in rows if row.approved_at)
    how = last.outcome_text if not whole.is_batch else f"All {len(rows)} cards are done."
    kind = request_alerts.NOT_DONE_YET
    if done:
        ended = kind.ended("done", done=words.done, what=what, how=how, request=whole.id)
    else:
        ended = kind.ended("not done", what=what, how=last.outcome_text, request=whole.id)
    await alerts.resolve(tx, core, condition, ended=ended)


async def _leave_behind(tx: Tx, core: Core, request: Request, words: Urgency) -> None:
    """It ended without having happened, and nobody here wanted that."""
    kind = request_alerts.NOT_DONE
    said = request_alerts.NOT_DONE.says(
        what=request.subject_label or f"What {request.id} names ({request.summary})",
        not_done=words.not_done,
        how=f"{request.id}: {request.outcome_text}",
        advice=words.advice,
    )
    alert = await alerts.raise_(
        tx, core, said, condition=kind.condition(request.id), subject=request.id, program=request.program
    )
    await alerts.thread_line(tx, core, alert, "system:alerts", f"{said.title}.")


def _named(whole: Request, of: Sequence[Request]) -> str:
    """`DANIEL OKAFOR ••6994`; of a batch how many cards, and the first of them."""
    if not whole.is_batch:
        return whole.subject_label or whole.id
    names = ", ".join(row.subject_label for row in of[:_NAMED])
    more = f" and {len(of) - _NAMED} more" if len(of) > _NAMED else ""
    return f"{len(of)} of {whole.rows} cards ({names}{more})"


def _next(request: Request, paused: str) -> str:
    """What the bot does next and when; the view turns a time in UTC into the reader's."""
    return urgency.while_stopped(paused) if paused else urgency.next_try(request, _in_utc)


def _in_utc(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
