"""What this process may do of the work that one process at a time does.

Each channel, each program and each job has a lock of its own: a lease in the database, which whoever holds it renews.
Any number of processes share the work so; when one stops, by whatever end, others take up each part of it as soon as
its lease has run out. For a moment two may believe that they hold the same (one was paused longer than its lease): the
database's own rules then keep a message from being sent twice and a condition from being reported twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from bot.domain.time import Clock
from storage.operators import leases
from storage.store import Store

log = logging.getLogger("countersign.processes")

# After a death others go on within ten seconds: when this is over, and it was asked for again.
LEASE = timedelta(seconds=7)
# So often within a lease, so that a database that is slow for a moment changes nothing.
_RENEWALS = 4
# What nobody has asked about for so long, in seconds, is given back.
_IDLE_S = 60.0
# A database that stands still is not waited for at the end: what is held runs out by itself.
_RESIGNS_WITHIN_S = 1.0


@dataclass(slots=True)
class _Lock:
    """When somebody wanted it last, when it was asked for, and until when it is ours; in seconds, monotonic."""

    wanted_at: float
    asked_at: float = float("-inf")
    until: float = float("-inf")


class Locks:
    """The locks of this process. One in a process; `run` until cancelled."""

    def __init__(
        self,
        store: Store,
        owner: str,
        clock: Clock,
        *,
        lease: timedelta = LEASE,
        when_gained: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._owner = owner
        self._clock = clock
        self.lease = lease
        self.when_gained = when_gained
        """Called when a lock was taken that this process did not hold."""
        self._locks: dict[str, _Lock] = {}
        self._is_new = asyncio.Event()
        self._has_resigned = False
        self._asks = asyncio.Lock()

    def holds(self, name: str) -> bool:
        """May this process do it now, as far as it can know? Where not, it is asked for from now on."""
        if self._has_resigned:
            return False
        now = self._clock.monotonic()
        lock = self._locks.get(name)
        if lock is None:
            self._locks[name] = _Lock(now)
            self._is_new.set()
            return False
        lock.wanted_at = max(lock.wanted_at, now)
        return now < lock.until

    def held(self) -> frozenset[str]:
        """The names of what this process may do now."""
        now = self._clock.monotonic()
        if self._has_resigned:
            return frozenset()
        return frozenset(name for name, lock in self._locks.items() if now < lock.until)

    async def keep(self, names: Collection[str]) -> None:
        """Ask for these now, and again and again for as long as this process runs. Raises what the database raised."""
        for name in names:
            self._locks.setdefault(name, _Lock(0)).wanted_at = float("inf")
        await self.ask()

    async def ask(self) -> None:
        """Take or renew what is wanted and due. Raises what the database raised."""
        async with self._asks:
            if not self._has_resigned:
                await self._give_back_idle()
                await self._ask_for(self._due())

    def _due(self) -> list[str]:
        """Not asked for within the time between two renewals."""
        before = self._clock.monotonic() - 0.9 * self._between_s
        return [name for name, lock in self._locks.items() if lock.asked_at <= before]

    async def _ask_for(self, names: list[str]) -> None:
        if not names:
            return
        held, asked_at = self.held(), self._clock.monotonic()
        async with self._store.begin() as tx:
            ours = await leases.take(tx, names, self._owner, lasts=self.lease, ghosts=self._store.ghosts)
        for name in names:
            lock = self._locks[name]
            lock.asked_at = asked_at
            # Counted from before the question, so that ours is over before the database's.
            lock.until = asked_at + self.lease.total_seconds() if name in ours else float("-inf")
        if gained := sorted(ours - held):
            log.info("locks.taken", extra={"owner": self._owner, "names": gained})
            self.when_gained()
        if lost := sorted((held & set(names)) - ours):
            log.info("locks.lost", extra={"owner": self._owner, "names": lost})

    async def _give_back_idle(self) -> None:
        before = self._clock.monotonic() - _IDLE_S
        idle = [name for name, lock in self._locks.items() if lock.wanted_at <= before]
        if not idle:
            return
        for name in idle:
            del self._locks[name]
        async with self._store.begin() as tx:
            await leases.give_back(tx, idle, self._owner)

    @property
    def _between_s(self) -> float:
        return self.lease.total_seconds() / _RENEWALS

    async def run(self) -> None:
        """Renew until cancelled. While the database does not answer, what is held runs out by itself."""
        while True:
            self._is_new.clear()
            try:
                await self.ask()
            except Exception:  # it is asked again in a moment, whatever it was
                log.exception("locks.not_asked")
            # Not `wait_for`: in Python 3.11 it loses a cancellation that comes together with the event.
            with suppress(TimeoutError):
                async with asyncio.timeout(self._between_s):
                    await self._is_new.wait()

    async def resign(self) -> None:
        """Let others take over at once, for good: this process ends."""
        if self._has_resigned:
            return
        self._has_resigned = True
        try:
            async with asyncio.timeout(_RESIGNS_WITHIN_S), self._asks, self._store.begin() as tx:
                await leases.give_back_all(tx, self._owner)
        except Exception:  # the end goes on without it
            log.exception("locks.not_given_back")
