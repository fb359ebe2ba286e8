"""How long something lasted, in words: one unit, the one that fits."""

from __future__ import annotations

from datetime import timedelta

# The unit in seconds, its name, and from how many seconds on it fits.
_UNITS = ((86_400, "day", 172_800), (3_600, "hour", 5_400), (60, "minute", 90), (1, "second", 0))


def in_words(span: timedelta) -> str:
    """`45 seconds`, `12 minutes`, `3 hours`, `2 days`; a negative span is none."""
    seconds = max(0, round(span.total_seconds()))
    size, name, _ = next(unit for unit in _UNITS if seconds >= unit[2])
    number = round(seconds / size)
    return f"{number} {name}" if number == 1 else f"{number} {name}s"
