"""Waiting for what other tasks or processes do, for as long as it takes and no longer."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
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
    what: str, look: Callable[[], Any], *, within_s: float = 10.0, every_s: float = 0.02
) -> Any:
    """Look again and again until the answer is true, and return it.

    Fails with `what` was waited for and what was seen last: a bare time-out would tell neither.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + within_s
    while True:
        answer = look()
        seen = await answer if inspect.isawaitable(answer) else answer
        if seen:
            return seen
        if loop.time() > end:
            raise AssertionError(f"{what}: not within {within_s:g} s; seen last: {seen!r}")
        await asyncio.sleep(every_s)
