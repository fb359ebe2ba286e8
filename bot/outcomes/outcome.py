"""What became of one attempt: a finding, with the sentence people read and the facts kept with the request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from bot.outcomes.timing import RETRY_PAUSES
from bot.partner.answers import Finding
from bot.partner.secret import Secret


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finding with the sentence people read and the facts kept with the request.

    `text` says what happened, whether money moved and what to do next.
    """

    finding: Finding
    text: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    retry_after_s: float | None = None
    alarm: str = ""  # a top-severity alert is due, for this reason
    cause: str = ""  # what the API said, in words, without what follows from it
    pauses: tuple[timedelta, ...] = RETRY_PAUSES  # before each repeat while nobody knows
    secret: Secret | None = None  # given this once: sealed in the transaction that records the outcome
