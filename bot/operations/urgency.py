"""What cannot wait, such as a freeze: whether a request of it has happened, and what people are told until then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache

from bot import operations
from bot.domain.requests import Request, State
from bot.operations._base import Operation
from bot.operations._handling import Urgency
from bot.outcomes import timing

_TO_COME = frozenset({State.APPROVED, State.EXECUTING, State.UNRESOLVED})


@cache
def _kinds() -> Mapping[str, type[Operation]]:
    return operations.kinds()


def urgency_of(kind: str) -> Urgency | None:
    """What a kind says of itself; None for one that can wait, or that this version does not know."""
    cls = _kinds().get(kind)
    return cls.handling.urgency if cls else None


def is_waiting(request: Request) -> bool:
    """Urgent, approved, and at least one try of it has failed: as far as anybody knows it has not happened.

    A batch never waits: its rows are what is tried.
    """
    if request.is_batch or request.state not in _TO_COME or urgency_of(request.kind) is None:
        return False
    return bool(request.outcome_text) or request.outcome_unknown or request.state is State.UNRESOLVED


def not_yet(request: Request) -> str:
    """What stands beside the state word while it waits ("Not frozen yet"), else empty."""
    urgency = urgency_of(request.kind)
    return urgency.not_yet if urgency and is_waiting(request) else ""


def next_try(request: Request, at: Callable[[datetime], str]) -> str:
    """When it is tried again, in a sentence; `at` writes a time. For a request whose first try was made."""
    first = request.first_sent_at
    if request.due_at is None or first is None:
        return "Countersign tries again every 5 seconds."
    often_until = first + timing.URGENT_FOR
    if request.due_at <= often_until:
        return f"Countersign tries again every 5 seconds until {at(often_until)}, then less and less often."
    return f"Countersign goes on: the next try is at {at(request.due_at)}."
