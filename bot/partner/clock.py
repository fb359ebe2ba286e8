"""What the client needs of time: a stopwatch and a pause. Any clock with these two will do."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """A clock that only ever measures and waits."""

    def monotonic(self) -> float:
        """Seconds from an arbitrary start that never go back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; zero or less only yields to the other tasks."""
        ...


class MachineClock:
    """The machine's own: what a client measures and waits with when it is given no other."""

    def monotonic(self) -> float:
        """Seconds from an arbitrary start that never go back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Let other tasks run for `seconds`."""
        await asyncio.sleep(max(0.0, seconds))
