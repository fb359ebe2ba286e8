"""What the metrics are made of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from bot.services.core import Core


@dataclass(frozen=True, slots=True)
class Sources:
    """What the metrics are made of. `slack_connected`: does the way by which Slack reaches this process stand? None
    where it answers nobody."""

    core: Core
    slack_connected: Callable[[], Awaitable[bool | None]]
    database: str
    """What the database is: `sqlite` or `postgresql`."""
    began_at: datetime
