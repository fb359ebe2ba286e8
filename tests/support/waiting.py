"""Waiting for what another task or process does: bounded, and where it does not come, saying what did not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, TypeVar, overload

T = TypeVar("T")


@overload
async def eventually(
    what: str, look: Callable[[], Awaitable[T]], *, within_s: float = ..., every_s: float = ...
) -> T: ...


@overload
async def eventually(
    what: str, look: Callable[[], T], *, within_s: float = ..., every_s: float = ...
) -> T: ...


async def eventually(
    what: str, look: Callable[[], Any], *, within_s: float = 10, every_s: float = 0.02
) -> Any:
    """Look again and again until the answer is true, and return it.

    Fails with `what` was waited for and what was seen last, also where a look itself hangs.
    """
    seen = None
    limit = asyncio.timeout(within_s)
    try:
        async with limit:
            while True:
                seen = look()
                if isawaitable(seen):
                    seen = await seen
                if seen:
                    return seen
                await asyncio.sleep(every_s)
    except TimeoutError:
        if not limit.expired():
            raise  # the look's own
        raise AssertionError(f"{what}: not within {within_s:g} s; seen last: {seen!r}") from None
