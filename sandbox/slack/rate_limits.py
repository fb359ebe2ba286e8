"""Rate limits: so many calls a minute by the method's tier, and one message a second into a channel.

Slack calls its figures "at least" and tolerates short bursts, without saying how short. Here a
method gets exactly its tier's figure in any sixty seconds, and a channel a small bucket.

Source: https://docs.slack.dev/apis/web-api/rate-limits
"""

from __future__ import annotations

import math
from collections import deque

from sandbox.slack.clock import Clock
from sandbox.slack.errors import SlackError

PER_MINUTE = {1: 1, 2: 20, 3: 50, 4: 100}
#: Methods with a tier of their own ("special") are bounded like the highest one, times six.
SPECIAL_PER_MINUTE = 600


class Rates:
    """Counts calls per method and posts per channel on the stand-in's clock."""

    def __init__(self, clock: Clock, posts_per_second: float, posts_burst: int) -> None:
        self._clock = clock
        self._posts_per_second = posts_per_second
        self._posts_burst = posts_burst
        self._calls: dict[str, deque[float]] = {}
        self._buckets: dict[str, tuple[float, float]] = {}

    def reset(self) -> None:
        """Forget every call and every post."""
        self._calls.clear()
        self._buckets.clear()

    def call(self, method: str, tier: int | None) -> None:
        """Count a call of a method; raises SlackError `ratelimited` with status 429."""
        allowed = SPECIAL_PER_MINUTE if tier is None else PER_MINUTE[tier]
        now = self._clock.now()
        recent = self._calls.setdefault(method, deque())
        while recent and recent[0] <= now - 60:
            recent.popleft()
        if len(recent) >= allowed:
            raise ratelimited(recent[0] + 60 - now)
        recent.append(now)

    def post(self, channel: str) -> None:
        """Count a message into a channel; raises SlackError `ratelimited` with status 429."""
        now = self._clock.now()
        tokens, at = self._buckets.get(channel, (float(self._posts_burst), now))
        tokens = min(self._posts_burst, tokens + (now - at) * self._posts_per_second)
        if tokens < 1:
            raise ratelimited((1 - tokens) / self._posts_per_second)
        self._buckets[channel] = (tokens - 1, now)


def ratelimited(seconds: float) -> SlackError:
    """Slack's answer over a limit; `Retry-After` is whole seconds, at least one."""
    wait = max(1, math.ceil(seconds))
    return SlackError("ratelimited", status=429, headers={"Retry-After": str(wait)})
