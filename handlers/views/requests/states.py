"""The nine states as people see them: icon and word together, never colour alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bot.domain.requests import Request, State

ICONS: Final[Mapping[State, str]] = {
    State.PENDING: "◷",
    State.APPROVED: "◑",
    State.EXECUTING: "➤",
    State.SUCCEEDED: "✓",
    State.FAILED: "✗",
    State.UNRESOLVED: "▲",
    State.REJECTED: "⊘",
    State.CANCELLED: "○",
    State.EXPIRED: "◌",
}

WORDS: Final[Mapping[State, str]] = {
    State.PENDING: "pending",
    State.APPROVED: "approved",
    State.EXECUTING: "executing",
    State.SUCCEEDED: "succeeded",
    State.FAILED: "failed (nothing moved)",
    State.UNRESOLVED: "unresolved (being reconciled)",
    State.REJECTED: "rejected",
    State.CANCELLED: "cancelled",
    State.EXPIRED: "expired",
}


def word_of(request: Request) -> str:
    """The state in a word. A batch that failed may have rows that were done: it is not called a failure."""
    return "not all done" if request.is_batch and request.state is State.FAILED else WORDS[request.state]


def badge_of(request: Request) -> str:
    return f"{ICONS[request.state]} {word_of(request)}"


def heading_of(request: Request) -> str:
    """The badge at the start of a line."""
    word = word_of(request)
    return f"{ICONS[request.state]} {word[0].upper()}{word[1:]}"


def heading(state: State) -> str:
    """The badge at the start of a line."""
    return f"{ICONS[state]} {WORDS[state][0].upper()}{WORDS[state][1:]}"
