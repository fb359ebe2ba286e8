"""Rows of the ledger under the key of a request here that does not count as carried out: nothing was sent for it from
here, or it failed.

Only this database has the key. So it is an older copy of itself, or another copy of it is in use: what was approved
there is not known here. It need not be a debit: an unload gives something back, an ordered card costs nothing at first.
Its debits count towards the limits, and the request is in doubt from then on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from decimal import Decimal

from bot.domain.alerts import float_alerts
from bot.domain.money import exact_sum, format_usd, ledger_text
from bot.domain.requests import COMMITTED, DEBITED, SENT, UNSENT, Request, State, said_debited
from bot.outcomes import planning
from bot.partner.models import LedgerEntry
from bot.services import audit, outbox_messages
from bot.services.alerts import lifecycle as alerts
from bot.services.core import Core
from bot.services.requests import batch_rows, local_facts
from storage.log_record import open_requests
from storage.operators import OrphanDebit, safe_mode
from storage.requests import request_search, requests
from storage.transaction import Tx


async def unsent(
    tx: Tx, core: Core, entries: Sequence[LedgerEntry], *, but_not: Collection[str | None] = ()
) -> list[LedgerEntry]:
    """Of these rows those of requests of which nothing was carried out from here, by what is committed. Read the
    ledger first: what is sent was committed before. `but_not`: references that are known."""
    rows = [e for e in entries if e.reference not in but_not]
    known = await request_search.by_key(tx, {ledger_text.key_in(e.reference) for e in rows} - {""})
    never = {key for key, request_id in known.items() if await was_not_sent(tx, core, request_id)}
    return [e for e in rows if ledger_text.key_in(e.reference) in never]


async def was_not_sent(tx: Tx, core: Core, request_id: str) -> bool:
    """Was nothing sent for it from here, or only what the card provider has refused each time?"""
    request = await requests.get(tx, request_id)
    if request is None:
        return False
    return request.state not in SENT or (
        request.state is State.EXECUTING and await local_facts.can_be_cancelled(tx, core, request)
    )


async def count_of_failed(tx: Tx, program: str, entries: Sequence[LedgerEntry]) -> None:
    """What a request that is called failed has moved after all counts towards the limits until it is looked at."""
    moved = moving(entries)
    states = await request_search.states_by_key(tx, moved)
    failed = {key for key, state in states.items() if state in SENT - COMMITTED}
    found = [e for e in entries if ledger_text.key_in(e.reference) in failed]
    await safe_mode.add_orphans(tx, [orphan(program, e, found_at=tx.now, listed_at=tx.now) for e in found])


def moving(entries: Sequence[LedgerEntry]) -> set[str]:
    """The keys that took something from the float and have not given it back, or gave it something."""
    of_key = defaultdict[str, list[Decimal]](list)  # the ledger may be long: once over it
    for entry in entries:
        of_key[ledger_text.key_in(entry.reference)].append(entry.amount_usd)
    return {key for key, amounts in of_key.items() if key and exact_sum(amounts)}


async def tell(tx: Tx, core: Core, request: Request, rows: Sequence[LedgerEntry]) -> None:
    """People of these rows of one request, for which nothing was sent from here. Their debits count towards the limits,
    and they are reported here; in safe mode its alert lists them with what has no request."""
    usd = -exact_sum(entry.amount_usd for entry in rows)
    if request.state in UNSENT | {State.EXECUTING}:
        changes = planning.doubts(request, tx.now, of_a_copy=False)
        request = await requests.touch(tx, request, **changes)
        await audit.of_request(tx, core, request, "system:poller", open_requests.DOUBTED)
    elif not (request.outcome or {}).get(DEBITED):
        # What its message says is not true any more.
        text, facts = said_debited(request, usd), {DEBITED: str(usd)}
        request = await requests.touch(
            tx, request, outcome_text=text, outcome={**(request.outcome or {}), **facts}
        )
        # It changes nothing of what was decided, so the entry tells of no state.
        subject = f"request:{request.id}:{request.version}"
        body = {**facts, **audit.ended(tx, request)}
        await audit.record(tx, core, "system:poller", "request.debited", subject, body)
        await outbox_messages.card(tx, core, request)
        await outbox_messages.line(tx, core, request, "debited")
        await outbox_messages.tell_requester(tx, core, request, "", is_loud=True)
        await batch_rows.row_changed(tx, core, request)
    listed_at = tx.now if await safe_mode.current(tx) is None else None  # its alert lists them, too
    await safe_mode.add_orphans(
        tx, [orphan(request.program, e, found_at=tx.now, listed_at=listed_at) for e in rows]
    )
    said = float_alerts.unsent(
        request.program,
        [in_a_line(entry) for entry in rows],
        usd,
        request=f"{request.id} ({request.summary})",
        state=request.state.value,
    )
    condition = float_alerts.UNEXPLAINED.condition(request.program, "unsent", request.id)
    await alerts.raise_(tx, core, said, condition=condition, subject=request.id, program=request.program)


def orphan(
    program: str, entry: LedgerEntry, *, found_at: datetime, listed_at: datetime | None
) -> OrphanDebit:
    """As it is kept. `listed_at`: since when people can read of it."""
    return OrphanDebit(
        program,
        entry.reference or "",
        entry.amount_usd,
        entry.kind,
        entry.card_id,
        entry.created_at,
        found_at,
        listed_at,
    )


def in_a_line(entry: LedgerEntry) -> str:
    """A row of the ledger as alerts show it."""
    card = f", card {entry.card_id}" if entry.card_id else ""
    at = f"{entry.created_at:%Y-%m-%d %H:%M:%S} UTC"
    return f"{at}: {format_usd(entry.amount_usd)}, {entry.kind}, {entry.reference or 'no reference'}{card}"
