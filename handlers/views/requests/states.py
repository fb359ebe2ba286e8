"""States and stages as people see them: icon and word together, never colour alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bot.domain.requests import Request, Stage, State, money_of_a_failure

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


#: Shown in place of a success whose effect goes on after the call: nothing that is open has a tick.
STAGE_ICONS: Final[Mapping[Stage, str]] = {
    Stage.SUBMITTED: "◔",
    Stage.IN_REVIEW: "▲",
    Stage.CREDITED: "✓",
    Stage.FUNDING_REJECTED: "✗",
    Stage.TAKEN_BACK: "✗",
}


def word_of(request: Request) -> str:
    """Where it stands in a word, with what is known of the money beside it where that word alone would leave it open.

    A batch that failed may have rows that were done: it is not called a failure.
    """
    if request.stage is not None:
        return request.stage.value
    if request.state is not State.FAILED:
        return WORDS[request.state]
    return "not all done" if request.is_batch else f"{WORDS[request.state]} ({money_of_a_failure(request)})"


def _icon_of(request: Request) -> str:
    return ICONS[request.state] if request.stage is None else STAGE_ICONS[request.stage]


def badge_of(request: Request) -> str:
    return f"{_icon_of(request)} {word_of(request)}"


def heading_of(request: Request) -> str:
    """The badge at the start of a line."""
    return f"{_icon_of(request)} {_capital(word_of(request))}"


def heading(word: State | Stage) -> str:
    """The badge at the start of a line."""
    if isinstance(word, Stage):
        return f"{STAGE_ICONS[word]} {_capital(word.value)}"
    return f"{ICONS[word]} {_capital(WORDS[word])}"


def _capital(word: str) -> str:
    return f"{word[0].upper()}{word[1:]}"
