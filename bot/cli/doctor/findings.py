"""What one check of the doctor found: well, to check, or wrong with its fix."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.cli.terminal import explain


class Level(StrEnum):
    """How much a finding matters, as the sign before its line."""

    WELL = "✓"
    TO_CHECK = "!"
    """Works, and somebody should know: exit code 0."""
    WRONG = "✗"
    """Would stop or mislead the bot: exit code 1."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One check's result. `check` is its name for scripts; `text` says what is so and, where it is wrong, the fix."""

    level: Level
    check: str
    text: str


def well(check: str, text: str) -> Finding:
    """Nothing to do."""
    return Finding(Level.WELL, check, text)


def to_check(check: str, text: str) -> Finding:
    """Works, and somebody should know."""
    return Finding(Level.TO_CHECK, check, text)


def wrong(check: str, text: str) -> Finding:
    """Has to be fixed."""
    return Finding(Level.WRONG, check, text)


def of_error(check: str, error: Exception) -> list[Finding]:
    """What a person can fix, in the error's own words; anything else is a bug and is raised."""
    explained = explain(error)
    if explained is None:
        raise error
    return [wrong(check, sentence) for sentence in explained[0]]
