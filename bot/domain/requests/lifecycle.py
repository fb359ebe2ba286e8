"""The life of a request: its states, the events that move it, and nothing else that could move it.

Everything that changes a request's state goes through `advance`, or, where one statement of SQL has to
move whatever state it finds, through `moves_of`: both read the table below, which is the whole graph. A state
that is absent from an event's row cannot be left by that event. `docs/approvals.md` draws its diagram from
this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from bot.domain.errors import IllegalTransition
from bot.domain.ids import short_hashes
from bot.domain.requests.stages import Stage


class State(StrEnum):
    """Where a request stands, in the words shown to people."""

    PENDING = "pending"
    APPROVED = "approved"
    EXECUTING = "executing"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNRESOLVED = "unresolved"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class Event(StrEnum):
    """What can happen to a request."""

    APPROVE = "approve"  # the deciding approval: the policy's quorum is met
    BREAK_GLASS = "break_glass"  # Freeze now: the requester's own decision, confirmed afterwards
    REJECT = "reject"
    CANCEL = "cancel"
    EXPIRE = "expire"
    CLAIM = "claim"  # an executor took it; committed before any byte leaves
    SUCCEED = "succeed"
    FAIL = "fail"  # proved that nothing moved, or that it came back
    LOSE_SIGHT = "lose_sight"  # nobody knows the outcome, and the retries are used up
    LAND_LATE = "land_late"  # the late-landing sweep found proof that a request given up as failed was done
    REOPEN = "reopen"  # that sweep found money of it moved, and no proof of what became of it


TRANSITIONS: Mapping[State, Mapping[Event, State]] = {
    State.PENDING: {
        Event.APPROVE: State.APPROVED,
        Event.BREAK_GLASS: State.APPROVED,
        Event.REJECT: State.REJECTED,
        Event.CANCEL: State.CANCELLED,
        Event.EXPIRE: State.EXPIRED,
    },
    State.APPROVED: {
        Event.CLAIM: State.EXECUTING,
        Event.CANCEL: State.CANCELLED,
        Event.EXPIRE: State.EXPIRED,
    },
    State.EXECUTING: {
        Event.CLAIM: State.EXECUTING,
        Event.SUCCEED: State.SUCCEEDED,
        Event.FAIL: State.FAILED,
        Event.LOSE_SIGHT: State.UNRESOLVED,
    },
    State.UNRESOLVED: {
        Event.CLAIM: State.UNRESOLVED,
        Event.SUCCEED: State.SUCCEEDED,
        Event.FAIL: State.FAILED,
    },
    State.FAILED: {Event.LAND_LATE: State.SUCCEEDED, Event.REOPEN: State.UNRESOLVED},
    State.SUCCEEDED: {},
    State.REJECTED: {},
    State.CANCELLED: {},
    State.EXPIRED: {},
}

HEADLINE = 100
"""So many characters of a summary are a title; a longer one is shown whole below it."""

OPEN = frozenset({State.PENDING, State.APPROVED, State.EXECUTING, State.UNRESOLVED})
TERMINAL = frozenset(State) - OPEN
UNSENT = frozenset({State.PENDING, State.APPROVED})
SENT = frozenset({State.EXECUTING, State.SUCCEEDED, State.FAILED, State.UNRESOLVED})
# What counts towards the rolling limits of the policy.
COMMITTED = frozenset({State.APPROVED, State.EXECUTING, State.SUCCEEDED, State.UNRESOLVED})


def advance(state: State, event: Event) -> State:
    """The state after `event`; raises `IllegalTransition` where the table has no such move."""
    try:
        return TRANSITIONS[state][event]
    except KeyError:
        raise IllegalTransition(state, event) from None


def moves_of(event: Event) -> Mapping[State, State]:
    """Every state that may take `event`, and the one it leads to."""
    return {state: moves[event] for state, moves in TRANSITIONS.items() if event in moves}


@dataclass(frozen=True, slots=True)
class Request:
    """One asked-for operation. The row of the `request` table, without its sealed columns.

    `terms` are the field values as people approve them, private ones masked. `exposure_usd` is what
    policy limits count. `digest` covers everything that will be sent. `key` is the one
    Idempotency-Key this request ever uses.
    """

    id: str
    program: str
    kind: str
    state: State
    version: int
    requester: str
    requester_name: str
    reason: str
    terms: Mapping[str, str]
    subject: str
    subject_label: str
    summary: str
    exposure_usd: Decimal
    digest: str
    key: str
    approvals_needed: int
    policy_version: str
    created_at: datetime
    expires_at: datetime
    facts: Mapping[str, Any] = field(default_factory=dict)
    body_mac: str = ""
    break_glass: bool = False
    approved_at: datetime | None = None
    valid_until: datetime | None = None
    first_sent_at: datetime | None = None
    due_at: datetime | None = None
    remind_at: datetime | None = None
    key_expires_at: datetime | None = None
    attempts: int = 0
    fence: int = 0
    lease_owner: str | None = None
    lease_until: datetime | None = None
    outcome_unknown: bool = False
    needs_person: bool = False
    outcome: Mapping[str, Any] | None = None
    outcome_text: str = ""
    stage: Stage | None = None  # of a success whose effect goes on after the call; None = it ended with it
    finished_at: datetime | None = None
    # A batch is a request that stands for its rows and sends nothing itself; a row is a request of its own.
    rows: int | None = None  # of a batch: how many rows are asked for
    parent_id: str | None = None  # of a row: its batch

    @property
    def word(self) -> str:
        """What people read for where it stands: its stage where it has one, else its state."""
        return (self.stage or self.state).value

    @property
    def headline(self) -> str:
        """The summary with its transaction hash short, for titles and lists; the digest is of the whole summary."""
        return short_hashes(self.summary)

    @property
    def needs_whole_summary(self) -> bool:
        """Does a title leave something of the summary out?"""
        return self.headline != self.summary or len(self.summary) > HEADLINE

    @property
    def is_open(self) -> bool:
        return self.state in OPEN

    @property
    def is_batch(self) -> bool:
        return self.rows is not None

    @property
    def row_number(self) -> int:
        """Which row of its batch it is, from 1; 0 = it was not asked for as a row, whatever its `parent_id` says."""
        return int(self.facts.get("row", 0))


NOTHING_MOVED, CAME_BACK = "nothing moved", "it came back"
EITHER = f"{NOTHING_MOVED}, or {CAME_BACK}"
RETURNED = "returned_usd"
"""What an outcome keeps of money that came back to the float after all, in USD, by this name."""
# The same of what a look saw to have come back.
_RETURNS = ("refund_usd", RETURNED)


#: In the outcome of a request that was called failed and is open again: since when, as ISO text.
REOPENED_AT = "reopened_at"


def reopening(request: Request) -> dict[str, Any]:
    """Of an outcome, what is to be kept of a reopening; empty where it never was reopened."""
    at = (request.outcome or {}).get(REOPENED_AT)
    return {} if at is None else {REOPENED_AT: at}


def is_of_before(said_at: datetime, request: Request) -> bool:
    """Was this said of how the request ended before it was reopened? Then it was of something else."""
    at = (request.outcome or {}).get(REOPENED_AT)
    return at is not None and said_at < datetime.fromisoformat(at)


def money_of_a_failure(request: Request) -> str:
    """What is known of the money of a request that failed, in the words that stand beside its state.

    A call that was refused outright moved nothing. After a doubt, or where the refusal itself may have been one that
    gave money back, that is known only where the ledger was read.
    """
    found = request.outcome or {}
    if any(found.get(name) for name in _RETURNS):
        return CAME_BACK
    if found.get("debit_usd", "") is None:
        return NOTHING_MOVED
    return EITHER if request.outcome_unknown or found.get("may_have_come_back") else NOTHING_MOVED


@dataclass(frozen=True, slots=True)
class PendingHold:
    """What requests not sent yet (`UNSENT`) will take from one program's float.

    `usd` is the sum of their exposure, `count` how many they are; a batch counts by its rows. Kinds that take
    nothing from the float are not in it.
    """

    usd: Decimal
    count: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """One time we called the Partner API for a request; unanswered until `answered_at` is set."""

    id: str
    request_id: str
    number: int
    fence: int
    owner: str
    purpose: str  # send | replay | look
    sent_at: datetime
    answered_at: datetime | None = None
    status: int | None = None
    code: str | None = None
    certainty: str | None = None
    finding: str | None = None
    detail: str = ""
