"""Time as an argument: the clock, the team's hours, periods as people name them."""

from bot.domain.time.business_hours import Hours
from bot.domain.time.clock import Clock, SystemClock
from bot.domain.time.clock_steps import CLOCKS_DIFFER, was_before
from bot.domain.time.durations import in_words
from bot.domain.time.periods import USAGE, Period

__all__ = [
    "CLOCKS_DIFFER",
    "USAGE",
    "Clock",
    "Hours",
    "Period",
    "SystemClock",
    "in_words",
    "periods",
    "was_before",
]
