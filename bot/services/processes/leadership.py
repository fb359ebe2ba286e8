"""One of several processes on one database watches, handles events and posts; the others stand by.

What is read on a cadence, counted and reported is so once, however many processes there are. Whoever
leads holds a lease in the database and renews it; when it stops, by whatever end, another takes over as
soon as the lease has run out. For a moment two may believe that they lead (one was paused longer than its
lease): the database's own rules then keep a condition from being reported twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta

from bot.domain.time import Clock
from storage.operators import leases
from storage.store import Store

log = logging.getLogger("countersign.leadership")

# After a death another leads within ten seconds: when this is over, and it was asked for again.
LEASE = timedelta(seconds=8)
_NAME = "watch"
# So often within a lease, so that a database that is slow for a moment changes nothing.
_RENEWALS = 4
# A database that stands still is not waited for at the end: what is held runs out by itself.
_RESIGNS_WITHIN_S = 1.0
_LOOK_EVERY_S = 0.5


class Leader:
    """Asks to lead, again and again. One in a process."""

    def __init__(self, store: Store, owner: str, clock: Clock, *, lease: timedelta = LEASE) -> None:
        self._store = store
        self._owner = owner
        self._clock = clock
        self._lease = lease
        self._until = float("-inf")
        self._has_resigned = False
        self._asks = asyncio.Lock()

    def leads(self) -> bool:
        """Does this process lead now, as far as it can know?"""
        return not self._has_resigned and self._clock.monotonic() < self._until

    async def ask(self) -> bool:
        """Take the lease or renew it; False while another has it, and once this process has resigned.

        Raises what the database raised.
        """
        async with self._asks:
            if self._has_resigned:
                return False
            return await self._ask()

    async def _ask(self) -> bool:
        led, asked_at = self.leads(), self._clock.monotonic()
        async with self._store.begin() as tx:
            held = await leases.take(tx, _NAME, self._owner, lasts=self._lease)
        # Counted from before the question, so that ours is over before the database's.
        self._until = asked_at + self._lease.total_seconds() if held else float("-inf")
        if held != led:
            log.info("leader.begins" if held else "leader.stands_by", extra={"owner": self._owner})
        return held

    async def run(self) -> None:
        """Renew until cancelled. While the database does not answer, what is held runs out by itself."""
        while True:
            try:
                await self.ask()
            except Exception:  # it is asked again in a moment, whatever it was
                log.exception("leader.not_asked")
            await asyncio.sleep(self._lease.total_seconds() / _RENEWALS)

    async def resign(self) -> None:
        """Let another take over at once, for good: this process ends."""
        if self._has_resigned:
            return
        self._has_resigned = True
        try:
            async with asyncio.timeout(_RESIGNS_WITHIN_S), self._asks, self._store.begin() as tx:
                await leases.give_back(tx, _NAME, self._owner)
        except Exception:  # the end goes on without it
            log.exception("leader.not_given_back")

    async def while_leading(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` whenever this process leads, and cancel it when it does no more. Until cancelled."""
        while True:
            if self.leads():
                await self._one_term(work)
            await asyncio.sleep(_LOOK_EVERY_S)

    async def _one_term(self, work: Callable[[], Awaitable[None]]) -> None:
        """Until the term ends, or the work does; its error is raised."""
        working = asyncio.ensure_future(work())
        try:
            while self.leads() and not working.done():
                await asyncio.wait({working}, timeout=_LOOK_EVERY_S)
            if working.done():
                await working
        finally:
            working.cancel()
            await asyncio.wait({working})
