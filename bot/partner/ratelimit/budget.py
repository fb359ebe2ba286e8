"""The pure part of a rate budget: who may go when, by what was sent in the minute before. Times are seconds."""

from __future__ import annotations

import math
from bisect import insort
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any

DEFAULT_PER_MINUTE = 120
KEPT_SHARE_PERCENT = 40
URGENT_SHARE_PERCENT = 10
# So long what is urgent waits for a place. Then it goes all the same: what other systems have sent with the key may
# be over at the card provider sooner than the headers say, and a refusal changes nothing.
URGENT_WAITS_SECONDS = 2.0

# Of a second: how exactly other processes know when something was sent.
_PARTS = 4

# Requests a minute apart when they leave can be closer together when they arrive.
WINDOW_SECONDS = 61.0


class Lane(IntEnum):
    """Who is waiting; a lower number goes first."""

    URGENT = 0
    MONEY = 1
    PEOPLE = 2
    BACKGROUND = 3


def as_stored(at: float) -> float:
    """The time as it is stored for others: the end of its quarter of a second."""
    return math.ceil(at * _PARTS) / _PARTS


class RollingBudget:
    """The pure part: what was sent when, and how long the next one has to wait. Times are seconds."""

    def __init__(self, per_minute: int = DEFAULT_PER_MINUTE) -> None:
        self._per_minute = per_minute
        self._sent: deque[float] = deque()
        self._blocked_until = dict.fromkeys(Lane, float("-inf"))

    @property
    def per_minute(self) -> int:
        """The limit in force."""
        return self._per_minute

    def set_limit(self, per_minute: int) -> None:
        """Take over the figure the card provider gives; below 1 would stop everything for good and is ignored."""
        if per_minute >= 1:
            self._per_minute = per_minute

    def block(self, until: float, lanes: Iterable[Lane] = Lane) -> None:
        """Nothing of these lanes goes out before `until`; an earlier time than one already set changes nothing."""
        for lane in lanes:
            self._blocked_until[lane] = max(self._blocked_until[lane], until)

    def observe(self, remaining: int, at: float) -> None:
        """The card provider says how much is left: count what others must have sent.

        Only ever makes us slower: with answers in flight we know of more requests than it had counted.
        """
        self._forget(at)
        for _ in range(self._per_minute - max(0, remaining) - len(self._sent)):
            insort(self._sent, at)

    def wait(self, lane: Lane, at: float, ahead: int = 0) -> float:
        """Seconds until a request of this lane may go, 0 for now, with `ahead` others going before it."""
        self._forget(at)
        blocked = self.blocked(lane, at)
        too_many = len(self._sent) + ahead + 1 - self.share(lane)
        if too_many <= 0:
            return blocked
        if too_many > len(self._sent):
            # Those ahead use up all that becomes free: it is their minute that has to pass.
            return max(blocked, WINDOW_SECONDS)
        return max(blocked, self._sent[too_many - 1] + WINDOW_SECONDS - at)

    def blocked(self, lane: Lane, at: float) -> float:
        """Seconds until this lane's block is over, 0 where it is not blocked."""
        return max(0.0, self._blocked_until[lane] - at)

    def free(self, lane: Lane, at: float) -> int:
        """How many requests of this lane may go at once."""
        self._forget(at)
        return 0 if self.blocked(lane, at) else max(0, self.share(lane) - len(self._sent))

    def take(self, at: float) -> None:
        """A request goes out at this time: now, or as long after it as it may be put off."""
        insort(self._sent, at)

    def give_back(self, taken_at: float) -> None:
        """The request of that moment does not go out after all."""
        if taken_at in self._sent:
            self._sent.remove(taken_at)

    def moved(self, taken_at: float, at: float) -> None:
        """The request that was counted at `taken_at` goes out now, and counts from now."""
        self.give_back(taken_at)
        insort(self._sent, at)

    def share(self, lane: Lane) -> int:
        """How many requests a minute may be of this lane, or of those before it."""
        if lane is Lane.BACKGROUND:
            return max(1, self._per_minute * (100 - KEPT_SHARE_PERCENT) // 100)
        kept = 0 if lane is Lane.URGENT else self._per_minute * URGENT_SHARE_PERCENT // 100
        return self._per_minute - kept

    def stored(self) -> dict[str, Any]:
        """What another process goes on from, as JSON can hold it: what was sent by quarters of a second."""
        return {
            "per_minute": self._per_minute,
            "sent": sorted(Counter(math.ceil(at * _PARTS) for at in self._sent).items()),
            "blocked": {
                lane.name: math.ceil(until * _PARTS)
                for lane, until in self._blocked_until.items()
                if until > 0
            },
        }

    @classmethod
    def of_stored(cls, stored: Mapping[str, Any]) -> RollingBudget:
        """As another process has stored it."""
        budget = cls(stored["per_minute"])
        for part, count in stored["sent"]:
            budget._sent.extend([part / _PARTS] * count)
        for name, until in stored["blocked"].items():
            budget.block(until / _PARTS, [Lane[name]])
        return budget

    def _forget(self, at: float) -> None:
        while self._sent and self._sent[0] + WINDOW_SECONDS <= at:
            self._sent.popleft()
