"""Looks for rows that cannot be read, and notifies people of each.

This process goes on without them, as if they had been deleted: see `storage.set_aside`. Each process looks for itself.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from bot.domain.alerts import Said, running_alerts
from bot.domain.errors import CountersignError
from bot.domain.requests import UNSENT
from bot.services import alerts
from bot.services.core import Core
from storage import tables
from storage.log_record import on_record
from storage.messages import alerts as alert_rows
from storage.protection import unreadable_rows
from storage.set_aside import UnreadableRow
from storage.store import Store
from storage.transaction import Tx

log = logging.getLogger("countersign.unreadable")

ALONE = 5
"""So many rows have an alert each, what may be about money first; there is one for all the others."""
_NAMED = 3
_MANY = running_alerts.UNREADABLE_ROW.condition("many", "")
_OF_MONEY = frozenset({tables.request.name, tables.decision.name, tables.attempt.name})


class Look:
    """Through all tables but the audit log, some rows each time; what is suspected comes first."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._walk = unreadable_rows.Walk()

    async def run(self) -> None:
        """One alert for each row, or for all above `ALONE`, until it can be read again or is gone."""
        core = self._core
        found = await core.store.look_on(self._walk)
        rows = {_condition(row): row for row in [*found, *core.store.set_aside] if row.because is None}
        async with core.store.read() as tx:
            known = {one.dedupe for one in await alert_rows.open_of(tx, running_alerts.UNREADABLE_ROW.name)}
            alone = known - {_MANY}
            over = [condition for condition in sorted(alone - rows.keys()) if not await _is_so(tx, condition)]
        new = sorted(rows.keys() - alone, key=lambda condition: rows[condition].table not in _OF_MONEY)
        count = max(ALONE - len(alone) + len(over), 0)
        for condition in new[:count]:
            await _tell(core, condition, rows[condition])
        for condition in over:
            async with core.store.begin() as tx:
                await alerts.resolve(tx, core, condition)
        await _tell_of_others(core, [rows[condition] for condition in new[count:]], is_open=_MANY in known)


async def _tell_of_others(core: Core, rows: Sequence[UnreadableRow], *, is_open: bool) -> None:
    if not rows and not is_open:
        return
    async with core.store.begin() as tx:
        if not rows:
            await alerts.resolve(tx, core, _MANY)
            return
        named = "; ".join(f"{row.table}, {row.row}" for row in rows[:_NAMED])
        said = running_alerts.UNREADABLE_ROW.says("many", count=len(rows), named=named)
        await alerts.keep(tx, core, said, condition=_MANY, subject="database", program="")


async def leave_out_all(store: Store) -> list[UnreadableRow]:
    """After a start that failed: those that are new, of all tables."""
    async with store.read() as tx:
        found = await unreadable_rows.find_all(tx)
    for row in found:
        log.error("storage.row_unreadable", extra={"table": row.table, "row": row.row, "column": row.column})
    return store.leave_out(found)


async def _tell(core: Core, condition: str, row: UnreadableRow) -> None:
    log.error("storage.row_unreadable", extra={"table": row.table, "row": row.row, "column": row.column})
    async with core.store.begin() as tx:
        said = await _said(tx, row)
        subject = row.about or row.table
        await alerts.keep(tx, core, said, condition=condition, subject=subject, program="")


async def _said(tx: Tx, row: UnreadableRow) -> Said:
    case, about = "row", ""
    if row.table in unreadable_rows.NEVER_SET_ASIDE:
        case = "needed"
    elif row.table == tables.pause.name:
        case = "pause"
    elif row.table in _OF_MONEY:
        case, about = await _what_was_sent(tx, row.about), row.about or "a request"
    return running_alerts.UNREADABLE_ROW.says(
        case, table=row.table, row=row.row, column=row.column, request=about
    )


async def _what_was_sent(tx: Tx, request_id: str) -> str:
    """What the audit log says of it, as nothing else can be believed."""
    try:
        known = (await on_record.of(tx)).open.get(request_id)
    except CountersignError:
        return "sent"
    if known is None:
        return "over"
    return "unsent" if known.state in UNSENT and not known.calls else "sent"


def _condition(row: UnreadableRow) -> str:
    return running_alerts.UNREADABLE_ROW.condition(row.table, _written(row.key))


def _written(key: Iterable[bytes | str | None]) -> str:
    """A key as a word, from which it can be read again."""
    return ".".join("-" if part is None else _bytes(part).hex() for part in key)


def _bytes(part: bytes | str) -> bytes:
    return part if isinstance(part, bytes) else part.encode()


async def _is_so(tx: Tx, condition: str) -> bool:
    _, table, written = condition.split(":", 2)
    key = (None if part == "-" else bytes.fromhex(part) for part in written.split("."))
    as_kept = tuple(part.decode() if part is not None and tx.is_postgres else part for part in key)
    return await unreadable_rows.is_still_so(tx, UnreadableRow(table, "", as_kept))
