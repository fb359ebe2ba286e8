"""A thread with an event loop of its own, in which the sandbox runs beside a test."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

T = TypeVar("T")
__tracebackhide__ = True  # a failure points at the line of the test
PATIENCE_SECONDS = 30.0
AT_ONCE = 100  # so many can wait at a time, and somebody can still act


class Background:
    """Runs coroutines in its own loop: `run` waits for the answer, `awaited` lets a test's own loop wait for it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="sandbox", daemon=True)
        self._thread.start()
        self._waiting = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="sandbox-wait")

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What the coroutine returns. Raises what it raises, and TimeoutError after half a minute."""
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_SECONDS)
        except (AssertionError, TypeError) as error:
            raise error.with_traceback(None) from None

    async def awaited(self, method: Callable[..., T], *given: Any, **named: Any) -> T:
        """What a method that waits returns, for a caller that has a loop of its own to keep running."""
        return await asyncio.get_running_loop().run_in_executor(
            self._waiting, functools.partial(method, *given, **named)
        )

    def close(self) -> None:
        """Stop the loop and its thread."""
        self._waiting.shutdown(wait=False, cancel_futures=True)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_SECONDS)
        self._loop.close()


class Awaitables:
    """Everything public of an object: texts as they are, methods to be awaited from the caller's own loop."""

    def __init__(self, whole: object, background: Background) -> None:
        self._whole = whole
        self._background = background

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        part = getattr(self._whole, name)
        if isinstance(part, str):
            return part
        if inspect.ismethod(part):
            return functools.partial(self._background.awaited, part)
        return Awaitables(part, self._background)

    def __call__(self, *given: Any, **named: Any) -> Awaitable[Any]:
        """For an object that is called itself, such as `act`."""
        return self._background.awaited(cast(Callable[..., Any], self._whole), *given, **named)


async def until(look: Callable[[], T | None], within_seconds: float) -> T | None:
    """What `look` finds, looked for again and again; None when it found nothing in time."""
    ends = asyncio.get_running_loop().time() + within_seconds
    while True:
        found = look()
        if found or asyncio.get_running_loop().time() >= ends:
            return found
        await asyncio.sleep(0.01)
