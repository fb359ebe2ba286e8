"""How fast messages go, and how long a channel rests after trouble: in memory, for one process.
Of several processes one at a time sends in a channel; how many edits were made they share through the database.

A lane is a channel's posts, or its edits: Slack limits the two apart, so neither waits for the other. What closes a
lane is usually wider than the lane: the whole channel, or the token. So what Slack takes in one lane opens the others
that were closed for the same thing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from bot.domain.time import Clock
from storage.messages import Due

# Seconds. Never longer than two minutes, so that what waited for Slack arrives soon after Slack is back.
BACKOFF_S = (1.0, 2.0, 5.0, 15.0, 30.0, 60.0, 120.0)
# Of the fifty edits a minute that Slack takes; from how many on they are drawn together, and for how many seconds.
MOST_EDITS = 48
KEPT_FOR_ALERTS = 6
MANY_EDITS = 15
DRAWN_TOGETHER_S = 5.0
# Of so many lanes it is kept when they may be used next, and forgotten of those that may.
MOST_LANES = 1_000
# A success elsewhere opens a lane that was closed for so long, in seconds: one that stays in trouble, while others
# work, is then tried this often and no more.
OPENED_AFTER_S = 5.0


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


@dataclass(slots=True)
class _Closed:
    """A lane in trouble: since when, until when it rests, how wide the trouble is, and which rows wait for its end."""

    at: float
    until: float
    everywhere: bool
    rows: set[int] = field(default_factory=set)


class Edits:
    """How many edits were made in the last minute: Slack takes some fifty a minute of all channels together
    [chat.update].

    Where there are many, each waits a little, so that what changes several times within seconds is drawn once.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._made: deque[float] = deque()

    def may_go(self, kind: str) -> bool:
        """May one more be made now? The last few of a minute are kept for alerts."""
        return self._count() < (MOST_EDITS if kind == "alert" else MOST_EDITS - KEPT_FOR_ALERTS)

    @property
    def are_many(self) -> bool:
        return self._count() >= MANY_EDITS

    def made(self) -> None:
        """One is made now."""
        self._made.append(self._clock.monotonic())

    def learn(self, seconds_ago: Iterable[float]) -> None:
        """What all processes made, each so many seconds ago, in place of what this one knew."""
        now = self._clock.monotonic()
        self._made = deque(sorted(now - ago for ago in seconds_ago))

    def _count(self) -> int:
        before = self._clock.monotonic() - 60
        while self._made and self._made[0] <= before:
            self._made.popleft()
        return len(self._made)


class Lanes:
    """When each lane may be used next."""

    def __init__(self, clock: Clock, *, spacing_s: float) -> None:
        self._clock = clock
        self._spacing_s = spacing_s
        self.edits = Edits(clock)
        self._free_at: dict[Lane, float] = {}
        self._failures: dict[Lane, int] = {}
        self._closed: dict[Lane, _Closed] = {}

    def is_free(self, lane: Lane) -> bool:
        """May something be sent in it now?"""
        now = self._clock.monotonic()
        closed = self._closed.get(lane)
        return now >= self._free_at.get(lane, now) and (closed is None or now >= closed.until)

    def posts(self, lane: Lane) -> None:
        """A post begins: the next one waits its turn."""
        self.rest(lane, self._spacing_s)

    def rest(self, lane: Lane, seconds: float) -> None:
        """Nothing is sent in it for so long, or for longer where that was said before."""
        now = self._clock.monotonic()
        if len(self._free_at) >= MOST_LANES:
            self._free_at = {one: at for one, at in self._free_at.items() if at > now}
        until = now + seconds
        self._free_at[lane] = max(until, self._free_at.get(lane, until))

    def failed(self, lane: Lane, row_id: int, *, everywhere: bool = False) -> float:
        """Its channel, or all of Slack (`everywhere`), did not take this row: let the lane rest, each time longer.

        Returns how long, in seconds.
        """
        seconds = pause_s(self._failures.get(lane, 0))
        self._failures[lane] = self._failures.get(lane, 0) + 1
        now = self._clock.monotonic()
        waited = self._closed[lane].rows if lane in self._closed else set()
        self._closed[lane] = _Closed(now, now + seconds, everywhere, waited | {row_id})
        return seconds

    def worked(self, lane: Lane) -> frozenset[int]:
        """Slack took something: opens this lane, and those closed for what this shows to be over.

        Returns the rows that waited for it.
        """
        self._failures.pop(lane, None)
        before = self._clock.monotonic() - OPENED_AFTER_S
        opened = [
            other
            for other, closed in self._closed.items()
            if other == lane or ((closed.everywhere or other.channel == lane.channel) and closed.at <= before)
        ]
        return frozenset().union(*[self._closed.pop(one).rows for one in opened])

    def open_all(self) -> None:
        """Slack has given access again: nothing rests any more but for its pace."""
        self._closed.clear()
