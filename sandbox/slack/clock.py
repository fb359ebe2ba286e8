"""The stand-in's own clock: real time, plus whatever a test has pushed it forward.

Triggers, response URLs, event retries and rate windows follow it. Acks do not: three seconds of
an app's time cannot be simulated by moving a clock it does not see.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

#: The first moment of the year 2200: a clock beyond the calendar could not say what time it is.
ENDS = datetime(2200, 1, 1, tzinfo=UTC).timestamp()


class Clock:
    """Seconds since the epoch from `source`, moved forward by `advance`."""

    def __init__(self, source: Callable[[], float]) -> None:
        self._source = source
        self._moved = asyncio.Event()
        self.offset_seconds = 0.0

    def now(self) -> float:
        """The time in seconds since the epoch."""
        return self._source() + self.offset_seconds

    def now_iso(self) -> str:
        """The time as people and the control API read it: ISO 8601, UTC, milliseconds."""
        return iso(self.now())

    def advance(self, seconds: float) -> None:
        """Move forward; whoever sleeps until a moment now past wakes. Raises ValueError, and nothing has moved."""
        if seconds < 0:
            raise ValueError("the clock only goes forward")
        self.move_to(self.offset_seconds + seconds)
        self._moved.set()
        self._moved = asyncio.Event()

    def move_to(self, offset_seconds: float) -> None:
        """Be so far ahead of the real time. Raises ValueError beyond 2199, and nothing has moved."""
        if not 0 <= offset_seconds < ENDS - self._source():  # no comparison holds for NaN
            raise ValueError("the clock runs from now to 2199")
        self.offset_seconds = float(offset_seconds)

    def reset(self) -> None:
        """Take back every move: it is the real time again."""
        self.offset_seconds = 0.0

    async def sleep_until(self, moment: float) -> None:
        """Wait until `moment` (seconds since the epoch) has come, by real time or by `advance`."""
        while (left := moment - self.now()) > 0:
            moved = self._moved
            try:
                await asyncio.wait_for(moved.wait(), left)
            except TimeoutError:
                continue


def iso(moment: float) -> str:
    """A moment as people and the control API read it: UTC, milliseconds."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
