"""Notifies people of requests whose rows are not as the audit log has them, and puts them right.

Somebody put older rows back in the database, of a request that was rejected, cancelled, stopped or sent since, or
rewrote what they say of its calls. That it was noticed is in the memory of the process that met it; nothing was done or
sent then.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from bot.domain.alerts import request_alerts
from bot.domain.errors import Stale
from bot.domain.requests import OPEN, TERMINAL, UNSENT, State
from bot.services import audit, outbox_messages
from bot.services.alerts import lifecycle as alerts
from bot.services.core import Core
from bot.services.requests import batch_rows
from storage import audit as chain
from storage.errors import LogNotWhole, NotAsOnRecord
from storage.log_record import on_record, open_requests
from storage.requests import requests
from storage.transaction import Contradiction, Tx

log = logging.getLogger("countersign.put_back")

_ACTOR = "system:upkeep"
_UNDONE = "Somebody changed it in the database, and Countersign does not go by that."
_ENDED = f"It was {{state}} already, and nothing was sent for it since. {_UNDONE}"
# Whether a database that was lost had sent it is in the ledger alone: what the row says of that may be changed, too.
_NEVER_SENT = (
    f"Cancelled: what was stored of it was not as on record. It was not sent from this database. {_UNDONE} Check the"
    " card and the ledger before you request it again."
)
_WAS_SENT = (
    f"The outcome is not known. {_UNDONE} Nothing more is sent or looked up for it. Do not repeat it; let two people"
    " resolve it by the ledger."
)


@asynccontextmanager
async def noticed(core: Core) -> AsyncIterator[None]:
    """People are notified at once of what is met within that is not as on record, where it is refused or not."""
    try:
        yield
    except NotAsOnRecord:
        await tell(core)
        raise
    await tell(core)


async def tell(core: Core) -> None:
    """One alert for each that this process has met since; each is over now, as on record or for people to resolve."""
    noted = dict(core.store.put_back)
    if not noted:
        return
    with_lists = noted | await _of_their_lists(core, noted)
    ended = await _ends_on_record(core, {one.request_id for one in with_lists.values() if not one.on_record})
    for request_id, found in with_lists.items():
        async with core.store.begin() as tx:
            await _tell(tx, core, found, is_met=request_id in noted)
        try:
            async with core.store.begin() as tx:
                await _put_right(tx, core, found, ended.get(request_id))
        except (NotAsOnRecord, Stale) as error:  # the true row is back, and went on
            log.warning("put_back.not_put_right", extra={"request": request_id, "why": str(error)})
        core.store.put_back.pop(request_id, None)
    await lists_follow(core)


async def lists_follow(core: Core) -> None:
    """Lists that did not end with their last row: a list or a row was out of the database or not as on record then."""
    async with core.store.read() as tx:
        known = (await on_record.known(tx)).open
    under_way = {one.parent for one in known.values()}
    for list_id, one in known.items():
        if one.ended and list_id not in under_way:
            with suppress(NotAsOnRecord, Stale):  # it is not as on record itself, or goes on just now
                async with core.store.begin() as tx:
                    await batch_rows.follow_again(tx, core, list_id)


async def _of_their_lists(core: Core, noted: Mapping[str, Contradiction]) -> dict[str, Contradiction]:
    """The lists of these requests with all their rows, where they are not as the audit log has them either.

    Whoever put a row back has put its list back, and nobody meets that one: only its rows are sent.
    """
    found: dict[str, Contradiction] = {}
    try:
        async with core.store.read() as tx:
            log_facts = await on_record.of(tx)
            met = [await requests.get(tx, request_id) for request_id in noted]
            for list_id in {one.parent_id or one.id for one in met if one is not None}:
                found |= await _of_list(tx, log_facts.open, list_id, noted.get(list_id))
    except LogNotWhole:  # an alert of its own says so
        return {}
    return {request_id: wrong for request_id, wrong in found.items() if request_id not in noted}


async def _of_list(
    tx: Tx, known: Mapping[str, open_requests.OpenRequest], list_id: str, noted: Contradiction | None
) -> dict[str, Contradiction]:
    """`noted`: what was met of the list itself."""
    whole = await requests.get(tx, list_id)
    rows = await requests.rows_of(tx, list_id)
    differing = [open_requests.differs(row, known.get(row.id)) for row in rows]
    wrong = noted if whole is None or noted else open_requests.differs(whole, known.get(list_id))
    if wrong is not None and wrong.on_record in UNSENT:  # it is cancelled, so all its rows are
        differing += [
            Contradiction(row.id, "is a row of a list that is not as on record", row.state)
            for row in rows
            if row.state in UNSENT and row.id in known
        ]
    return {one.request_id: one for one in (*differing, wrong) if one is not None}


@dataclass(frozen=True, slots=True)
class _End:
    """How a request has ended by the log, of which kind it was there, and its fingerprint."""

    state: State
    kind: str
    digest: str


async def _ends_on_record(core: Core, ids: Collection[str]) -> dict[str, _End]:
    """How each of them has ended, by a log that was checked meanwhile; none where it is not whole."""
    last: dict[str, _End] = {}

    def take(link: chain.Link) -> None:
        request_id = open_requests.id_of(link)
        if request_id not in ids:
            return
        state, known = open_requests.state_of(link), last.get(request_id)
        if known is not None and open_requests.ends_what_is_over(known.state, link):
            return
        said = open_requests.read_body(link.body)
        state = state or (known.state if known is not None else None)
        if state is not None and "digest" in said:
            kind = known.kind if known is not None else str(said.get("kind", ""))
            last[request_id] = _End(state, kind, str(said["digest"]))

    if not ids:
        return last
    async with core.store.read() as tx:
        report = await chain.verify(tx, take=take)
    return {one: end for one, end in last.items() if end.state in TERMINAL} if report.ok else {}


async def _tell(tx: Tx, core: Core, found: Contradiction, *, is_met: bool) -> None:
    request = await requests.get(tx, found.request_id)
    if found.was_counted:
        await _tell_of_count(tx, core, found)
        return
    if not is_met and request is not None and request.parent_id is not None:
        return  # the alert of its list is enough
    said = request_alerts.ENDED_PUT_BACK.says(request=found.request_id, why=found.why)
    await alerts.keep(
        tx,
        core,
        said,
        condition=request_alerts.ENDED_PUT_BACK.condition(found.request_id),
        subject=found.request_id,
        program="" if request is None else request.program,
    )


async def _tell_of_count(tx: Tx, core: Core, found: Contradiction) -> None:
    """It need not be open, and may be gone: nothing is put right, and what is counted from it waits."""
    said = request_alerts.CHANGED_OUTSIDE.says("rows", what=f"{found.request_id} {found.why}")
    condition = request_alerts.CHANGED_OUTSIDE.condition(found.request_id)
    await alerts.keep(tx, core, said, condition=condition, subject=found.request_id, program="")


async def _put_right(tx: Tx, core: Core, found: Contradiction, ended: _End | None) -> None:
    """The log has the last word: where what this writes does not follow it, NotAsOnRecord is raised."""
    request = await requests.get(tx, found.request_id)
    if found.was_counted or request is None:
        return
    said: dict[str, str] = {}
    if found.on_record:
        was_sent = State(found.on_record) not in UNSENT
        state, text = (State.UNRESOLVED, _WAS_SENT) if was_sent else (State.CANCELLED, _NEVER_SENT)
    elif ended is not None:
        if request.state is ended.state:
            return
        state, text = ended.state, _ENDED.format(state=ended.state.value)
        # Not what somebody wrote into its row: an export would look forged from then on.
        said = {"kind": ended.kind or request.kind, "digest": ended.digest}
    elif request.state not in OPEN:
        return
    else:  # nobody can tell how it ended: the log is not whole
        await requests.touch(tx, request, due_at=None, remind_at=None)
        return
    moved = await requests.put_right(tx, request, state, text=text)
    await audit.of_request(
        tx, core, moved, _ACTOR, open_requests.PUT_RIGHT, {"was": request.state.value, **said}
    )
    await outbox_messages.card(tx, core, moved)
    await outbox_messages.tell_requester(tx, core, moved, "")
