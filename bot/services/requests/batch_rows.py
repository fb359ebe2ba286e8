"""What a batch's rows do to it: rows change one by one, and the batch follows.

A row is a request of its own with a key of its own, carried out, reconciled and resolved like any other.
Its batch sends nothing: it is under way from the first row sent, and ends when the last row has ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal

from bot.domain.money import exact_sum
from bot.domain.requests import (
    RETURNED,
    ROWS_IN_DOUBT,
    TERMINAL,
    UNSENT,
    Event,
    Request,
    State,
    batch_event,
    counted,
    ended_line,
    ending_text,
)
from bot.operations import loaded_facts, urgency
from bot.services import audit, outbox_messages
from bot.services.core import Core
from bot.services.processes import start_holds
from storage.log_record import on_record, open_requests
from storage.requests import as_on_record, requests
from storage.transaction import Contradiction, Tx

STOPPED = "Stopped by the requester before it was sent. Nothing was sent."


async def row_changed(tx: Tx, core: Core, row: Request) -> None:
    """Called in the transaction of each change of a row; nothing for a request that is no row."""
    if row.parent_id is None:
        return
    batch = await requests.get(tx, row.parent_id)
    if batch is not None and batch.state is not State.PENDING:
        await _follow(tx, core, batch)


async def follow_again(tx: Tx, core: Core, list_id: str) -> None:
    """All rows of this list have ended by the audit log, and it did not: it, or one of them, was out of the database or
    not as on record then."""
    batch = await requests.get(tx, list_id)
    known = (await on_record.of(tx)).open.get(list_id)
    if batch is None or batch.state is State.PENDING or known is None:
        return
    if open_requests.differs(batch, known) is not None:
        return
    if not _noted(tx, await as_on_record.differing(tx, await included(tx, batch))):
        await _follow(tx, core, batch)


async def _follow(tx: Tx, core: Core, batch: Request) -> None:
    """Move the batch to where its rows are. A batch may take two steps at once: sent, and ended.

    Where somebody changed what a row says of that, people are notified, and the batch waits until it is as on record.
    """
    rows = await included(tx, batch)
    states = Counter(row.state for row in rows)
    if batch_event(batch.state, states) is not None and _noted(tx, await as_on_record.differing(tx, rows)):
        await outbox_messages.progress(tx, core, batch)
        return
    moved = False
    while (event := batch_event(batch.state, states)) is not None:
        ends = event is not Event.CLAIM
        batch = await requests.move(
            tx,
            batch,
            event,
            outcome_text=ending(batch, states, rows) if ends else "",
            first_sent_at=tx.now if event is Event.CLAIM else batch.first_sent_at,
            finished_at=tx.now if event not in (Event.CLAIM, Event.LOSE_SIGHT, Event.REOPEN) else None,
        )
        await audit.of_request(
            tx, core, batch, "system:execution", f"request.{batch.state}", _rows_by_state(states)
        )
        moved = True
    if not moved:
        text = ending(batch, states, rows)
        if batch.state in (State.UNRESOLVED, State.FAILED) and text != batch.outcome_text:
            batch = await requests.touch(tx, batch, outcome_text=text)
        await outbox_messages.progress(tx, core, batch)
        return
    await outbox_messages.card(tx, core, batch)
    if batch.state in TERMINAL or batch.state is State.UNRESOLVED:
        line = ended_line(batch) or str(batch.state)
        await outbox_messages.line(tx, core, batch, line, text=batch.outcome_text)
        await outbox_messages.tell_requester(tx, core, batch, "")
    if batch.state in TERMINAL:
        await outbox_messages.results(tx, core, batch)


async def money_came_back(tx: Tx, core: Core, row: Request) -> None:
    """The amount of a row that succeeded is back on the float: its batch says what moved now, and so does the message
    to its requester. Nothing for a request that is no row."""
    batch = None if row.parent_id is None else await requests.get(tx, row.parent_id)
    if batch is None or batch.state not in (*TERMINAL, State.UNRESOLVED):
        return
    rows = await included(tx, batch)
    text = ending(batch, Counter(one.state for one in rows), rows)
    batch = await requests.touch(tx, batch, outcome_text=text)
    await outbox_messages.card(tx, core, batch)
    await outbox_messages.tell_requester(tx, core, batch, "", is_loud=True)


async def included(tx: Tx, batch: Request) -> list[Request]:
    """The rows that are asked for: those left out before the approval are no longer part of it."""
    return [row for row in await requests.rows_of(tx, batch.id) if not is_left_out(row)]


def _noted(tx: Tx, differing: Mapping[str, Contradiction]) -> bool:
    """People are to be notified of these; False where there is none."""
    for wrong in differing.values():
        on_record.note(tx, wrong)
    return bool(differing)


def is_left_out(row: Request) -> bool:
    return bool(row.outcome and row.outcome.get("left_out"))


def ending(batch: Request, states: Mapping[State, int], rows: Sequence[Request]) -> str:
    """How it ended, in a sentence: how many rows succeeded, what became of the others, and what moved in USD."""
    how = urgency.failed_how(batch.kind)
    done = [row for row in rows if row.state is State.SUCCEEDED]
    back = {row.id: loaded_facts(row.outcome or {}).get(RETURNED) or Decimal(0) for row in done}
    moved_usd = exact_sum(row.exposure_usd - back[row.id] for row in done)
    came_back = {row_id: usd for row_id, usd in back.items() if usd}
    text = ending_text(states, moved_usd, batch.exposure_usd, failed_how=how, came_back=came_back)
    text += _not_counted((batch.rows or 0) - len(rows))
    return f"{text} {ROWS_IN_DOUBT}" if any(map(ended_line, rows)) else text


def _not_counted(count: int) -> str:
    """Of rows that were approved and are not there any more, or are left out by somebody who changed the database."""
    if count <= 0:
        return ""
    which = "1 more row is" if count == 1 else f"{count} more rows are"
    it = "it" if count == 1 else "them"
    return (
        f" {which} not counted here, as somebody changed the database: look in the ledger for what became of {it}"
        " before you request this again."
    )


async def close_rows(
    tx: Tx, core: Core, batch: Request, event: Event, text: str, *, actor: str
) -> list[Request]:
    """End every row of which nothing was sent, with its batch or because the rest is stopped.

    A row that is not as the audit log has it is put right as soon as people are notified of it, which comes next.
    """
    await requests.lock_rows(tx, batch.id)
    rows = await requests.rows_of(tx, batch.id)
    differing = await as_on_record.differing(tx, rows)
    _noted(tx, differing)
    return [
        await close_row(tx, core, row, event, text, actor=actor)
        for row in rows
        if row.state in UNSENT and row.id not in differing
    ]


async def close_row(
    tx: Tx, core: Core, row: Request, event: Event, text: str, *, actor: str, **changes: object
) -> Request:
    """End one row of which nothing was sent, on record as what `actor` did to its batch."""
    text = await start_holds.said_unsent(tx, row, text)
    moved = await requests.move(
        tx, row, event, outcome_text=text, finished_at=tx.now, due_at=None, remind_at=None, **changes
    )
    await requests.purge(tx, row.id)
    await audit.of_request(tx, core, moved, actor, f"request.{moved.state}", {"batch": row.parent_id})
    return moved


async def stop(
    tx: Tx, core: Core, batch: Request, slack_id: str, *, withdrawn: int, text: str = STOPPED
) -> Request:
    """Somebody stops a batch that is under way: what was carried out goes on, the rest is not sent.

    `withdrawn`: how many rows were withdrawn before this, of which every call was refused. `text`: what each row says.
    """
    closed = await close_rows(tx, core, batch, Event.CANCEL, text, actor=slack_id)
    states = _rows_by_state(Counter(row.state for row in closed))
    await audit.of_request(tx, core, batch, slack_id, "request.stopped", {**states, "withdrawn": withdrawn})
    text = f"{counted(len(closed))} {'was' if len(closed) == 1 else 'were'} not sent."
    if withdrawn:
        are = "is" if withdrawn == 1 else "are"
        text += f" {counted(withdrawn)} that your card provider had not carried out {are} not sent again."
    await outbox_messages.line(tx, core, batch, "stopped", actor=slack_id, text=text)
    await _follow(tx, core, batch)
    found = await requests.get(tx, batch.id)
    return found or batch


def _rows_by_state(states: Mapping[State, int]) -> dict[str, dict[str, int]]:
    return {"rows": {state.value: count for state, count in sorted(states.items())}}
