"""A clock that stands still until a test moves it."""

import asyncio
from datetime import UTC, datetime, timedelta


class FrozenClock:
    """A `bot.domain.time.clock.Clock`: sleeping moves it on at once, so nothing in a test really waits."""

    def __init__(self, now: datetime = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)) -> None:
        self._now = now
        self._monotonic = 1000.0

    def now(self) -> datetime:
        """The frozen moment, aware UTC."""
        return self._now

    def monotonic(self) -> float:
        """Seconds, moving together with `now`."""
        return self._monotonic

    async def sleep(self, seconds: float) -> None:
        """Move on by `seconds` and let other tasks run once."""
        self.advance(max(0.0, seconds))
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> None:
        """Move on by `seconds`."""
        self._now += timedelta(seconds=seconds)
        self._monotonic += seconds
