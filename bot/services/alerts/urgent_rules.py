"""A freeze, or whatever else cannot wait, that has not happened: people hear it at the first failed try, until it did.

One alert for a request, or for the batch of many; it follows where the request is, and ends with it. What ended
without having happened, and not because people wanted it so, leaves an alert of its own behind.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.alerts import request_alerts
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


async def follow(tx: Tx, core: Core, request: Request, *, is_refused: bool = False) -> None:
    """Called in the transaction of each change of a request; nothing for what can wait.

    `is_refused`: the card provider has refused it for good.
    """
    words = urgency.urgency_of(request.kind)
    if words is None or request.is_batch:
        return
    whole = request if request.parent_id is None else await requests.get(tx, request.parent_id)
    if whole is None:
        return
    waiting = await waiting_of(tx, whole)
    condition = request_alerts.NOT_DONE_YET.condition(whole.id)
    if waiting:
        await _raise(tx, core, whole, waiting, words, condition)
    elif await alert_rows.open_one(tx, condition) is not None:
        await _end(tx, core, whole, request, words, condition)
    if is_refused or request.state is State.EXPIRED:
        await _leave_behind(tx, core, request, words)


async def waiting_of(tx: Tx, whole: Request) -> list[Request]:
    """What waits of it: the request itself, or those rows of a batch."""
    if urgency.urgency_of(whole.kind) is None:
        return []
    rows = await requests.rows_of(tx, whole.id) if whole.is_batch else [whole]
    return [row for row in rows if urgency.is_waiting(row)]


async def _raise(
    tx: Tx, core: Core, whole: Request, waiting: Sequence[Request], words: Urgency, condition: str
) -> None:
    """The alert, kept in step; where it is new, the thread, the approvers and the requester hear it, too."""
    is_new = await alert_rows.open_one(tx, condition) is None
    why, then = waiting[0].outcome_text or words.perhaps, await _next(tx, waiting[0])
    said = request_alerts.NOT_DONE_YET.says(
        not_yet=words.not_yet,
        what=_named(whole, waiting),
        why=why,
        next=then,
        request=whole.id,
        advice=words.advice,
    )
    alert = await alerts.keep(tx, core, said, condition=condition, subject=whole.id)
    if not is_new:
        return
    await alerts.thread_line(tx, core, alert, "system:alerts", f"{said.title}. {words.meanwhile}")
    text = f"{why} {then} Press Try now above to try at once. {words.advice}"
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
        what=request.subject_label or request.id,
        not_done=words.not_done,
        how=f"{request.id}: {request.outcome_text}",
        advice=words.advice,
    )
    alert = await alerts.raise_(tx, core, said, condition=kind.condition(request.id), subject=request.id)
    await alerts.thread_line(tx, core, alert, "system:alerts", f"{said.title}.")


def _named(whole: Request, of: Sequence[Request]) -> str:
    """`DANIEL OKAFOR ••6994`; of a batch how many cards, and the first of them."""
    if not whole.is_batch:
        return whole.subject_label or whole.id
    names = ", ".join(row.subject_label for row in of[:_NAMED])
    more = f" and {len(of) - _NAMED} more" if len(of) > _NAMED else ""
    return f"{len(of)} of {whole.rows} cards ({names}{more})"


async def _next(tx: Tx, request: Request) -> str:
    """What the bot does next and when; alerts are plain text, so times are written in UTC."""
    paused = await programs.why_paused(tx, request.program)
    if paused:
        return f"It is not sent now: {paused} It is tried again as soon as sending goes on."
    return urgency.next_try(request, lambda at: f"{at:%H:%M:%S} UTC")
