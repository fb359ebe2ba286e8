"""The nine states as people see them: icon and word together, never colour alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bot.domain.requests import Request, State, money_of_a_failure

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
    State.FAILED: "failed",
    State.UNRESOLVED: "unresolved (being reconciled)",
    State.REJECTED: "rejected",
    State.CANCELLED: "cancelled",
    State.EXPIRED: "expired",
}


def word_of(request: Request) -> str:
    """The state in a word, with what is known of the money beside it where that word alone would leave it open.

    A batch that failed may have rows that were done: it is not called a failure.
    """
    if request.state is not State.FAILED:
        return WORDS[request.state]
    return "not all done" if request.is_batch else f"{WORDS[request.state]} ({money_of_a_failure(request)})"


def badge_of(request: Request) -> str:
    return f"{ICONS[request.state]} {word_of(request)}"


def heading_of(request: Request) -> str:
    """The badge at the start of a line."""
    word = word_of(request)
    return f"{ICONS[request.state]} {word[0].upper()}{word[1:]}"


def heading(state: State) -> str:
    """The badge at the start of a line."""
    return f"{ICONS[state]} {WORDS[state][0].upper()}{WORDS[state][1:]}"
