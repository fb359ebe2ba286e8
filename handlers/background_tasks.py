"""Work that goes on after Slack was answered: started, watched, and waited for at shutdown.

Slack gives three seconds for an answer, so whatever talks to Slack or to the API runs here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

log = logging.getLogger("countersign.handlers")


class AfterAck:
    """The tasks that are under way. One instance in a process."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` from now on. Its errors are its own to tell; what still gets out is logged."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("handlers.after_ack", exc_info=task.exception())

    async def drain(self, timeout_s: float) -> int:
        """Wait for what is under way; what takes longer is cancelled. Returns how many were cancelled."""
        if not self._tasks:
            return 0
        _, late = await asyncio.wait(set(self._tasks), timeout=timeout_s)
        for task in late:
            task.cancel()
        if late:
            await asyncio.gather(*late, return_exceptions=True)
        return len(late)
