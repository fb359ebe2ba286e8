"""Lets callers through in turn, by the budget of one key, as one process keeps it in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from bot.partner.clock import Clock
from bot.partner.ratelimit.budget import DEFAULT_PER_MINUTE, URGENT_WAITS_SECONDS, Lane, RollingBudget


class Place:
    """A place in the minute's budget, for one request that goes out later: then nothing has to wait any more.

    Made by `RateLimiter.place`. It is used by one request, or given back, at the latest where its `with` ends.
    """

    def __init__(
        self, clock: Clock, budget: RollingBudget, changed: Callable[[float | None], None] | None = None
    ) -> None:
        """`changed` is called with how long after it was taken it is used, in seconds; None = it was given back."""
        self._clock = clock
        self._budget = budget
        self._changed = changed
        self._taken_at = clock.monotonic()
        self._free = True
        budget.take(self._taken_at)

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *_: object) -> None:
        self.give_back()

    def use(self) -> bool:
        """Its request goes out now. False when it was used or given back before."""
        was_free, self._free = self._free, False
        if was_free:
            now = self._clock.monotonic()
            self._budget.moved(self._taken_at, now)
            if self._changed is not None:
                self._changed(now - self._taken_at)
        return was_free

    def give_back(self) -> None:
        """Its request does not go out, so another may. Nothing where it did."""
        if self._free:
            self._free = False
            self._budget.give_back(self._taken_at)
            if self._changed is not None:
                self._changed(None)


class RateLimiter:
    """Lets callers through in turn: by lane, and in order within a lane. Nobody waits behind a later lane."""

    def __init__(self, clock: Clock, *, per_minute: int = DEFAULT_PER_MINUTE) -> None:
        self._clock = clock
        self._budget = RollingBudget(per_minute)
        self._turns = {lane: asyncio.Lock() for lane in Lane}
        self._waiting = dict.fromkeys(Lane, 0)

    @property
    def per_minute(self) -> int:
        """The limit in force, requests per rolling minute."""
        return self._budget.per_minute

    @property
    def left(self) -> int:
        """How many requests may go at once, those kept for emergencies included, as far as this process knows."""
        return self._budget.free(Lane.URGENT, self._clock.monotonic())

    async def acquire(self, lane: Lane) -> None:
        """Wait until one request of this lane may go out, and count it."""
        await self.place(lane)

    async def place(self, lane: Lane) -> Place:
        """Wait as `acquire` does; the request itself may follow a moment later, or never."""
        came_at = self._clock.monotonic()
        self._waiting[lane] += 1
        try:
            async with self._turns[lane]:
                return await self._take(lane, self._patience(lane, came_at))
        finally:
            self._waiting[lane] -= 1

    def set_limit(self, per_minute: int) -> None:
        """Use the key's own figure, from `GET /me` or an answer's headers."""
        self._budget.set_limit(per_minute)

    def block(self, seconds: float, lane: Lane | None = None) -> None:
        """A RATE_LIMITED answer came to a call of this lane, or of any: what should rest does for `seconds`.

        That is this lane and background work. People and emergencies are not held up by somebody else's call: where
        the minute is really used up they are refused themselves, which does nothing. An emergency never rests here.
        """
        self._budget.block(self._clock.monotonic() + seconds, self._blocked_with(lane))

    def observe(self, *, limit: int | None, remaining: int | None) -> None:
        """Take note of an answer's X-RateLimit headers, where it carried them."""
        if limit is not None:
            self._budget.set_limit(limit)
        if remaining is not None:
            self._budget.observe(remaining, self._clock.monotonic())

    @staticmethod
    def _blocked_with(lane: Lane | None) -> set[Lane]:
        return set(Lane) if lane is None else {lane, Lane.BACKGROUND} - {Lane.URGENT}

    def _patience(self, lane: Lane, came_at: float) -> float:
        """How much longer a request of this lane waits, in seconds; without end unless it is urgent."""
        if lane is not Lane.URGENT:
            return float("inf")
        now = self._clock.monotonic()
        return max(self._budget.blocked(lane, now), came_at + URGENT_WAITS_SECONDS - now)

    async def _take(self, lane: Lane, left: float) -> Place:
        """Wait for a place, for `left` seconds at most; then it is taken all the same."""
        while (seconds := min(self._wait(lane), left)) > 0:
            await self._clock.sleep(seconds)
            left -= seconds
        return Place(self._clock, self._budget)

    def _wait(self, lane: Lane) -> float:
        return self._budget.wait(lane, self._clock.monotonic(), self._ahead(lane))

    def _ahead(self, lane: Lane) -> int:
        """How many wait here that go before this lane."""
        return sum(waiting for other, waiting in self._waiting.items() if other < lane)
