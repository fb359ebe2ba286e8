"""Time as an argument: whoever needs the hour, a delay or a stopwatch is handed a `Clock`."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What the rest of the code knows of time. Tests pass one that they move by hand."""

    def now(self) -> datetime:
        """The wall clock as aware UTC. It may jump: never measure a duration with it."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary start that never go back: for windows, deadlines and durations."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; zero or less only yields to the other tasks."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The machine's wall clock, aware UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """The machine's monotonic clock, in seconds."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Let other tasks run for `seconds`."""
        await asyncio.sleep(max(0.0, seconds))
