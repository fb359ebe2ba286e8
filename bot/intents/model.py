"""What goes into a reading and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

#: What opens a form. Each names one operation kind, the one whose file says `intent` so: the kinds know their
#: intents and no intent its kind, since a process that only parses loads nothing of the API.
ACTIONS: Final = frozenset(
    {
        "topup_card",
        "unload_card",
        "order_card",
        "freeze_card",
        "unfreeze_card",
        "close_card",
        "set_limits",
        "set_markup",
        "set_3ds",
        "change_phone",
        "submit_funding",
    }
)
#: What a text is that asks for nothing.
GREETING, THANKS, OTHER_LANGUAGE = "greeting", "thanks", "other language"


@dataclass(frozen=True, slots=True)
class KnownCard:
    """A card of the directory. `id` and `status` may be empty where only words are compared."""

    last4: str
    holder: str
    partner_ref: str = ""
    id: str = ""
    status: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a text is read against. `now` is aware; `tz` an IANA name, the asking person's."""

    now: datetime
    tz: str = "UTC"
    week_starts: str = "monday"
    cards: Sequence[KnownCard] = ()
    networks: tuple[str, ...] = ("POLYGON", "BNB", "BASE")
    our_id: str = ""  # the app's own Slack id: its mention is no person
    people: Mapping[str, str] = field(default_factory=dict)  # Slack id -> partner_ref, where mapped
    most_usd: str = "100000"  # an amount above is asked to be typed again


@dataclass(frozen=True, slots=True)
class Thread:
    """What this person and the bot were at in this thread, if anything, at most 30 minutes ago."""

    intent: str = ""
    slots: Mapping[str, Any] = field(default_factory=dict)
    asked_slot: str = ""
    last_card: KnownCard | None = None
    read_intent: str = ""  # the look-up that was answered last, unless a request was made since
    read_slots: Mapping[str, Any] = field(default_factory=dict)
    earlier_cards: tuple[KnownCard, ...] = ()  # talked about before `last_card`, the newest first


@dataclass(frozen=True, slots=True)
class Option:
    """An answer to choose. `value` is what a person would have typed for it."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Ask:
    """The one thing asked next. No options = to be typed."""

    slot: str
    question: str
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """One request of a text. `opened` = a filled form may be shown without a further question.

    `slots` as `countersign parse` prints them: card (as written), amount, network, tx_hash, since, until,
    name, phone, email, partner_ref, limits {daily, weekly, monthly}, status, funding_id, everything ("yes":
    all that is on the card). `card` is the one card meant, where it is known. `notes` are sentences the person
    should read beside the answer or in the form.

    Where only a slot is missing, `intent` is the request and `ask` the slot. Where something is in doubt (two
    cards of one name, `2,75`, a digit nobody can place) `intent` is `ambiguous`, `wanted` the request, if there is
    one, and `ask` what would settle it. An action that `ACTIONS` does not name, read by the phrases its operation
    kind declares, has that kind's `intent` (its own name where it has none) and its field names as slots; `kind` is
    that kind, else "".
    """

    intent: str
    slots: Mapping[str, Any] = field(default_factory=dict)
    opened: bool = False
    ask: Ask | None = None
    card: KnownCard | None = None
    wanted: str = ""  # behind `ambiguous`: the intent that waits for the answer
    notes: tuple[str, ...] = ()
    kind: str = ""

    @property
    def is_action(self) -> bool:
        """Whether this is a request to change something, understood as such; `opened` tells if a form may follow."""
        return self._names_an_action(self.intent)

    @property
    def wants_action(self) -> bool:
        """Whether a request to change something waits behind a question."""
        return self._names_an_action(self.wanted)

    @property
    def takes_back(self) -> bool:
        """Whether "undo that" or "pause everything" was read: no form follows, and nothing else is guessed."""
        return bool({self.intent, self.wanted} & {"undo", "pause_sending"})

    def _names_an_action(self, intent: str) -> bool:
        return intent in ACTIONS or (bool(self.kind) and intent not in ("", "ambiguous"))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What may be meant, to be offered as a button: an intent with the slots that the text gives, each exact.

    `score` is how likely that is, 0 to 1. Nothing opens by it.
    """

    intent: str
    slots: Mapping[str, Any] = field(default_factory=dict)
    score: float = 0.0
    card: KnownCard | None = None
    ask: Ask | None = None  # of a look-up: the question for its card, where none was named

    @property
    def reading(self) -> Reading:
        """What follows where it is chosen. It is not `opened`: that takes a plain request."""
        return Reading(self.intent, self.slots, ask=self.ask, card=self.card)


@dataclass(frozen=True, slots=True)
class Parsed:
    """All requests of a text, in its order; never empty. `guarded` = it held a card number, which nobody keeps.

    With more than one action, none of them is `opened`. `suggestions` are at most three, best first; empty where the
    reading is sure. Beside a look-up that was only guessed they are what else may be meant.
    """

    readings: tuple[Reading, ...]
    guarded: bool = False
    suggestions: tuple[Suggestion, ...] = ()

    @property
    def first(self) -> Reading:
        """What `countersign parse` prints: the action where there is one, else the first read."""
        return next((r for r in self.readings if r.is_action or r.intent == "ambiguous"), self.readings[0])
