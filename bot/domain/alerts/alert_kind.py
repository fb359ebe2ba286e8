"""What an alert kind is: one value that says everything the rest of the bot needs to know of it.

A kind is a row of the catalogue (`catalogue.CATALOGUE`): its name, what it says and how severe that is, who is
called, whether it may be muted, its buttons, its remedy, its word in the digest, its entry in docs/runbook.md
and how it ends. Code that raises an alert takes the kind's sentence with `says` and gives only the facts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from bot.domain.sentences import quoted


class Severity(StrEnum):
    """How bad it is, from the least to the worst: the order of the members counts."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for the least severe."""
        return list(Severity).index(self)


class Button(StrEnum):
    """What a person can press on an alert; the texts and action ids are the view's."""

    ACK = "ack"
    SNOOZE = "snooze"
    REMEDY = "remedy"
    REDELIVER = "redeliver"
    TRY_NOW = "try_now"
    SHOW_CARD = "show_card"
    RESUME = "resume"
    CONFIRM = "confirm"
    DECLINE = "decline"
    ACCEPT = "accept"
    MORE = "more"  # the menu: assign to me, and resolve where the kind may be muted


class Remedy(StrEnum):
    """What a person can do here about an alert; an operation kind says which of these it is."""

    TOP_UP_CARD = "top up the card"
    RAISE_CARD_LIMITS = "raise the card's limits"
    UNFREEZE_CARD = "unfreeze the card"
    SUBMIT_FUNDING = "submit funding"
    ROTATE_WEBHOOK_SECRET = "rotate the webhook's secret"  # noqa: S105 - a sentence, no secret


STANDARD_BUTTONS: Final = (Button.ACK, Button.SNOOZE, Button.REMEDY, Button.MORE)
# They change who looks at an alert and when, and bring it no further.
_NO_STEP: Final = frozenset({Button.ACK, Button.SNOOZE, Button.MORE})

RECEIVED_LATE: Final = "Received late: it happened at {at:%Y-%m-%d %H:%M} UTC."
"""Ends the text of what is reported more than `LATE_AFTER` after it happened. `at`: an aware time in UTC."""


@dataclass(frozen=True, slots=True)
class Wording:
    """What an alert says in one case: templates of `str.format`, whose names are the facts to give.

    `severities`: what it may be in this case; the first one unless `says` is told otherwise.
    """

    severities: tuple[Severity, ...]
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """An alert as it is reported now: its kind with its words, all facts filled in."""

    kind: AlertKind
    severity: Severity
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Ending:
    """What an alert says once it is over, in one case: how it came out, and no instruction of the alarm any more.

    Templates of `str.format`. Every case may name `{title}` and `{text}`, what the alarm said; `{subject}`, what it was
    about; `{program}`; `{lasted}`, such as "12 minutes", since it was so, and `{open_for}`, since the alert; `{who}`,
    who ended it, "Countersign" where nobody did.
    """

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Ended:
    """How an alert ended, all facts filled in."""

    title: str
    text: str


CLOSED_BY_HAND: Final = Ending(
    "Closed by {who}: {title}",
    "{who} closed this after {lasted}. If it is still the case at the next check, a new alert is raised.",
)
"""Where a person ended it before its cause was gone."""

Facts = Mapping[str, str]


@dataclass(frozen=True, eq=False, kw_only=True)
class AlertKind:
    """A row of the catalogue. Two kinds are the same only if they are the same object."""

    name: str
    """As stored in the database and typed by people who mute it. Never changed once released."""
    raised_when: str
    found_by: str
    """The part of the bot that raises it: poller, events, webhook, inbox, relay, execution, upkeep, people, start."""
    ends: str
    """What makes it over, as a phrase."""
    wordings: Mapping[str, Wording]
    """By case; one case alone is called ""."""
    endings: Mapping[str, Ending] = field(
        default_factory=lambda: {"": Ending("“{title}” is closed", "It was open for {lasted}.")}
    )
    """What it says once it is over, by case; one case alone is called ""."""
    asks_second_person: bool = False
    """Whether it waits for the answer of a second person: those who may give it are mentioned, however severe it is."""
    is_mutable: bool = True
    """False where nobody may silence it or close it by hand: an unknown outcome, a bot that cannot be trusted,
    and what asks a person for an answer."""
    buttons: tuple[Button, ...] = STANDARD_BUTTONS
    remedies: tuple[Remedy, ...] = ()
    """What **Suggest a fix** may open; the first one, unless `remedy_by` picks by the facts kept with the alert."""
    remedy_by: Callable[[Facts], Remedy | None] | None = None
    is_document: bool = False
    """Something to read and take over, with its own message: not counted among the open alerts."""
    digest_word: str = ""
    """What the morning's digest calls it; its name where there is no better word."""
    has_float_chart: bool = False
    open_head: str = ""
    """Above the title while it is open; the severity's word where empty."""
    over_head: str = "✓ Resolved"
    runbook: str = ""
    """Anchor of its entry in docs/runbook.md, where that is not its name."""
    condition_name: str = ""
    """First part of the key of its conditions, where that is not its name. Stored: never changed once released."""
    severities: tuple[Severity, ...] = field(init=False)
    """Every severity it may have, the least first."""

    def __post_init__(self) -> None:
        found = {severity for wording in self.wordings.values() for severity in wording.severities}
        object.__setattr__(self, "severities", tuple(s for s in Severity if s in found))

    @property
    def calls_when(self) -> str:
        """When people are mentioned in its message, as a phrase; empty for never. A mention notifies them."""
        if self.asks_second_person:
            return "always"
        if Severity.CRITICAL not in self.severities:
            return ""
        return "always" if len(self.severities) == 1 else "it is critical"

    def says(self, case: str = "", *, severity: Severity | None = None, **facts: object) -> Said:
        """Its words for this case with the facts filled in, each text in one line unless it is `Lines`.

        Raises KeyError for a case or a fact that is missing, ValueError for a severity it never has.
        """
        wording = self.wordings[case]
        chosen = wording.severities[0] if severity is None else severity
        if chosen not in wording.severities:
            raise ValueError(f"An alert of the kind {self.name} is never {chosen} in the case {case!r}.")
        facts = {name: quoted(fact) if isinstance(fact, str) else fact for name, fact in facts.items()}
        return Said(self, chosen, wording.title.format(**facts), wording.text.format(**facts))

    def ended(self, case: str = "", **facts: object) -> Ended:
        """How it ended. Raises KeyError for a case or a fact that is missing."""
        ending = self.endings[case]
        return Ended(ending.title.format(**facts), ending.text.format(**facts))

    def condition(self, *parts: str) -> str:
        """The key of one condition of this kind: one open alert each. `parts` say whose it is, such as a program."""
        return ":".join((self.condition_name or self.name, *parts))

    def remedy(self, facts: Facts) -> Remedy | None:
        """What can be done here about an alert with these facts; None where only the card provider can help."""
        if self.remedy_by is not None:
            return self.remedy_by(facts)
        return self.remedies[0] if self.remedies else None

    @property
    def in_digest(self) -> str:
        return self.digest_word or self.name

    @property
    def anchor(self) -> str:
        """Of its entry in docs/runbook.md."""
        return self.runbook or self.name

    @property
    def next_step(self) -> Button:
        """The one button that brings it further: what it asks of people, else its remedy."""
        return next(button for button in self.buttons if button not in _NO_STEP)


def over(title: str, text: str) -> Mapping[str, Ending]:
    """The endings of a kind that ends in one way."""
    return {"": Ending(title, text)}


def one(severity: Severity, title: str, text: str) -> Mapping[str, Wording]:
    """The wordings of a kind that says the same in every case."""
    return {"": Wording((severity,), title, text)}
