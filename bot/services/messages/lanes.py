"""How fast messages go, and how long a channel rests after trouble: in memory, for one process.

A lane is a channel's posts, or its edits: Slack limits the two apart, so neither waits for the other.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.time import Clock
from storage.messages import Due

# Seconds. Never longer than two minutes, so that what waited for Slack arrives soon after Slack is back.
BACKOFF_S = (1.0, 2.0, 5.0, 15.0, 30.0, 60.0, 120.0)


def pause_s(failures: int) -> float:
    """How long to wait after so many failures before this one."""
    return BACKOFF_S[min(failures, len(BACKOFF_S) - 1)]


@dataclass(frozen=True, slots=True)
class Lane:
    """`channel`: its id, or `@` and the id of the person who gets a direct message."""

    channel: str
    edits: bool

    @classmethod
    def of(cls, due: Due) -> Lane:
        """The lane in which this message goes."""
        return cls(due.row.channel or f"@{due.row.user}", due.edits)


class Lanes:
    """When each lane may be used next."""

    def __init__(self, clock: Clock, *, spacing_s: float) -> None:
        self._clock = clock
        self._spacing_s = spacing_s
        self._free_at: dict[Lane, float] = {}
        self._failures: dict[Lane, int] = {}

    def is_free(self, lane: Lane) -> bool:
        """May something be sent in it now?"""
        return self._clock.monotonic() >= self._free_at.get(lane, float("-inf"))

    def posts(self, lane: Lane) -> None:
        """A post begins: the next one waits its turn."""
        self.rest(lane, self._spacing_s)

    def rest(self, lane: Lane, seconds: float) -> None:
        """Nothing is sent in it for so long, or for longer where that was said before."""
        until = self._clock.monotonic() + seconds
        self._free_at[lane] = max(until, self._free_at.get(lane, until))

    def failed(self, lane: Lane) -> float:
        """Its channel was in trouble: let it rest, each time longer; returns how long, in seconds."""
        seconds = pause_s(self._failures.get(lane, 0))
        self._failures[lane] = self._failures.get(lane, 0) + 1
        self.rest(lane, seconds)
        return seconds

    def worked(self, lane: Lane) -> None:
        """Slack took something."""
        self._failures.pop(lane, None)
