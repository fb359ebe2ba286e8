"""A freeze of ours, as it explains declines: who froze the card, when, why, and until when it held.

Whoever buys with a card that was frozen for a reason may be who found or stole it, so no remedy for such a decline
takes the freeze back. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.domain.requests import Request

RIGHT: Final = "The stop was right. Don't unfreeze the card for it."


@dataclass(frozen=True, slots=True)
class Freeze:
    """From `since`, when it was first sent, to `until`, when a request here took it back; None = it holds."""

    request: Request
    since: datetime
    until: datetime | None = None

    @property
    def in_words(self) -> str:
        """Two sentences: `Frozen by Alice Moreau, 2026-11-22 at 08:41 UTC (R-Y6X4): “Lost phone”. …`"""
        asked = self.request
        reason = asked.reason.strip().rstrip(".")
        return (
            f"Frozen by {asked.requester_name}, {self.since:%Y-%m-%d} at {self.since:%H:%M} UTC ({asked.id}):"
            f" “{reason[:300]}”. {RIGHT}"
        )


def holding(freezes: Iterable[Freeze], at: datetime) -> Freeze | None:
    """The one that held at this time."""
    return next((f for f in freezes if f.since <= at and (f.until is None or at < f.until)), None)
