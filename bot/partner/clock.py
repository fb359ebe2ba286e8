"""What the client needs of time: a stopwatch and a pause. Any clock with these two will do."""

from typing import Protocol


class Clock(Protocol):
    """A clock that only ever measures and waits."""

    def monotonic(self) -> float:
        """Seconds from an arbitrary start that never go back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; zero or less only yields to the other tasks."""
        ...
