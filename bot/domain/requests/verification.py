"""What `/requests verify` checked of one request, and what it found. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.domain.requests.lifecycle import Request


@dataclass(frozen=True, slots=True)
class Checked:
    """One thing that was checked: what it is, whether it holds, and what was compared."""

    what: str
    holds: bool
    found: str


@dataclass(frozen=True, slots=True)
class Verification:
    """All that was checked of a request, at `checked_at`."""

    request: Request
    checks: tuple[Checked, ...]
    checked_at: datetime

    @property
    def holds(self) -> bool:
        return all(check.holds for check in self.checks)
