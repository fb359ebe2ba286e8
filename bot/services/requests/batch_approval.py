"""A batch's approval becomes its rows' approvals, and no row is sent that its batch does not vouch for.

What people approve is the batch: its digest covers the digest of each row. With the deciding approval
every row gets decisions of its own, by the same people and under MACs of their own, so that the gate
before the first byte judges a row as it judges any request.
"""

from __future__ import annotations

from bot.domain.errors import NotAllowed, Stale
from bot.domain.people import APPROVAL_VALID_FOR
from bot.domain.requests import (
    UNSENT,
    Conditions,
    Decision,
    DecisionKind,
    Event,
    Request,
    State,
    digest_of_rows,
    due_after,
)
from bot.services import audit
from bot.services.core import Core
from bot.services.requests import batch_rows
from bot.services.requests.signatures import (
    approved_by,
    changed_outside,
    for_row,
    has_its_body,
    has_its_digest,
    require_its_digest,
)
from bot.services.requests.signatures import given as genuine
from storage.errors import CannotOpen
from storage.log_record import on_record
from storage.requests import as_on_record, decisions, requests
from storage.transaction import Tx

ROWS_DIGEST = "rows_digest"


def refuse_row(request: Request) -> None:
    """Nobody decides on a row alone. Raises NotAllowed."""
    if request.parent_id is not None:
        raise NotAllowed(
            f"{request.id} is a row of {request.parent_id}: decide on {request.parent_id} as a whole. Its requester"
            " can leave rows out before it is approved.",
            "row_of_a_batch",
        )


async def approve_rows(tx: Tx, core: Core, batch: Request, approvals: list[Decision]) -> None:
    """Approve every row of a batch that was just approved. Raises `Stale` when a row was changed by hand."""
    rows = await batch_rows.included(tx, batch)
    if not are_the_rows(tx, batch, rows) or any(row.state is not State.PENDING for row in rows):
        raise Stale(
            "What is stored of its rows is not what was requested. Nothing was sent. Keep the database as it is and"
            " look at `countersign audit verify`."
        )
    given = [d for d in approvals if d.kind is DecisionKind.APPROVE and d.digest == batch.digest]
    sent_from = tx.now + Conditions.of(given).waits
    for number, row in enumerate(rows):
        for decision in given:
            await decisions.insert(tx, for_row(tx, core, row, decision))
        approved = await requests.move(
            tx,
            row,
            Event.APPROVE,
            approved_at=tx.now,
            valid_until=sent_from + APPROVAL_VALID_FOR,
            due_at=sent_from + due_after(number),
        )
        by = [d.actor for d in given]
        body = {"batch": batch.id, "by": by}
        await audit.of_request(tx, core, approved, given[-1].actor, "request.approval", body, approvers=by)


def are_the_rows(tx: Tx, batch: Request, rows: list[Request]) -> bool:
    """Are these all the rows that the batch's digest covers, each as it was asked for?"""
    if len(rows) != batch.rows or not all(has_its_digest(tx.vault, row) for row in rows):
        return False
    return digest_of_rows(row.digest for row in rows) == batch.terms.get(ROWS_DIGEST)


async def _have_their_bodies(tx: Tx, batch: Request, rows: list[Request]) -> bool:
    """Whoever changed what one row sends may have changed more: then none of them is sent."""
    try:
        bodies = await requests.bodies_of_rows(tx, batch.id)
    except CannotOpen:
        return False
    return all(has_its_body(tx.vault, row, bodies[row.id]) for row in rows if row.id in bodies)


async def decided_on(tx: Tx, request: Request) -> Request:
    """What people decide on: the batch of a row, else the request itself; both as they were requested.

    Raises NotAllowed where something of them was changed: what is asked of people follows from it.
    """
    require_its_digest(tx.vault, request)
    if request.parent_id is None:
        return request
    batch = await requests.get(tx, request.parent_id)
    if batch is None:
        raise changed_outside(request.parent_id)
    require_its_digest(tx.vault, batch)
    return batch


async def is_stopped(tx: Tx, row: Request) -> bool:
    """Has somebody stopped the list of this row, or is that over, by the audit log? Whatever the row said then, it is
    not sent again. False for a request that is no row."""
    if row.parent_id is None:
        return False
    whole = (await on_record.of(tx)).open.get(row.parent_id)
    return whole is None or whole.is_stopped


async def batch_stands(tx: Tx, row: Request) -> bool:
    """Is this row among those that enough people approved with its batch? Asked before its first byte."""
    batch = await requests.get(tx, row.parent_id or "")
    if batch is None or not has_its_digest(tx.vault, batch):
        return False
    # Once it is over, none of its rows is sent, as one that was out of the database meanwhile; nor what was not sent
    # once somebody has stopped it, whatever its row said then.
    on_log = (await on_record.of(tx)).open
    whole, known = on_log.get(batch.id), on_log.get(row.id)
    if whole is None or (whole.is_stopped and known is not None and known.state in UNSENT):
        return False
    rows = await batch_rows.included(tx, batch)
    if not are_the_rows(tx, batch, rows) or not await _have_their_bodies(tx, batch, rows):
        return False
    others = (one for one in rows if one.id != row.id and one.id in on_log)
    if await as_on_record.differing(tx, list(others)):
        return False
    made = await decisions.of(tx, batch.id)
    asked = Conditions.of(genuine(tx.vault, batch, made, DecisionKind.APPROVE))
    return len(approved_by(tx.vault, batch, made)) >= max(batch.approvals_needed, asked.needed)
