"""Clocks that only a test moves. They differ in what sleeping does: see each."""

import asyncio
import heapq
import itertools
from datetime import UTC, datetime, timedelta

# Of `SteppedClock`: shorter sleeps are pauses inside one call.
_SHORT_S = 5.0


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

    def set_wrong(self, by_s: float) -> None:
        """The wall clock steps, as where somebody sets it; no time passes."""
        self._now += timedelta(seconds=by_s)


class SteppedClock(FrozenClock):
    """A clock that sleeping never moves: short sleeps end at once, longer ones when the test moved it so far."""

    async def sleep(self, seconds: float) -> None:
        until = self._monotonic + seconds
        await asyncio.sleep(0)
        while seconds >= _SHORT_S and self._monotonic < until:
            await asyncio.sleep(0.005)


class OtherClock(SteppedClock):
    """Of another machine: ahead of the first by so much."""

    def __init__(self, first: SteppedClock, fast_s: float) -> None:
        super().__init__()
        self._first, self._fast = first, timedelta(seconds=fast_s)

    def now(self) -> datetime:
        return self._first.now() + self._fast

    def monotonic(self) -> float:
        return self._first.monotonic()


class AlarmClock(FrozenClock):
    """A clock whose sleepers wake only when the test moves it, each at its time."""

    def __init__(self) -> None:
        super().__init__()
        self._sleepers: list[tuple[float, int, asyncio.Event]] = []
        self._number = itertools.count()

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.Event()
        heapq.heappush(self._sleepers, (self.monotonic() + seconds, next(self._number), woken))
        await woken.wait()

    async def run(self, seconds: float) -> None:
        """Move on by `seconds`, waking each sleeper at its time and letting it act."""
        until = self.monotonic() + seconds
        await self._settle()
        while self._sleepers and self._sleepers[0][0] <= until:
            at, _, woken = heapq.heappop(self._sleepers)
            self.advance(at - self.monotonic())
            woken.set()
            await self._settle()
        self.advance(until - self.monotonic())
        await self._settle()

    async def _settle(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)
