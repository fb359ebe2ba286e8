"""Where a request may have to wait in a random life: Slack, readings of the API, the rate budget, the call itself.

Each place does once what it was given to do meanwhile, while somebody waits there: then the world has moved on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import httpx

from bot.domain.time import Clock
from bot.partner.ratelimit import Lane, Place, RateLimiter
from tests.support.world import ScriptedDirectory

Act = Callable[[], Awaitable[None]]


class Once:
    """What happens the next time somebody comes by, and at no other time."""

    def __init__(self) -> None:
        self._act: Act | None = None

    def does(self, act: Act | None) -> None:
        self._act = act

    async def __call__(self) -> None:
        act, self._act = self._act, None
        if act is not None:
            await act()


class Budget(RateLimiter):
    """The minute's budget without a limit, as the clock stands still for long; what moves money may have to wait."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock, per_minute=10**6)
        self.meanwhile = Once()

    def block(self, seconds: float, lane: Lane | None = None) -> None:
        """A 429 came: go on all the same."""

    async def place(self, lane: Lane) -> Place:
        if lane in (Lane.MONEY, Lane.URGENT):
            await self.meanwhile()
        return await super().place(lane)


class SlowSlack(ScriptedDirectory):
    """Slack, which may take its time to say who is in the groups."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile = Once()

    async def each(self, lists: Sequence[Sequence[str]]) -> Sequence[frozenset[str]]:
        await self.meanwhile()
        return await super().each(lists)


class Line(httpx.AsyncBaseTransport):
    """The way to the API: it knows what left, keeps what was lost on it, and may let that arrive much later."""

    def __init__(self, departs: Callable[[httpx.Request], Awaitable[None]]) -> None:
        self._inner = httpx.AsyncHTTPTransport()
        self._departs = departs
        self.while_reading = Once()
        self.while_answered = Once()  # between the answer and whoever waits for it
        self.hangs: asyncio.Event | None = None  # until it is set no change but a freeze gets through
        self.lost: dict[str, httpx.Request] = {}  # by the key

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if request.method == "GET" or path.endswith("/balances"):
            await self.while_reading()
            return await self._inner.handle_async_request(request)
        await self._departs(request)
        if self.hangs is not None and not path.endswith("/freeze"):
            await self.hangs.wait()
        try:
            return await self._inner.handle_async_request(request)
        except httpx.HTTPError:
            key = request.headers.get("Idempotency-Key")
            if key:
                self.lost[key] = httpx.Request(
                    request.method, request.url, headers=request.headers, content=request.content
                )
            raise
        finally:
            await self.while_answered()

    async def arrive_late(self, key: str) -> None:
        """What was lost with this key gets through now, and nobody is notified of the answer."""
        async with httpx.AsyncClient(transport=httpx.AsyncHTTPTransport()) as client:
            with suppress(httpx.HTTPError):
                await client.send(self.lost[key])

    async def aclose(self) -> None:
        await self._inner.aclose()
