"""What goes into a reading and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from bot import operations

READS: Final = frozenset(
    {
        "float_status",
        "card_list",
        "card_show",
        "card_balance",
        "card_transactions",
        "decline_explain",
        "funding_list",
        "funding_show",
        "funding_addresses",
        "fees_show",
        "ledger_show",
        "pending_approvals",
        "alerts_show",
    }
)
#: Action -> the operation kind whose form it opens, as the kinds say it themselves.
ACTIONS: Final[Mapping[str, str]] = {
    cls.intent: kind for kind, cls in operations.kinds().items() if cls.intent
}


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
    """One wish of a text. `opened` = a filled form may be shown without a further question.

    `slots` as `countersign parse` prints them: card (as written), amount, network, tx_hash, since, until,
    name, phone, email, partner_ref, limits {daily, weekly, monthly}, status, funding_id, everything ("yes":
    all that is on the card). `card` is the one card meant, where it is known. `notes` are sentences the person
    should read beside the answer or in the form.

    Where only a slot is missing, `intent` is the wish and `ask` the slot. Where something is in doubt (two
    cards of one name, `2,75`, a digit nobody can place) `intent` is `ambiguous`, `wanted` the wish, if there is
    one, and `ask` what would settle it. `kind` is the operation kind of an action, also behind `ambiguous`; an
    action that the table does not name has its kind as its intent and its field names as slots.
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
        """Whether this is a wish to change something, understood as such; `opened` tells if a form may follow."""
        return self.intent in ACTIONS or (bool(self.kind) and self.intent == self.kind)


@dataclass(frozen=True, slots=True)
class Parsed:
    """All wishes of a text, in its order; never empty. `guarded` = it held a card number, which nobody keeps.

    With more than one action, none of them is `opened`.
    """

    readings: tuple[Reading, ...]
    guarded: bool = False

    @property
    def first(self) -> Reading:
        """What `countersign parse` prints: the action where there is one, else the first read."""
        return next((r for r in self.readings if r.is_action or r.intent == "ambiguous"), self.readings[0])
