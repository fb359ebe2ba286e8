"""A thread with an event loop, in which the synchronous client's calls run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


class Background:
    """Runs coroutines in a loop of its own. May be used from several threads; not from inside an event loop."""

    def __init__(self) -> None:
        self._closed = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="countersign-partner", daemon=True
        )
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What the coroutine returns. Raises what it raises; whoever is interrupted while waiting cancels it."""
        if self._closed:
            return asyncio.run(work)  # which refuses, as every call of a closed client
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def rows(self, work: AsyncIterator[T]) -> Iterator[T]:
        """The rows one by one, each page read when it is needed."""
        try:
            while True:
                try:
                    yield self.run(_next(work))
                except StopAsyncIteration:
                    return
        finally:
            close = getattr(work, "aclose", None)
            if close is not None:
                self.run(close())

    def close(self) -> None:
        """Stop the loop and its thread; once more does nothing."""
        if self._closed:
            return
        self._closed = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _next(work: AsyncIterator[T]) -> T:
    return await anext(work)
