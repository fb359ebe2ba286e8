"""Events from the event log into the inbox, for those that no delivery brought.

The log holds every event, delivered or not [GET /events]. It is read from the newest event of the last
reading, less an overlap, on a cadence and at every start; what is known already changes nothing. The cursor
moves when a reading was stored whole, so one that breaks off is done again. It is a time of the card provider's
clock alone: ours may differ.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain import shared_work
from bot.partner.calls.pages import PAGE
from bot.partner.client import PartnerClient
from bot.partner.errors import PartnerError
from bot.partner.models import Event
from bot.services.core import Core
from bot.services.events.intake import Intake
from storage.events import cursors

log = logging.getLogger("countersign.backfill")

CURSOR = "events"
_EMPTY = ""  # the cursor of a log that had no event yet
# Events are listed by the time they were made and may become visible a little out of that order.
OVERLAP = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Found:
    """What one reading brought. `undelivered`: the card provider tried to deliver them and could not."""

    seen: int = 0
    new: int = 0
    undelivered: int = 0
    newest_at: datetime | None = None


class Backfill:
    """Reads the log of every program on a cadence. One in a process."""

    def __init__(self, core: Core, intake: Intake) -> None:
        self._core = core
        self._intake = intake

    async def run_once(self) -> None:
        """One reading of the log of each program that this process reads, side by side.

        An unreadable one is read from the same place next time.
        """
        partners = self._core.partners
        ours = [program for program in partners if self._core.holds(shared_work.reads(program))]
        await asyncio.gather(*(self._one(program, partners[program]) for program in ours))

    async def _one(self, program: str, client: PartnerClient) -> None:
        try:
            await self._read(program, client)
        except PartnerError as error:
            log.warning("backfill.not_read", extra={"program": program, "error": str(error)})

    async def _read(self, program: str, client: PartnerClient) -> None:
        async with self._core.store.read() as tx:
            kept = await cursors.get(tx, program, CURSOR)
        if kept is None:
            # The first reading ever begins at the end: what was before is for `countersign backfill`.
            found = Found(newest_at=await _newest(client))
        else:
            found = await self._since(program, client, datetime.fromisoformat(kept) if kept else None)
        if found.new:
            log.info("backfill.found", extra={"program": program, "seen": found.seen, "new": found.new})
        self._core.crash_point("backfill.read")
        async with self._core.store.begin() as tx:
            reached = found.newest_at.isoformat() if found.newest_at else kept or _EMPTY
            await cursors.put(tx, program, CURSOR, reached)

    async def _since(self, program: str, client: PartnerClient, reached: datetime | None) -> Found:
        since = None if reached is None else reached - OVERLAP
        found = await read_log(self._intake, program, client, since)
        if found.seen or since is None:
            return found
        # Not even the event that the cursor stands on: the log was emptied, or is another one.
        return await read_log(self._intake, program, client, None)


async def _newest(client: PartnerClient) -> datetime | None:
    """The time of the newest event; None when there is none."""
    newest = await anext(client.events(), None)
    return None if newest is None else newest.created_at


async def read_log(intake: Intake, program: str, client: PartnerClient, since: datetime | None) -> Found:
    """Store every event of the log since then, or all, page by page, the newest first. Raises PartnerError."""
    found, page = Found(), list[Event]()
    async for event in client.events(since=since):
        page.append(event)
        if len(page) == PAGE:
            found = await _store(intake, program, page, found)
            page = []
    return await _store(intake, program, page, found)


async def _store(intake: Intake, program: str, page: Sequence[Event], before: Found) -> Found:
    """A page at once, as its events share a commit."""
    new = await asyncio.gather(*(intake.accept(program, event, "poll") for event in page))
    times = [event.created_at for event in page]
    return Found(
        seen=before.seen + len(page),
        new=before.new + sum(new),
        undelivered=before.undelivered + sum(not event.delivered and event.attempts > 0 for event in page),
        newest_at=max([*times, *([before.newest_at] if before.newest_at else [])], default=None),
    )
