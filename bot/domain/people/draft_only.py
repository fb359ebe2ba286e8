"""Draft only: requests are made, previewed and approved for practice, and nothing is sent to the card provider."""

from __future__ import annotations

from typing import Final

from bot.domain.people.policy import APPROVAL_VALID_IN_WORDS

_BEGINS: Final = "Draft only:"
#: How a request ends that was approved as a draft.
NOT_SENT: Final = (
    f"{_BEGINS} nothing was sent to your card provider. Request it again once drafts are switched off."
)


def sentence(program: str) -> str:
    """That nothing is sent to this program, and why."""
    return f"{_BEGINS} nothing is sent to {program}."


def is_said_in(why_paused: str) -> bool:
    """Does this sentence, why nothing is sent to a program, say that it is for drafts only?"""
    return why_paused.startswith(_BEGINS)


def approved_as_draft(why_paused: str, not_done: str) -> str:
    """`why_paused`, and what that means for a request. `not_done`: what a card is then that should be frozen."""
    urgent = f" The card is {not_done}." if not_done else ""
    return (
        f"{why_paused}{urgent} You can approve this for practice. It ends {APPROVAL_VALID_IN_WORDS} later, and"
        " nothing is sent."
    )
