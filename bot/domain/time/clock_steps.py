"""Times that a clock gave which somebody set since."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

CLOCKS_DIFFER: Final = timedelta(minutes=2)
"""By less than this, clocks of machines that are kept right differ."""


def was_before(at: datetime, other: datetime, now: datetime) -> bool:
    """Was it before `other`? One that is still to come is of a clock that has stepped back since, and was; but for what
    another machine's clock may be ahead."""
    return at < other or at > now + CLOCKS_DIFFER
