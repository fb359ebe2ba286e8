"""Holds the rows of requests against the audit log where people decide on them, and where a list ends.

Whoever writes to the database can change a row for the moment of a click and take that back. What was decided then must
not follow from it, and nobody may read what it says.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.requests import Request, State
from storage import tables as t
from storage.errors import NotAsOnRecord
from storage.log_record import LogFacts, counted, on_record, open_requests
from storage.requests import attempts, requests
from storage.transaction import Contradiction, Tx


async def require(tx: Tx, request_id: str, request: Request | None) -> None:
    """Raise NotAsOnRecord where the row of a request is gone or says another state than the audit log, `LogNotWhole`
    where nobody can tell. `request`: its row as it was read just now."""
    wrong = await _wrong(tx, request_id, request)
    # On PostgreSQL another process may have moved it between the two readings.
    if wrong is not None and wrong == await _wrong(tx, request_id, await requests.get(tx, request_id)):
        on_record.note(tx, wrong)
        raise NotAsOnRecord(wrong.request_id, wrong.why)


async def _wrong(tx: Tx, request_id: str, request: Request | None) -> Contradiction | None:
    if request is None:
        tx.require_readable(t.request.name, request_id)
    if request is not None and _state(await on_record.known(tx), request_id) is request.state:
        return None
    found = await on_record.of(tx)
    known, state = found.open.get(request_id), _state(found, request_id)
    if state is None or (request is not None and request.state is state):
        return None
    how = "its row was taken out" if request is None else f"somebody changed its row to {request.state}"
    if request is None and known is None:  # what is over may be deleted: nothing follows from it
        return None
    why = f"is {state} by the audit log, and {how}"
    return Contradiction(request_id, why, state if known else "")


def _state(found: LogFacts, request_id: str) -> State | None:
    known = found.open.get(request_id)
    return _ended(found, request_id) if known is None else known.state


def _ended(found: LogFacts, request_id: str) -> State | None:
    """How it ended, where it was approved within two days; None = not known, or it never was."""
    one = counted.find(found.counted, request_id)
    return None if one is None else one.state


async def differing(tx: Tx, rows: Sequence[Request]) -> dict[str, Contradiction]:
    """Those of the rows of a list that are not in the state that the audit log has, or have ended otherwise, by id.
    `rows`: as they were read just now. Raises `LogNotWhole`.

    Rows that this transaction has changed are held against the log at its end.
    """
    others = [row for row in rows if row.id not in tx.was]
    if not _differing(await on_record.known(tx), others):
        return {}
    before = _differing(await on_record.of(tx), others)
    if not before:
        return {}
    # On PostgreSQL another process may move a row between two readings: then the row or the log says more at the next.
    again = await requests.among(tx, before)
    now = _differing(await on_record.of(tx), again)
    return {row_id: wrong for row_id, wrong in now.items() if before[row_id] == wrong}


async def changed(tx: Tx, request: Request) -> Contradiction | None:
    """Where the row of a request that was sent and has not ended, or a call of it, says something else than the audit
    log. `request`: its row as it was read just now, held until this transaction ends. Raises `LogNotWhole`."""
    wrong = await _changed(tx, request)
    # On PostgreSQL a call may be answered late between two readings.
    return wrong if wrong is not None and wrong == await _changed(tx, request) else None


async def _changed(tx: Tx, request: Request) -> Contradiction | None:
    made = await attempts.of(tx, request.id)
    return open_requests.changed(request, (await on_record.of(tx)).open.get(request.id), made)


def _differing(found: LogFacts, rows: Sequence[Request]) -> dict[str, Contradiction]:
    each = (open_requests.row_differs(row, found.open) for row in rows)
    return {wrong.request_id: wrong for wrong in each if wrong is not None}
