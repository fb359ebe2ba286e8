"""The embedded carrier: a claim loop in the process, woken after commits and by a sweep every 2 s.

Losing every wake-up loses nothing: the sweep asks the database what is due. It never spins: it looks again when
somebody made something due, when work ended and more was waiting for its place, and every 2 s; and what was tried
and is still due rests a little longer each time.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

from bot.engine.carried import Due, Execute, Queue, Transaction
from bot.engine.rests import Rests

log = logging.getLogger("countersign.engine")

SWEEP_EVERY_S = 2.0


class Embedded:
    """Runs `execute(id)` for every id that `due` names, each id once at a time.

    Each queue has its own slots, so that one whose calls hang, or whose program is slow, holds up no other.
    """

    def __init__(self, *, sweep_every_s: float = SWEEP_EVERY_S) -> None:
        self._sweep_every_s = sweep_every_s
        self._woken = asyncio.Event()
        self._closed_at: float | None = None
        self._running: dict[str, asyncio.Task[None]] = {}
        self._busy: Counter[str] = Counter()  # slots in use, by queue
        self._full: set[str] = set()  # queues with more than fits in their slots
        self._rests = Rests()

    async def enqueue(self, tx: Transaction, request_id: str, _queue: str) -> None:
        """Carry it out once this transaction is durable. Its queue is found by the sweep."""
        tx.after_commit(lambda: self.wake(request_id))

    def wake(self, request_id: str = "") -> None:
        """Something became due; called after its commit. Which one, the database tells; "" where it is many."""
        self._rests.end(request_id)
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
        """Start what is due and neither runs nor rests, as far as each queue takes it."""
        resting = self._rests.resting()
        queues = await due({*resting, *self._running})
        named = {id_ for queue in queues for id_ in queue.ids}
        self._rests.keep_only({*named, *resting, *self._running})
        self._full.clear()
        for queue in queues:
            ready = (id_ for id_ in queue.ids if id_ not in self._running and id_ not in resting)
            self._start_all(queue, ready, execute)

    def _start_all(self, queue: Queue, ready: Iterable[str], execute: Execute) -> None:
        """In their order, until the queue is full: what is left comes with the next sweep."""
        for request_id in ready:
            if self._closed_at is not None or self._is_full(queue):
                self._full.add(queue.name)
                return
            self._start(queue.name, request_id, execute)

    def _is_full(self, queue: Queue) -> bool:
        return queue.at_once is not None and self._busy[queue.name] >= queue.at_once

    def _start(self, queue: str, request_id: str, execute: Execute) -> None:
        self._busy[queue] += 1
        self._running[request_id] = asyncio.create_task(self._one(queue, request_id, execute))

    async def _one(self, queue: str, request_id: str, execute: Execute) -> None:
        try:
            await execute(request_id)
        except Exception:  # our bug or a lost database: the row stays due and is taken up again
            log.exception("engine.execution_failed", extra={"request": request_id})
        finally:
            self._running.pop(request_id, None)
            self._busy[queue] -= 1
            self._rest(request_id)
            if queue in self._full:
                self._woken.set()

    def _rest(self, request_id: str) -> None:
        self._rests.tried(request_id)

    def close(self) -> None:
        """Take up nothing more. What runs goes on."""
        if self._closed_at is None:
            self._closed_at = asyncio.get_running_loop().time()

    async def drain(self, timeout_s: float) -> None:
        """Let what is running end, until `timeout_s` after the closing; what is then left is abandoned.

        Its attempt row tells the next start.
        """
        self.close()
        running = list(self._running.values())
        if not running:
            return
        passed_s = asyncio.get_running_loop().time() - (self._closed_at or 0)
        _, late = await asyncio.wait(running, timeout=max(0.0, timeout_s - passed_s))
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
