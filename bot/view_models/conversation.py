"""What can follow from something said, as values: handlers draw them, nobody else decides on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.requests import Request
from bot.intents import Ask, Reading
from bot.operations import Operation


@dataclass(frozen=True, slots=True)
class Look:
    """A read to be answered now."""

    reading: Reading


@dataclass(frozen=True, slots=True)
class Question:
    """One thing to be answered. `mark` names the dialog and its version, as its buttons carry it."""

    ask: Ask
    mark: str
    notes: tuple[str, ...] = ()
    missed: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """A form that may be opened, filled with what was said. `full`: nothing it needs is missing."""

    verb: str
    lines: tuple[tuple[str, str], ...]
    number: int
    notes: tuple[str, ...] = ()
    full: bool = False


@dataclass(frozen=True, slots=True)
class Offers:
    """The forms of one text, in its order. `is_own` False: somebody else wrote it."""

    offers: tuple[Offer, ...]
    mark: str
    is_own: bool = True


@dataclass(frozen=True, slots=True)
class Choice:
    """A new request while a question is open: drop the old one, or keep it?"""

    old: str
    new: str
    mark: str


@dataclass(frozen=True, slots=True)
class Words:
    """A sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class Guarded:
    """The text held a card number: nothing of it is kept or repeated."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Nothing was understood. `examples` are the sentences nearest to it that this person may say."""

    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Help:
    """What can be done was asked for."""


@dataclass(frozen=True, slots=True)
class Cancelling:
    """A request of one's own that may still be cancelled, by its button."""

    request: Request


@dataclass(frozen=True, slots=True)
class Pausing:
    """Programs whose sending may be paused, each by its button, and those that are paused already."""

    running: tuple[str, ...]
    paused: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """One thing that may have been meant: what its button says, and whether a press shows it or opens its form."""

    label: str
    number: int
    is_look: bool


@dataclass(frozen=True, slots=True)
class Proposals:
    """What may have been meant, a button each. `answered`: beside an answer that was only the best guess."""

    proposals: tuple[Proposal, ...]
    mark: str
    answered: bool = False


Step = Look | Question | Offers | Choice | Words | Guarded | Lost | Help | Cancelling | Pausing | Proposals


@dataclass(frozen=True, slots=True)
class Form:
    """A form to open: the kind, its typed values, and what to say above it.

    `is_said`: its values were read from what somebody wrote, not from an earlier request.
    """

    cls: type[Operation]
    texts: Mapping[str, str]
    note: str
    reason: str = ""
    is_said: bool = True
