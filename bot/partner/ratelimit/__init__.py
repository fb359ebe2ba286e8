"""One rolling-minute budget for everybody who uses a key, with shares kept for emergencies, people and money.

The card provider counts requests per key over a rolling minute, 120 unless `GET /me` says otherwise, and a
call over it waits a full minute [Limits; Errors]. So one `RateLimiter` belongs to one key. Background
reads may use 60 % of the minute; the rest is there when a person asks or money has to move. A tenth is
kept for what is urgent alone, so that a freeze goes out in a minute that everything else has used up; where
even that is gone, it waits a moment and goes all the same.
Other processes with the same key are seen through the X-RateLimit headers of the answers.
"""

from bot.partner.ratelimit.budget import (
    DEFAULT_PER_MINUTE,
    KEPT_SHARE_PERCENT,
    URGENT_WAITS_SECONDS,
    WINDOW_SECONDS,
    Lane,
    RollingBudget,
)
from bot.partner.ratelimit.limiter import Place, RateLimiter
from bot.partner.ratelimit.shared import Held, SharedMinute, SharedRateLimiter

__all__ = [
    "DEFAULT_PER_MINUTE",
    "KEPT_SHARE_PERCENT",
    "URGENT_WAITS_SECONDS",
    "WINDOW_SECONDS",
    "Held",
    "Lane",
    "Place",
    "RateLimiter",
    "RollingBudget",
    "SharedMinute",
    "SharedRateLimiter",
]
