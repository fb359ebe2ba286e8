"""One look at something slow and rationed, shared by all processes on one database.

As `bot.services.shared_look`, which shares it within one process. A look is made by whichever process needs one first;
the others wait for it, and take it as long as it is young enough for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.domain.time import Clock
from storage.operators import leases, shared_looks
from storage.store import Store
from storage.transaction import Tx

# Whoever dies or stands still in the middle of a look is waited for so long.
_LOOKS_FOR = timedelta(seconds=5)
_AGAIN_S = 0.1
# Whoever turns back the clock of the database makes nothing older count: by more than this it may not differ from ours.
_CLOCKS_DIFFER_S = 60.0


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen, and how many seconds ago that look began."""

    value: Any
    ago_s: float


class StoredLooks:
    """The looks of this process and of the others. One in a process."""

    def __init__(self, store: Store, owner: str, clock: Clock) -> None:
        self._store = store
        self._owner = owner
        self._clock = clock
        self._turn = asyncio.Lock()

    async def at(self, name: str, ask: Callable[[], Awaitable[Any]], *, within_s: float) -> Seen:
        """What `ask` answered in any process to a look begun less than `within_s` ago, or answers now.

        The answer is plain JSON. Raises what `ask` raised here, and what the database raised.
        """
        async with self._turn:
            while True:
                async with self._store.read() as tx:
                    seen = await self._seen(tx, name, within_s)
                if seen is not None:
                    return seen
                began_at = await self._my_turn(name, within_s)
                if began_at is not None:
                    return await self._look(name, ask, began_at)
                await self._clock.sleep(_AGAIN_S)

    async def _seen(self, tx: Tx, name: str, within_s: float) -> Seen | None:
        look = await shared_looks.get(tx, name)
        if look is None:
            return None
        ago_s = (await self._now(tx) - look.began_at).total_seconds()
        ours_s = abs((self._clock.now() - look.began_at).total_seconds())
        is_young = 0 <= ago_s < within_s and ours_s < within_s + _CLOCKS_DIFFER_S
        return Seen(look.value, ago_s) if is_young else None

    async def _my_turn(self, name: str, within_s: float) -> datetime | None:
        """When our look begins; None while another process looks, or has just done so."""
        async with self._store.begin() as tx:
            taken = await leases.take(
                tx, [_lock(name)], self._owner, lasts=_LOOKS_FOR, ghosts=self._store.ghosts
            )
            if not taken:
                return None
            if await self._seen(tx, name, within_s) is None:
                return await self._now(tx)
            await leases.give_back(tx, [_lock(name)], self._owner)
            return None

    async def _look(self, name: str, ask: Callable[[], Awaitable[Any]], began_at: datetime) -> Seen:
        asked_s = self._clock.monotonic()
        try:
            value = await ask()
        except BaseException:
            async with self._store.begin() as tx:
                await leases.give_back(tx, [_lock(name)], self._owner)
            raise
        async with self._store.begin() as tx:
            await shared_looks.put(tx, name, value, began_at)
            await leases.give_back(tx, [_lock(name)], self._owner)
        return Seen(value, self._clock.monotonic() - asked_s)

    async def _now(self, tx: Tx) -> datetime:
        """One clock for all processes."""
        return await shared_looks.now(tx)


def _lock(name: str) -> str:
    return f"look:{name}"
