"""How far the effect of a request is that goes on after the API took it, in words shown in place of `succeeded`.

A funding submission is taken at once and credited minutes, hours or days later, or never. Its state stays
`succeeded`, which limits, filters and metrics count by; what people read is the stage.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Stage(StrEnum):
    """Where the effect of a request that succeeded is now, in the words shown to people."""

    SUBMITTED = "submitted"
    IN_REVIEW = "in review"
    CREDITED = "credited"
    FUNDING_REJECTED = "funding rejected"
    TAKEN_BACK = "taken back"


UNWELCOME = frozenset({Stage.IN_REVIEW, Stage.FUNDING_REJECTED, Stage.TAKEN_BACK})
"""Stages that somebody should know of though no answer is awaited any more."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A stage, with the sentences that say what happened, whether money moved and what to do next."""

    stage: Stage
    text: str
