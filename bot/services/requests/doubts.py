"""Requests that may have been sent without our knowledge: written so, and on record as they were to be left.

An older copy of the database was put in place, or the ledger has a debit of a request that was not sent from here.
"""

from __future__ import annotations

from bot.domain.requests import Request
from bot.outcomes import planning
from bot.services import audit
from bot.services.core import Core
from storage.log_record import on_record, open_requests
from storage.requests import requests
from storage.transaction import Tx

_NO_ROW = "none"
"""The fingerprint of no row: such a request goes on no more, and people are notified as soon as it is looked at."""


async def of_all(tx: Tx, core: Core, actor: str) -> None:
    """Of all that were open in an older copy of the database, by their rows or by the audit log.

    Of a row that is not as on record nothing can be written that would hold: nothing follows from it any more.
    """
    known = dict((await on_record.of(tx)).open)
    for request in await requests.hold_open(tx):
        is_known = request.id in known
        if is_known and open_requests.differs(request, known.pop(request.id)) is not None:
            await _on_record(tx, core, request, actor, progress=_NO_ROW)
            continue
        doubted = await requests.touch(tx, request, **planning.doubts(request, tx.now))
        await _on_record(tx, core, doubted, actor)
    for request_id, one in known.items():  # the log has it open, and its row says that it has ended
        body = {"state": one.state.value, "digest": one.digest, "progress": _NO_ROW}
        subject = f"request:{request_id}:{one.version}"
        await audit.record(tx, core, actor, open_requests.DOUBTED, subject, body)


async def of_one(tx: Tx, core: Core, request: Request, actor: str) -> Request:
    """Of one of which the ledger shows that it was sent. Raises `Stale`."""
    doubted = await requests.touch(tx, request, **planning.doubts(request, tx.now, of_a_copy=False))
    await _on_record(tx, core, doubted, actor)
    return doubted


async def _on_record(tx: Tx, core: Core, request: Request, actor: str, **body: str) -> None:
    await audit.of_request(tx, core, request, actor, open_requests.DOUBTED, body)
