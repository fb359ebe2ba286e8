"""Notifies people of rows that cannot be read. What can be read again elsewhere is taken out, so that it is.

That such a row was met is in the memory of the process that met it; nothing was done with it then.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from bot.domain.alerts import Said, running_alerts
from bot.services import alerts
from bot.services.core import Core
from storage import tables
from storage.messages import Alert
from storage.messages import alerts as alert_rows
from storage.protection import unreadable_rows
from storage.store import Store
from storage.transaction import Tx

log = logging.getLogger("countersign.unreadable")

_KIND = running_alerts.UNREADABLE_ROW
#: What a copy is of, for people, by its table; its name where people would not know it either way.
COPIES_IN_WORDS = {
    "reading": "what was read from the card provider last",
    "reading_history": "how the float was over time",
    "card": "the directory of cards",
    "card_word": "the words by which cards are found",
    "card_count": "how many cards there are",
    "card_sync": "when the cards were read last",
    "cursor": "up to where events were read",
    "purchase": "purchases",
    "purchase_event": "what happened to purchases",
    "person": "names of people",
    "person_role": "who is in which group",
    "home_view": "who has opened Home",
    "dialog": "what somebody was typing",
    "unread_text": "texts that nobody understood",
    "rate_minute": "calls of the last minute",
    "replica": "which processes run",
    "lease": "which process does what",
    "held_endpoint": "what an API key may not do",
    "message": "where messages are in Slack",
    "draft": "a form that was not submitted",
}


async def tell(core: Core) -> None:
    """One alert for each row that this process has met since; it ends when the row can be read, or is gone."""
    noted = dict(core.store.unreadable)
    for table in sorted({table for table, _ in noted} & unreadable_rows.COPIES):
        rows = [row for its, row in noted if its == table]
        await _drop(core, table, rows)
        for row in rows:
            core.store.unreadable.pop((table, row), None)
    for (table, row), column in noted.items():
        if table not in unreadable_rows.COPIES:
            async with core.store.begin() as tx:
                tx.reports_loss = table == tables.audit.name
                await alerts.keep(
                    tx,
                    core,
                    _said(table, row, column),
                    condition=_KIND.condition(table, row),
                    subject=row if table == tables.request.name else table,
                    program="",
                )
            core.store.unreadable.pop((table, row), None)
    async with core.store.read() as tx:
        with tx.leaving_out():
            open_ones = await alert_rows.open_of(tx, _KIND.name)
        over = [one for one in open_ones if not await _is_so(tx, one)]
    for one in over:
        async with core.store.begin() as tx:
            await alerts.resolve(tx, core, one.dedupe)


async def _is_so(tx: Tx, alert: Alert) -> bool:
    _, table, row = alert.dedupe.split(":", 2)
    return await unreadable_rows.still_unreadable(tx, table, row)


def _said(table: str, row: str, column: str) -> Said:
    if table == tables.request.name and row != "?":
        return _KIND.says("request", row=row, column=column)
    return _KIND.says("row", table=table, row=row if row != "?" else "whose key can't be read", column=column)


async def _drop(core: Core, table: str, noted: Sequence[str]) -> None:
    if rows := await drop_copies(core.store, table, noted):
        await tell_dropped(core, table, rows)


async def tell_dropped(core: Core, table: str, rows: Sequence[str]) -> None:
    """To people: these rows of a table of copies were taken out."""
    async with core.store.begin() as tx:
        said = running_alerts.COPY_DROPPED.says(
            what=COPIES_IN_WORDS[table], table=table, rows=f"{len(rows):,} row{'s' * (len(rows) > 1)}"
        )
        condition = running_alerts.COPY_DROPPED.condition(table)
        await alerts.tell(tx, core, said, condition=condition, subject=table, program="")


async def drop_copies(store: Store, table: str, noted: Sequence[str]) -> list[str]:
    """Take out what cannot be read of a table of copies, and these rows of it; returns the keys. It is logged; whoever
    has a core tells."""
    async with store.begin() as tx:
        rows = await unreadable_rows.take_out(tx, table, noted)
    if rows:
        log.warning("storage.copies_dropped", extra={"table": table, "rows": rows[:20]})
    return rows
