"""Time that a test moves forward, shared by the world outside and a bot in another process.

The offset lies in a small file that both map into memory: real time goes on as always, and a leap is
seen by both at once. Nothing really waits for a retry that is due in ten minutes.
"""

import asyncio
import logging
import mmap
import struct
import time
from collections.abc import Awaitable, Callable, Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

_FORMAT = struct.Struct("d")
_LOOK_EVERY_S = 0.02


class Leaps:
    """How many seconds time is ahead of the machine's."""

    def __init__(self, path: Path) -> None:
        """Map the file, made with an offset of zero if it is not there."""
        if not path.exists():
            path.write_bytes(_FORMAT.pack(0.0))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _FORMAT.size)

    @property
    def offset_s(self) -> float:
        return float(_FORMAT.unpack_from(self._map)[0])

    def add(self, seconds: float) -> None:
        _FORMAT.pack_into(self._map, 0, self.offset_s + seconds)


class LeapingClock:
    """A `bot.domain.time.clock.Clock`: the machine's time and the leaps; whoever sleeps wakes after a leap."""

    def __init__(self, leaps: Leaps) -> None:
        self._leaps = leaps

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self._leaps.offset_s)

    def monotonic(self) -> float:
        return time.monotonic() + self._leaps.offset_s

    async def sleep(self, seconds: float) -> None:
        until = self.monotonic() + seconds
        await asyncio.sleep(0)
        while (left := until - self.monotonic()) > 0:
            await asyncio.sleep(min(left, _LOOK_EVERY_S))


class LeapingTimers:
    """A `bot.startup.RunsJobs` on this time: jobs come round with the leaps, those of `JOBS` only, and not too often.

    A leap of seconds every few milliseconds would make a flood of them, and of the others, which read the API.
    """

    JOBS = ("expire", "probe-paused", "late-landings", "messages", "consents")
    NOT_SOONER_S = 60.0

    def __init__(self, clock: LeapingClock, jobs: Collection[str] = ()) -> None:
        """`jobs`: what else comes round."""
        self._clock = clock
        self._names = {*self.JOBS, *jobs}
        self._jobs: dict[str, tuple[float, Callable[[], Awaitable[None]]]] = {}
        self._tasks: list[asyncio.Task[None]] = []

    def every(self, name: str, seconds: float, job: Callable[[], Awaitable[None]]) -> None:
        if name in self._names:
            self._jobs[name] = (max(seconds, self.NOT_SOONER_S), job)

    def start(self) -> None:
        self._tasks = [asyncio.create_task(self._run(name), name=name) for name in self._jobs]

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _run(self, name: str) -> None:
        seconds, job = self._jobs[name]
        while True:
            await self._clock.sleep(seconds)
            try:
                await job()
            except Exception:
                logging.getLogger("countersign.engine").exception("timer.failed", extra={"timer": name})
