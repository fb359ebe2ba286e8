"""What an operation kind is: its form, its sentence, its checks, its call, and how to find the truth.

A new kind is one file in this package with one subclass of `Operation`. Modal, sub-command, policy
row, request card, audit text and docs row follow from what it declares here; nothing else needs to
know the kind. An operation knows the Partner API and nothing of Slack or SQL.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Self, TypeVar

from bot.domain.alerts import Remedy
from bot.domain.cards import CardEntry
from bot.domain.error_messages import MESSAGES, NO_ANSWER
from bot.domain.errors import InvalidFields, InvalidInput, NotFound
from bot.domain.requests import Progress
from bot.operations._fields import Field
from bot.operations._handling import Handling
from bot.operations.value_types import CARD_ID, Private, ValueType
from bot.outcomes import Effect, Evidence, Finding, Outcome, timing
from bot.partner.answers import NOT_CONNECTED, NOT_SENT, Answer
from bot.partner.client import PartnerClient
from bot.partner.endpoints import Endpoint, meaning
from bot.partner.errors import Forbidden, NotConnected, NotSent, PartnerError

T = TypeVar("T")

Facts = Mapping[str, Any]
Line = tuple[str, str]
# (status, code) -> what happened, and what to do next or "" for the usual.
InWords = Mapping[tuple[int, str], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Concern:
    """Something that the requester and the approver should read. `stops` = nothing is sent while it holds.

    `text` is one or two whole sentences for people.
    """

    text: str
    stops: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """What reading the API shows of a request that was sent: the evidence, a sentence for people, the facts.

    `facts` are kept with the attempt: plain JSON values, amounts in USD as exact text, None for what cannot
    be read.
    """

    evidence: Evidence
    text: str
    facts: Facts


@dataclass(frozen=True, slots=True)
class Others:
    """What is on record of the program's other requests of one kind.

    `taken`: what they made, as `Operation.effect` names it, to the id of the request whose outcome it is.
    `rivals`: ids of those that ask for the same, were sent, and of which nobody knows what they made: what is found
    may be theirs.
    """

    taken: Mapping[str, str] = dataclasses.field(default_factory=dict)
    rivals: tuple[str, ...] = ()


async def nobody_else() -> Others:
    """No other request."""
    return Others()


@dataclass(frozen=True, slots=True)
class Sought:
    """A request whose traces a look is after.

    `key` is the Idempotency-Key that was sent; `since` and `last_sent_at` are when it was first and last sent, aware
    UTC times by our clock; `facts` are those of the preview and `seen` those of the last look. `others` tells what
    other requests have made: asked after the API was read, so that whoever made what was seen is known by then.
    """

    key: str
    since: datetime
    last_sent_at: datetime
    facts: Facts = dataclasses.field(default_factory=dict)
    seen: Facts = dataclasses.field(default_factory=dict)
    others: Callable[[], Awaitable[Others]] = nobody_else

    @property
    def ledger_since(self) -> datetime:
        """From when on the ledger holds every row of it, by the card provider's clock."""
        return self.since - timing.CLOCKS_DIFFER

    def may_have_made(self, moment: datetime) -> bool:
        """Was it made, by the card provider's clock, when a call of ours could have made it?"""
        last = self.last_sent_at + timing.QUIESCENCE + timing.CLOCKS_AGREE
        return self.since - timing.CLOCKS_AGREE <= moment <= last


@dataclass(frozen=True, slots=True)
class Buttons:
    """Where a button opens the form of a kind; a place counts from 1, and 0 is no button there.

    `first_on` = its place among the buttons of a card, by the card's status. `more` = its place under the dots of
    a card. `home` = its place on the Home tab, where the kinds without one follow by their names.
    """

    first_on: Mapping[str, int] = dataclasses.field(default_factory=dict)
    more: int = 0
    home: int = 0


class Batch(ABC):
    """How a list of one kind is read, and how the whole list is described.

    `rows` is the number of rows, `total_usd` the sum of what they move in USD. Facts hold amounts as exact
    text in USD.
    """

    # By field, the headers people write apart from the field's own name and label.
    headers: ClassVar[Mapping[str, tuple[str, ...]]]
    examples: ClassVar[tuple[str, ...]]  # rows for the template
    # What is said of a row whose card is frozen, after the card's name.
    on_frozen: ClassVar[str] = "is frozen: money would sit on it"
    # Fields in which two rows alike may be one person or thing asked for twice.
    twins: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def summary(self, cards: str, total_usd: Decimal) -> str:
        """One sentence for the whole list.

        `cards` is their number in words ("3 cards"), `total_usd` the sum of the rows in USD.
        """

    async def account(self, partner: PartnerClient) -> dict[str, Any]:
        """What the account says now that bears on the whole list, read live.

        `float_available_usd` is in USD; `allowance_left` is a whole number of cards, None without
        a cap. Raises PartnerError. Source: GET /me.
        """
        me = await partner.me()
        return {
            "float_available_usd": me.float.available_usd,
            "allowance_left": None if me.cards.limit is None else me.cards.limit - me.cards.total,
        }

    async def row_facts(self, operation: Operation, partner: PartnerClient) -> Facts:
        """The facts of one row just before it is sent, read live. Raises PartnerError."""
        return await operation.read(partner)

    @abstractmethod
    def lines(self, rows: int, total_usd: Decimal, facts: Facts) -> list[Line]:
        """What the whole list does, as (label, value) pairs, without the number of rows.

        `facts` are those of `account`, with `pending_usd`: what pending requests hold, in USD.
        """

    def concerns(
        self, rows: int, total_usd: Decimal, facts: Facts, of_rows: Sequence[Concern]
    ) -> list[Concern]:
        """What speaks against the whole list, together with what was found `of_rows` at submit."""
        return [*of_rows]


class Operation(ABC):
    """One requested operation with its typed values.

    A kind declares its fields as attributes, which on an operation are its values: a card's is its id, an amount is a
    Decimal in USD. `values` has them by field name. `target_label` names the card for people ("ALICE MOREAU ••4242").
    """

    kind: ClassVar[str]
    title: ClassVar[str]  # of the modal: at most 24 characters
    verb: ClassVar[str]  # "Top up", for buttons and headings
    command: ClassVar[tuple[str, str]]  # ("card", "topup")
    example: ClassVar[str]
    help: ClassVar[str]
    phrases: ClassVar[tuple[str, ...]]
    endpoint: ClassVar[Endpoint]  # what it asks of the API: what an answer means stands in its table
    declared: ClassVar[tuple[Field[Any], ...]] = ()  # every field, in the order of the class
    fields: ClassVar[tuple[Field[Any], ...]] = ()  # those of the form
    has_card: ClassVar[bool] = False  # does the form name a card?
    in_words: ClassVar[InWords] = {}  # where this call means something of its own by a code
    remedy: ClassVar[Remedy | None] = None  # which of what alerts ask for it does
    # The field with the address for events: filled with ours, and then the command may name a program instead.
    webhook_url: ClassVar[str] = ""
    handling: ClassVar[Handling] = Handling()

    # What may have happened while nobody knows, as a clause that is true of this kind.
    moves_money: ClassVar[bool] = False  # off or onto the float or a card, a fee included
    may_have: ClassVar[str] = "It may have been done or not, and no money moves by it"

    # What policy, plain English, alerts, batches and buttons go by, so that none of them names a kind.
    place: ClassVar[int] = 1000  # among the kinds where all are listed; those of one place by their names
    intent: ClassVar[str] = ""  # what plain English calls it; "" = read by its phrases alone, under its kind
    leaves_card: ClassVar[str] = ""  # the status its card has once it succeeded; "" = the same as before
    undone_by: ClassVar[str] = ""  # the kind that takes back what was done at once
    opposite: ClassVar[str] = ""  # the kind whose form takes back what one of this did; "" = there is none
    no_opposite: ClassVar[str] = "There is no request that takes it back."  # shown where there is none
    buttons: ClassVar[Buttons] = Buttons()
    batch: ClassVar[Batch | None] = None  # None = not taken in a list

    @classmethod
    def of_many(cls) -> Batch:
        """How a list of this kind is read and described. Raises NotFound where the kind takes no list."""
        if cls.batch is None:
            raise NotFound(f"{cls.title} can't be requested in a list.")
        return cls.batch

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declared = [f for base in reversed(cls.__mro__) for f in vars(base).values() if isinstance(f, Field)]
        cls.declared = tuple({field.name: field for field in declared}.values())
        if "fields" not in cls.__dict__:
            cls.fields = tuple(field for field in cls.declared if not field.learned)
        cls.has_card = any(field.card for field in cls.fields)
        if "kind" not in cls.__dict__:
            return  # what several kinds share is no kind itself
        if len(cls.title) > 24:
            raise TypeError(f"{cls.__name__}.title is longer than the 24 characters of a modal's title")
        labels = [f.label for f in cls.fields]
        if len(set(labels)) != len(labels):
            raise TypeError(f"{cls.__name__} has two fields with one label")

    def __init__(self, values: Mapping[str, Any], target_label: str = "") -> None:
        held = {field.name: field.holds.python for field in self.declared}
        wrong = [name for name, value in values.items() if not isinstance(value, held.get(name, ()))]
        if wrong:
            raise TypeError(f"{type(self).__name__} takes other values for {', '.join(sorted(wrong))}")
        self.values: Mapping[str, Any] = dict(values)
        vars(self).update({field.name: None for field in self.declared if field.optional} | self.values)
        self.target_label = target_label

    @classmethod
    def of_stored(
        cls, texts: Mapping[str, str], target_label: str = "", *, private: Mapping[str, str] | None = None
    ) -> Self:
        """From stored texts by field name, such as the terms of a request.

        A private value is known in full where `private` has it, else masked: enough for all but the body.
        """
        full = private or {}
        values: dict[str, Any] = {}
        for field in cls.declared:
            if field.name in texts:
                text = texts[field.name]
                masked = field.private and field.name not in full
                values[field.name] = Private(text) if masked else field.holds.load(full.get(field.name, text))
        return cls(values, target_label)

    @classmethod
    def parse(cls, texts: Mapping[str, str]) -> dict[str, Any]:
        """Typed values of what was typed; raises `InvalidFields` with a sentence for each bad field.

        Without the card, which only the directory can find.
        """
        values: dict[str, Any] = {}
        errors: dict[str, str] = {}
        for field in cls.fields:
            text = (texts.get(field.name) or "").strip()
            if not text:
                if not field.optional:
                    errors[field.name] = field.missing or f"{field.label} is missing."
                continue
            if field.card:
                continue
            try:
                values[field.name] = field.holds.read(text)
            except InvalidInput as error:
                errors[error.field or field.name] = str(error)
            except ValueError as error:
                errors[field.name] = str(error)
        if errors:
            raise InvalidFields(errors)
        return values

    @classmethod
    def misfits(cls, values: Mapping[str, Any], card: CardEntry) -> dict[str, str]:
        """What was typed wrongly beside the card it names: field name to sentence, empty when all fits."""
        return {}

    @classmethod
    def remedy_texts(cls, known: Mapping[str, str]) -> dict[str, str]:
        """What its form holds as the remedy of an alert, by field name; `known` is what the alert is about."""
        card_id = known.get("card_id", "")
        return {field.name: card_id for field in cls.fields if field.card and card_id}

    @property
    def subject(self) -> str:
        """What this acts on: a card id, a transaction hash, or empty."""
        return self.first_of(CARD_ID) or ""

    def first_of(self, holds: ValueType[T]) -> T | None:
        """The value of the first field that holds this type; None where there is no such value."""
        named = (field.name for field in self.declared if field.holds is holds)
        return next((self.values[name] for name in named if name in self.values), None)

    def learned(self, facts: Facts) -> dict[str, Any]:
        """The values that nobody types, by field name: read by the preview, then shown, approved and frozen."""
        return {}

    @property
    def settings(self) -> frozenset[str]:
        """Which settings of its subject it sets, by name: a newer request replaces it that sets one of them too.

        A kind whose requests all set the same has one without a name.
        """
        return frozenset({""})

    def exposure_usd(self) -> Decimal:
        """What policy tiers and rolling limits count for this request, in USD; 0 where no money moves."""
        return Decimal(0)

    def terms(self) -> dict[str, str]:
        """The values as they are stored and people approve them, private ones masked."""
        return {f.name: f.holds.show(v) if f.private else f.holds.store(v) for f, v in self._filled()}

    def private(self) -> dict[str, str]:
        """The values that are sealed in storage, by field name, not masked."""
        return {f.name: f.holds.store(v) for f, v in self._filled() if f.private}

    def stored(self) -> dict[str, str]:
        """All values as they are stored where everything is sealed, by field name: see `of_stored`."""
        return {**self.terms(), **self.private()}

    def in_full(self, *, private_alone: bool = False) -> tuple[Line, ...]:
        """What was filled in, apart from the card, as (label, value) pairs; private values not masked."""
        shown = [(f, v) for f, v in self._filled() if not (f.card or f.learned)]
        return tuple((f.label, f.holds.store(v)) for f, v in shown if f.private or not private_alone)

    def _filled(self) -> list[tuple[Field[Any], Any]]:
        """Every field that has a value, with it."""
        return [(f, self.values[f.name]) for f in self.declared if f.name in self.values]

    @classmethod
    def is_set_up(cls) -> bool:
        """Is every setting there that this kind cannot do without? What is not set up is offered to nobody."""
        return True

    @abstractmethod
    def summary(self) -> str:
        """One sentence that names every public field, without its reason."""

    @abstractmethod
    def body(self) -> dict[str, Any]:
        """The JSON body, frozen at submit and sent byte for byte."""

    @abstractmethod
    async def read(self, partner: PartnerClient) -> Facts:
        """The facts that preview and re-check need, read live from the API. Raises PartnerError.

        Amounts in USD and fractions are Decimals, under a name that says so: see `bot.operations._facts`. Times are
        text in UTC, None = unreadable, and the rest is plain JSON.
        """

    def facts_of_last_reading(self, card: CardEntry | None, read: str) -> Facts:
        """The same facts as our directory last knew them, for a kind that need not be read again before it is sent.

        `read` says when, as people read it ("2026-11-22 08:57 UTC, 12 min old"); empty = it was never read.
        """
        raise NotImplementedError(f"{self.kind} is read live")

    @abstractmethod
    def lines(self, facts: Facts) -> list[Line]:
        """The effect as (label, value) pairs for people: "Float" and "1,200.00 → 1,150.00 USD"."""

    def lines_after(self, facts: Facts) -> list[Line]:
        """Those of `lines` that are still true once it has succeeded."""
        return self.lines(facts)

    def concerns(self, facts: Facts) -> list[Concern]:
        """What speaks against it now; those that stop are read again before the first send."""
        return []

    def opposite_texts(self, facts: Facts) -> Mapping[str, str]:
        """What fills the form of `opposite`, by field name. `facts` are those of the submission; empty = not known."""
        return {name: text for name, text in self.terms().items() if name in ("card", "amount_usd")}

    def stops(self, facts: Facts, *, again: bool) -> list[str]:
        """What forbids sending it now. `again` = after an attempt whose outcome nobody knows, which may have
        brought these very facts about."""
        return [concern.text for concern in self.concerns(facts) if concern.stops]

    @abstractmethod
    async def send(self, partner: PartnerClient, key: str, body: bytes) -> Outcome:
        """Make the one call that changes something and judge its answer. Raises PartnerError for every error answer.

        `key` is the Idempotency-Key of the request, `body` the JSON that was frozen at submit.
        """

    @abstractmethod
    async def look(self, partner: PartnerClient, sought: Sought) -> Look:
        """Find out by reading alone what became of the request. Raises PartnerError.

        What another request has made is no evidence of this one, and what may be of several is of none.
        """

    @classmethod
    def effect(cls, facts: Facts) -> str:
        """What an outcome with these facts has made, by the API's id of it; "" where it made nothing that has one."""
        return ""

    @property
    def likeness(self) -> str:
        """What requests have in common whose effects nothing but a key tells apart."""
        return self.subject

    def in_its_words(self, outcome: Outcome, *, in_doubt: bool) -> Outcome:
        """The same outcome as people read it of this kind; its finding and facts stay as they are.

        `in_doubt`: what an earlier attempt did is not known.
        """
        if self.moves_money or outcome.finding is Finding.SUCCEEDED:
            return outcome
        text = outcome.text
        for of_money, of_a_change in _CHANGES:
            text = text.replace(of_money, of_a_change)
        return dataclasses.replace(outcome, text=text)

    def effects(self, outcome: Outcome) -> Sequence[Effect]:
        """What this kind has written with an outcome beside what every kind has, in its transaction."""
        return ()

    def progress(self, facts: Facts) -> Progress | None:
        """How far the effect is that goes on after the call, by the facts of a success or of a later reading.

        None = it ends with the call, or the facts do not tell.
        """
        return None

    def changed_card(self, outcome: Outcome) -> str | None:
        """The id of the card that a success has changed or made, to be read again; None = none that is listed otherwise
        now."""
        if not (self.moves_money or self.leaves_card):
            return None
        return next((self.values[field.name] for field in self.declared if field.card), None)

    @property
    def changes_the_balance_alone(self) -> bool:
        """Of its card a success changes what it holds, and nothing else."""
        return self.moves_money and not self.leaves_card and bool(self.subject)

    def _answer(self, error: PartnerError) -> Answer:
        """The row of the table for what `send` met."""
        if isinstance(error, NotSent):
            return NOT_SENT
        if isinstance(error, NotConnected):
            return NOT_CONNECTED
        return meaning(self.endpoint, error.status, error.code)

    def judge(self, error: PartnerError, *, outcome_unknown: bool) -> Outcome:
        """What an error answer to `send` proves, in the words people read."""
        finding = self._answer(error).finding(in_doubt=outcome_unknown)
        facts: dict[str, Any] = {"status": error.status, "code": error.code}
        if self._may_have_come_back(error, finding):
            facts["may_have_come_back"] = True
        alarm = ""
        if finding is Finding.UNRESOLVED and error.code == "ALREADY_PROCESSED":
            alarm = (
                "Your card provider knows a key that was made for this request alone. Was the database restored from a"
                " backup, or has the key leaked?"
            )
        happened, next_step = self.in_words.get((error.status or 0, error.code or ""), ("", ""))
        cause = happened or _cause(error)
        return Outcome(
            finding,
            self._sentence(cause, next_step, error, finding, outcome_unknown=outcome_unknown),
            facts,
            retry_after_s=error.retry_after,
            alarm=alarm,
            cause=cause,
        )

    def _may_have_come_back(self, error: PartnerError, finding: Finding) -> bool:
        """Was it refused in a way that may have debited the float and given the amount back?"""
        return finding is Finding.REFUSED and self.handling.moves_float and self._answer(error).spends_key

    def _sentence(
        self, cause: str, next_step: str, error: PartnerError, finding: Finding, *, outcome_unknown: bool
    ) -> str:
        """What happened, whether money moved, what to do next."""
        money = _MONEY_IN_DOUBT.get(finding, _MONEY[finding]) if outcome_unknown else _MONEY[finding]
        if isinstance(error, Forbidden):
            money = _HELD_IN_DOUBT if outcome_unknown else _HELD
        if finding is Finding.UNKNOWN and not self.handling.repeats:
            money = _LOOKED_UP
        elif finding is Finding.UNRESOLVED:
            money = f"{self.may_have}; do not repeat this. Countersign checks it with your card provider."
        elif self._may_have_come_back(error, finding):
            money = _CAME_BACK
        parts = [cause, money]
        if finding is Finding.REFUSED:
            usual = MESSAGES.get(error.code or "")
            parts.append(next_step or (usual.after_refusal if usual else _FIX_IT))
        return " ".join(parts)


_MONEY: Mapping[Finding, str] = {
    Finding.REFUSED: "Nothing moved.",
    Finding.NOTHING_YET: "Nothing has moved yet; it is sent again shortly.",
    Finding.WAIT: "Nothing has moved yet; it is sent again in a minute.",
    Finding.HELD: "Nothing was done by this call. Sending to this program is paused until the key works again.",
    Finding.UNKNOWN: "The outcome is not known yet; do not repeat this. The same key is sent again shortly.",
    Finding.UNRESOLVED: "",  # said by the kind
    Finding.EVIDENCE: "What the first attempt did is not known yet; do not repeat this. It is being looked up.",
}

# The same of a call by which no money can move.
_CHANGES = (("Nothing moved.", "Nothing was changed."), ("Nothing has moved yet", "Nothing was changed yet"))

# A key that may not make one call holds that call, and nothing else.
_HELD = (
    "Nothing was done by this call. It is made again once the key may make it; other calls are not held up."
)
_HELD_IN_DOUBT = (
    "What an earlier attempt did is not known yet; do not repeat this. The call is made again once the key may make"
    " it; other calls are not held up."
)
_CAME_BACK = "No money left the float, or it came back."
_FIX_IT = "Fix the cause, then make a new request."

# The same where the call is not made again.
_LOOKED_UP = (
    "The outcome is not known yet; do not repeat this. It is looked up shortly, and the call is not made a second"
    " time."
)


def _cause(error: PartnerError) -> str:
    known = MESSAGES.get(error.code or "")
    happened = known.happened if known else NO_ANSWER
    return (
        f"{happened} It said: {error.message}" if error.code == "BAD_REQUEST" and error.message else happened
    )


# The same after an attempt whose outcome nobody knows: this call did nothing, that one may have.
_MONEY_IN_DOUBT: Mapping[Finding, str] = {
    Finding.WAIT: "What an earlier attempt did is not known yet; do not repeat this. It is asked again in a minute.",
    Finding.HELD: "What an earlier attempt did is not known yet; do not repeat this. Sending to this program is"
    " paused until the key works again.",
}
