"""Bugs in what people can read: nothing, too often, or no more."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta
from typing import Any

from sqlalchemy import exists, select
from sqlalchemy.exc import OperationalError

from bot.services import alerts
from bot.services.messages import Outbox
from storage import audit
from storage import tables as t
from storage.messages import outbox
from tests.simulation.inline_sqlite import NO_ENTRY
from tests.simulation.planted.bug import Acts, Bug, peek_into, put

DROPPED_AFTER = 5


def _unresolved_untold(stack: ExitStack, acts: Acts) -> None:
    honest = alerts.raise_

    async def raise_(tx: Any, core: Any, said: Any, **more: Any) -> Any:
        if said.kind.name == "unresolved" and acts():
            return None
        return await honest(tx, core, said, **more)

    put(stack, alerts, "raise_", raise_)


def _no_read_back(stack: ExitStack, acts: Acts) -> None:
    honest = Outbox._heal_one

    async def heal_one(self: Outbox, row: Any) -> None:
        if not acts():
            await honest(self, row)
            return
        async with self._core.store.begin() as tx:
            await outbox.retry(tx, row.id, due_at=tx.now, error="not looked for")

    put(stack, Outbox, "_heal_one", heal_one)


def _sent_before_sending(stack: ExitStack, acts: Acts) -> None:
    """A message counts as sent from the moment it is taken up, so that nobody tries again."""
    honest = outbox.retry

    async def retry(tx: Any, row_id: int, **more: Any) -> None:
        if acts():
            await outbox.sent(tx, row_id)
        else:
            await honest(tx, row_id, **more)

    put(stack, outbox, "retry", retry)


def _dropped_after_five_refusals(stack: ExitStack, acts: Acts) -> None:
    """A Slack that refuses for two minutes has the message dropped."""
    honest = Outbox._after_trouble

    async def after_trouble(self: Outbox, row: Any, lane: Any, trouble: Any) -> None:
        if row.attempts >= DROPPED_AFTER and not trouble.maybe_sent and acts():
            await self._drop(row, str(trouble))
        else:
            await honest(self, row, lane, trouble)

    put(stack, Outbox, "_after_trouble", after_trouble)


def _lines_dropped_after_an_hour(stack: ExitStack, acts: Acts) -> None:
    """A line whose card is not up within an hour is dropped, although the card waits for the same outage."""
    honest = Outbox._start_due
    o, m = t.outbox.c, t.message.c
    waits = ~exists().where(m.subject == o.subject)

    async def start_due(self: Outbox) -> None:
        an_hour_ago = self._core.clock.now() - timedelta(hours=1)
        old = (o.kind == "line", o.state == "owed", o.created_at <= an_hour_ago, waits)
        late = peek_into(self._core.store, select(o.id).where(*old))
        if late and acts():
            async with self._core.store.begin() as tx:
                for row_id in late:
                    await outbox.drop(tx, row_id, "its card is not in Slack")
        await honest(self)

    put(stack, Outbox, "_start_due", start_due)


def _an_entry_missing(stack: ExitStack, acts: Acts) -> None:
    honest = audit.append

    async def append(tx: Any, **entry: Any) -> Any:
        if entry["action"] == "request.approval" and acts():
            return None
        return await honest(tx, **entry)

    put(stack, audit, "append", append)


def _goes_on_without_an_entry(stack: ExitStack, acts: Acts) -> None:
    """What the audit does not take is logged, and that is all."""
    honest = audit.append

    async def append(tx: Any, **entry: Any) -> Any:
        try:
            return await honest(tx, **entry)
        except OperationalError as error:
            if NO_ENTRY not in str(error) or not acts():
                raise
            return None

    put(stack, audit, "append", append)


BUGS = (
    Bug("unresolved without an alert", ("I-8 at once", "I-8 told"), _unresolved_untold),
    Bug("messages are not read back", ("I-9 doubled",), _no_read_back),
    Bug("marked as sent before sending", ("I-8 told", "no message is lost"), _sent_before_sending),
    Bug(
        "dropped after five refusals", ("I-8 told", "no message is lost"), _dropped_after_five_refusals, "D9"
    ),
    Bug("lines dropped after an hour", ("no message is lost",), _lines_dropped_after_an_hour, "D11"),
    Bug("an entry is missing", ("I-17 entries",), _an_entry_missing),
    Bug("goes on without an entry", ("I-17 entries",), _goes_on_without_an_entry),
)
