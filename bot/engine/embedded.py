"""The embedded carrier: a claim loop in the process, woken after commits and by a sweep every 2 s.

Losing every wake-up loses nothing: the sweep asks the database what is due.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

#: Names the ids that are due.
Due = Callable[[], Awaitable[list[str]]]
#: Does the work of one id.
Execute = Callable[[str], Awaitable[None]]

log = logging.getLogger("countersign.engine")

SWEEP_EVERY_S = 2.0
# Calls wait mostly for the API; the rate limit of 120 a minute is reached long before this is.
AT_ONCE = 8


class Embedded:
    """Runs `execute(id)` for every id that `due()` names, at most `AT_ONCE` together, each id once at a time."""

    def __init__(self, *, sweep_every_s: float = SWEEP_EVERY_S) -> None:
        self._sweep_every_s = sweep_every_s
        self._woken = asyncio.Event()
        self._running: dict[str, asyncio.Task[None]] = {}

    def wake(self, request_id: str) -> None:
        """Something became due; called after its commit. Which one, the database tells."""
        self._woken.set()

    async def run(self, due: Due, execute: Execute) -> None:
        """Until cancelled. A sweep that fails is logged and the next one tries again."""
        while True:
            self._woken.clear()
            try:
                await self._sweep(due, execute)
            except Exception:  # whatever broke this sweep (a busy database), the next one must come
                log.exception("engine.sweep_failed")
            # Not `wait_for`: in Python 3.11 it loses a cancellation that comes together with the wake-up.
            with suppress(TimeoutError):
                async with asyncio.timeout(self._sweep_every_s):
                    await self._woken.wait()

    async def _sweep(self, due: Due, execute: Execute) -> None:
        for request_id in await due():
            if len(self._running) >= AT_ONCE:
                return
            if request_id not in self._running:
                self._running[request_id] = asyncio.create_task(self._one(request_id, execute))

    async def _one(self, request_id: str, execute: Execute) -> None:
        try:
            await execute(request_id)
        except Exception:  # our bug or a lost database: the row stays due and is taken up again
            log.exception("engine.execution_failed", extra={"request": request_id})
        finally:
            self._running.pop(request_id, None)
            self._woken.set()

    async def drain(self, timeout_s: float) -> None:
        """Let what is running end; after `timeout_s` it is abandoned, and its attempt row tells the next start."""
        running = list(self._running.values())
        if not running:
            return
        _, late = await asyncio.wait(running, timeout=timeout_s)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
