"""The facts of a preview while the API cannot be read: for what would rather act blind than not at all.

Such a kind says so by `Handling.must_recheck`. It waits for a live reading a moment only; then the card is shown as
it was read last, with the age of that reading.
"""

from __future__ import annotations

import asyncio
from datetime import datetime

from bot.operations import Facts, Operation
from bot.partner.errors import PartnerError
from bot.services.core import Core
from storage.cards import cards

READ_WITHIN_S = 2.0
"""A reading that answers at all answers in a fraction of this; a person in an emergency waits no longer."""


async def facts_for_preview(core: Core, operation: Operation, program: str) -> Facts:
    """The facts read live; else, where the kind can do without, those last read. Raises PartnerError."""
    if operation.handling.must_recheck:
        return await operation.read(core.partners[program])
    try:
        async with asyncio.timeout(READ_WITHIN_S):
            return await operation.read(core.partners[program])
    except (PartnerError, TimeoutError):
        return await _last_read(core, operation)


async def _last_read(core: Core, operation: Operation) -> Facts:
    async with core.store.read() as tx:
        entry = await cards.get(tx, operation.subject)
        seen_at = await cards.seen_at(tx, operation.subject)
        return operation.facts_of_last_reading(entry, _reading(seen_at, tx.now) if seen_at else "")


def _reading(seen_at: datetime, now: datetime) -> str:
    """`2026-11-22 08:57 UTC, 12 min old`"""
    minutes = max(0, int((now - seen_at).total_seconds())) // 60
    age = f"{minutes} min" if minutes < 120 else f"{minutes // 60} h"
    return f"{seen_at:%Y-%m-%d %H:%M} UTC, {age} old"
