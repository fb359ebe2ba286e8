"""Waiting for what another task or process does: bounded, and where it does not come, saying what did not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, TypeVar, overload

T = TypeVar("T")


@overload
async def eventually(
    condition: Callable[[], Awaitable[T]], what: str, *, within_s: float = ..., every_s: float = ...
) -> T: ...


@overload
async def eventually(
    condition: Callable[[], T], what: str, *, within_s: float = ..., every_s: float = ...
) -> T: ...


async def eventually(
    condition: Callable[[], Any], what: str, *, within_s: float = 10, every_s: float = 0.02
) -> Any:
    """Ask until the answer is true, and return it. Raises AssertionError, naming `what` did not happen."""
    answer = None
    limit = asyncio.timeout(within_s)
    try:
        async with limit:
            while True:
                answer = condition()
                if isawaitable(answer):
                    answer = await answer
                if answer:
                    return answer
                await asyncio.sleep(every_s)
    except TimeoutError:
        if not limit.expired():
            raise  # the condition's own
        raise AssertionError(f"within {within_s:g} s it did not happen: {what} (last: {answer!r})") from None
