"""A thread with an event loop of its own, in which the sandbox runs beside a test."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
__tracebackhide__ = True  # a failure points at the line of the test
PATIENCE_SECONDS = 30.0


class Background:
    """Runs coroutines in its own loop: `run` waits for the answer, `awaited` lets a test's own loop wait for it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="sandbox", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What the coroutine returns. Raises what it raises, and TimeoutError after half a minute."""
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_SECONDS)
        except (AssertionError, TypeError) as error:
            raise error.with_traceback(None) from None

    async def awaited(self, work: Coroutine[Any, Any, T]) -> T:
        """The same for a caller that has a loop of its own to keep running."""
        try:
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))
        except (AssertionError, TypeError) as error:
            raise error.with_traceback(None) from None

    def close(self) -> None:
        """Stop the loop and its thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_SECONDS)
        self._loop.close()


class Awaitables:
    """The methods of an object, each to be awaited from the caller's own loop."""

    def __init__(self, work: object, background: Background) -> None:
        self._work = work
        self._background = background

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._work, name)

        def call(*given: Any, **named: Any) -> Awaitable[Any]:
            return self._background.awaited(method(*given, **named))

        return call


async def until(look: Callable[[], T | None], within_seconds: float) -> T | None:
    """What `look` finds, looked for again and again; None when it found nothing in time."""
    ends = asyncio.get_running_loop().time() + within_seconds
    while True:
        found = look()
        if found or asyncio.get_running_loop().time() >= ends:
            return found
        await asyncio.sleep(0.01)
