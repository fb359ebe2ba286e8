"""Times that a clock gave which somebody set since."""

from __future__ import annotations

from datetime import datetime


def was_before(at: datetime, other: datetime, now: datetime) -> bool:
    """Was it before `other`? One that is still to come is of a clock that has stepped back since, and was."""
    return at < other or at > now
