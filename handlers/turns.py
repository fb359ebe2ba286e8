"""Whose event or command is dispatched next: of each person one at a time, so that a hundred hold up nobody else.

Finding the listener of an event takes a millisecond or two. Where a hundred come at once, what another person does
comes after one of them and not after all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class _Line:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0


class EventTurns:
    """The people whose events are dispatched right now. One instance in a process."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}

    async def one_of_each_person(self, body: Mapping[str, Any], next_: Callable[[], Awaitable[Any]]) -> None:
        """Bolt's middleware, called with what it names. What is clicked or submitted waits for nothing."""
        typed = body.get("user_id") if "command" in body else None
        person = str((body.get("event") or {}).get("user") or typed or "")
        if not person:
            await next_()
            return
        line = self._lines.setdefault(person, _Line())
        line.waiting += 1
        try:
            async with line.lock:
                await next_()
        finally:
            line.waiting -= 1
            if not line.waiting:
                del self._lines[person]
