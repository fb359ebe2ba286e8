"""An event on its way through the use cases: what it says, whose it is, and how and when it reached us."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.partner.models import TypedEvent

# A delivery that succeeds at one of its first attempts is here by then; what comes later missed its moment.
LATE_AFTER = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class ReceivedEvent:
    """`source`: webhook or poll. The event of a challenge has its code only while memory still holds it."""

    program: str
    event: TypedEvent
    source: str
    received_at: datetime

    @property
    def is_late(self) -> bool:
        """It happened so long before we received it that whoever reads of it should know."""
        return self.received_at - self.event.created_at > LATE_AFTER
