"""The minute of a key, kept in the database for all processes that use it: a row that one of them holds at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.partner.ratelimit import Held
from storage.operators import rate_minutes
from storage.store import Store


class StoredMinute:
    """As `bot.partner.ratelimit.SharedMinute`, for the key with this prefix."""

    def __init__(self, store: Store, key_prefix: str) -> None:
        self._store = store
        self._key_prefix = key_prefix

    @asynccontextmanager
    async def held(self) -> AsyncIterator[Held]:
        """Raises what the database raises."""
        async with self._store.begin() as tx:
            held = Held(*await rate_minutes.held(tx, self._key_prefix))
            yield held
            await rate_minutes.keep(tx, self._key_prefix, held.stored)
