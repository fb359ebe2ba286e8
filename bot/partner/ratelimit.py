"""One rolling-minute budget for everybody who uses a key, with shares kept for emergencies, people and money.

The card provider counts requests per key over a rolling minute, 120 unless `GET /me` says otherwise, and a
call over it waits a full minute [Limits; Errors]. So one `RateLimiter` belongs to one key. Background
reads may use 60 % of the minute; the rest is there when a person asks or money has to move. A tenth is
kept for what is urgent alone, so that a freeze goes out in a minute that everything else has used up; where
even that is gone, it waits a moment and goes all the same.
Other processes with the same key are seen through the X-RateLimit headers of the answers.
"""

from __future__ import annotations

import asyncio
from bisect import insort
from collections import deque
from collections.abc import Iterable
from enum import IntEnum

from bot.partner.clock import Clock

DEFAULT_PER_MINUTE = 120
KEPT_SHARE_PERCENT = 40
URGENT_SHARE_PERCENT = 10
# So long what is urgent waits for a place. Then it goes all the same: what other systems have sent with the key may
# be over at the card provider sooner than the headers say, and a refusal changes nothing.
URGENT_WAITS_SECONDS = 2.0

# Requests a minute apart when they leave can be closer together when they arrive.
WINDOW_SECONDS = 61.0


class Lane(IntEnum):
    """Who is waiting; a lower number goes first."""

    URGENT = 0
    MONEY = 1
    PEOPLE = 2
    BACKGROUND = 3


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
        unseen = self._per_minute - max(0, remaining) - len(self._sent)
        self._sent.extend(at for _ in range(unseen))

    def wait(self, lane: Lane, at: float, ahead: int = 0) -> float:
        """Seconds until a request of this lane may go, 0 for now, with `ahead` others going before it."""
        self._forget(at)
        blocked = self.blocked(lane, at)
        too_many = len(self._sent) + ahead + 1 - self._share(lane)
        if too_many <= 0:
            return blocked
        if too_many > len(self._sent):
            # Those ahead use up all that becomes free: it is their minute that has to pass.
            return max(blocked, WINDOW_SECONDS)
        return max(blocked, self._sent[too_many - 1] + WINDOW_SECONDS - at)

    def blocked(self, lane: Lane, at: float) -> float:
        """Seconds until this lane's block is over, 0 where it is not blocked."""
        return max(0.0, self._blocked_until[lane] - at)

    def left(self, at: float) -> int:
        """How many requests the minute before this moment leaves room for."""
        self._forget(at)
        return max(0, self._per_minute - len(self._sent))

    def take(self, at: float) -> None:
        """A request goes out now."""
        self._sent.append(at)

    def give_back(self, taken_at: float) -> None:
        """The request of that moment does not go out after all."""
        if taken_at in self._sent:
            self._sent.remove(taken_at)

    def moved(self, taken_at: float, at: float) -> None:
        """The request that was counted at `taken_at` goes out now, and counts from now."""
        self.give_back(taken_at)
        insort(self._sent, at)

    def _share(self, lane: Lane) -> int:
        if lane is Lane.BACKGROUND:
            return max(1, self._per_minute * (100 - KEPT_SHARE_PERCENT) // 100)
        kept = 0 if lane is Lane.URGENT else self._per_minute * URGENT_SHARE_PERCENT // 100
        return self._per_minute - kept

    def _forget(self, at: float) -> None:
        while self._sent and self._sent[0] + WINDOW_SECONDS <= at:
            self._sent.popleft()


class Place:
    """A place in the minute's budget, for one request that goes out later: then nothing has to wait any more.

    Made by `RateLimiter.place`. It is used by one request, or given back, at the latest where its `with` ends.
    """

    def __init__(self, clock: Clock, budget: RollingBudget) -> None:
        self._clock = clock
        self._budget = budget
        self._taken_at = clock.monotonic()
        self._free = True
        budget.take(self._taken_at)

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *_: object) -> None:
        self.give_back()

    def use(self) -> bool:
        """Its request goes out now. False when it was used or given back before."""
        was_free, self._free = self._free, False
        if was_free:
            self._budget.moved(self._taken_at, self._clock.monotonic())
        return was_free

    def give_back(self) -> None:
        """Its request does not go out, so another may. Nothing where it did."""
        if self._free:
            self._free = False
            self._budget.give_back(self._taken_at)


class RateLimiter:
    """Lets callers through in turn: by lane, and in order within a lane. Nobody waits behind a later lane."""

    def __init__(self, clock: Clock, *, per_minute: int = DEFAULT_PER_MINUTE) -> None:
        self._clock = clock
        self._budget = RollingBudget(per_minute)
        self._turns = {lane: asyncio.Lock() for lane in Lane}
        self._waiting = dict.fromkeys(Lane, 0)

    @property
    def per_minute(self) -> int:
        """The limit in force, requests per rolling minute."""
        return self._budget.per_minute

    @property
    def left(self) -> int:
        """How many requests the minute still has room for, those kept for emergencies included."""
        return self._budget.left(self._clock.monotonic())

    @property
    def waiting(self) -> int:
        """How many requests wait for their turn."""
        return sum(self._waiting.values())

    async def acquire(self, lane: Lane) -> None:
        """Wait until one request of this lane may go out, and count it."""
        await self.place(lane)

    async def place(self, lane: Lane) -> Place:
        """Wait as `acquire` does; the request itself may follow a moment later, or never."""
        came_at = self._clock.monotonic()
        self._waiting[lane] += 1
        try:
            async with self._turns[lane]:
                left = self._patience(lane, came_at)
                while (seconds := min(self._wait(lane), left)) > 0:
                    await self._clock.sleep(seconds)
                    left -= seconds
                return Place(self._clock, self._budget)
        finally:
            self._waiting[lane] -= 1

    def set_limit(self, per_minute: int) -> None:
        """Use the key's own figure, from `GET /me` or an answer's headers."""
        self._budget.set_limit(per_minute)

    def block(self, seconds: float, lane: Lane | None = None) -> None:
        """A RATE_LIMITED answer came to a call of this lane, or of any: what should rest does for `seconds`.

        That is this lane and background work. People and emergencies are not held up by somebody else's call: where
        the minute is really used up they are refused themselves, which does nothing. An emergency never rests here.
        """
        until = self._clock.monotonic() + seconds
        if lane is None:
            self._budget.block(until)
        else:
            self._budget.block(until, {lane, Lane.BACKGROUND} - {Lane.URGENT})

    def observe(self, *, limit: int | None, remaining: int | None) -> None:
        """Take note of an answer's X-RateLimit headers, where it carried them."""
        if limit is not None:
            self._budget.set_limit(limit)
        if remaining is not None:
            self._budget.observe(remaining, self._clock.monotonic())

    def _patience(self, lane: Lane, came_at: float) -> float:
        """How much longer a request of this lane waits, in seconds; without end unless it is urgent."""
        if lane is not Lane.URGENT:
            return float("inf")
        now = self._clock.monotonic()
        return max(self._budget.blocked(lane, now), came_at + URGENT_WAITS_SECONDS - now)

    def _wait(self, lane: Lane) -> float:
        ahead = sum(waiting for other, waiting in self._waiting.items() if other < lane)
        return self._budget.wait(lane, self._clock.monotonic(), ahead)
