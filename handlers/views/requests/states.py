"""States and stages as people see them: icon and word together, never colour alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bot.domain.requests import Request, Stage, State, money_of_a_failure
from bot.operations import moves_money, urgency

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

NOT_YET_ICON: Final = "▲"

WORDS: Final[Mapping[State, str]] = {
    State.PENDING: "pending",
    State.APPROVED: "approved",
    State.EXECUTING: "executing",
    State.SUCCEEDED: "succeeded",
    State.FAILED: "failed",
    State.UNRESOLVED: "unresolved (being checked)",
    State.REJECTED: "rejected",
    State.CANCELLED: "cancelled",
    State.EXPIRED: "expired",
}


# Beside the failure of what moves no money.
_NOTHING_CHANGED: Final = "nothing was changed"

#: Shown in place of a success whose effect goes on after the call: nothing that is open has a tick.
STAGE_ICONS: Final[Mapping[Stage, str]] = {
    Stage.SUBMITTED: "◔",
    Stage.IN_REVIEW: "▲",
    Stage.CREDITED: "✓",
    Stage.FUNDING_REJECTED: "✗",
    Stage.TAKEN_BACK: "✗",
}


def word_of(request: Request) -> str:
    """Where it stands in a word, with what is known beside it where that word alone would leave it open.

    A batch that failed may have rows that were done: it is not called a failure. What cannot wait says so until it
    happened, and nothing of money; of any other failure it is said where the money is.
    """
    if request.stage is not None:
        return request.stage.value
    if request.is_batch and request.state is State.FAILED:
        return "not all done"
    not_yet = urgency.not_yet(request)
    if not_yet:
        return f"{request.state.value} · {not_yet}"
    if request.state is State.FAILED and urgency.urgency_of(request.kind) is None:
        what = money_of_a_failure(request) if moves_money(request.kind) else _NOTHING_CHANGED
        return f"{WORDS[request.state]} ({what})"
    return _word(request.state, request.kind)


def _word(state: State, kind: str) -> str:
    urgent = urgency.urgency_of(kind)
    return f"failed ({urgent.not_done})" if urgent and state is State.FAILED else WORDS[state]


def _icon_of(request: Request) -> str:
    if urgency.not_yet(request):
        return NOT_YET_ICON
    return ICONS[request.state] if request.stage is None else STAGE_ICONS[request.stage]


def badge_of(request: Request) -> str:
    """Icon and word, beside the id in a list."""
    return f"{_icon_of(request)} {word_of(request)}"


def heading_of(request: Request) -> str:
    """The badge at the start of a line; what has not happened comes first."""
    not_yet = urgency.not_yet(request)
    word = f"{not_yet} · {request.state.value}" if not_yet else word_of(request)
    return f"{_icon_of(request)} {_capital(word)}"


def heading(word: State | Stage, kind: str) -> str:
    """The badge of where a request of this kind was, at the start of a line."""
    if isinstance(word, Stage):
        return f"{STAGE_ICONS[word]} {_capital(word.value)}"
    return f"{ICONS[word]} {_capital(_word(word, kind))}"


def _capital(word: str) -> str:
    return f"{word[0].upper()}{word[1:]}"
