"""What Slack shows, as values: read from the database by the services, drawn by `handlers.views`.

No blocks here and no sentences that depend on Slack; a picture holds all a view needs, so views can
be pure functions of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from bot.domain.events.statements import CardStatement, PurchaseLine
from bot.domain.requests.approvals import Decision
from bot.domain.requests.lifecycle import Request, State
from bot.domain.secret import Secret
from bot.domain.time.periods import Period
from bot.operations._base import Concern, Line


@dataclass(frozen=True, slots=True)
class BulkRowPicture:
    """One row of a batch; `number` from 1, `line` in the file. Before the submission it has no id and no state."""

    number: int
    line: int
    summary: str
    id: str = ""
    version: int = 0
    state: State | None = None
    text: str = ""  # what came of it
    is_left_out: bool = False
    private: tuple[Line, ...] = ()  # as typed, for the approver's modal alone


@dataclass(frozen=True, slots=True)
class BatchPicture:
    """How the rows of a batch stand: counts by state, and the rows that are asked for."""

    states: Mapping[State, int]
    rows: tuple[BulkRowPicture, ...]
    can_be_asked_again: bool = False  # the rows of which nothing came, once it has ended


@dataclass(frozen=True, slots=True)
class BulkPreviewPicture:
    """What a batch would do, before anything is recorded. `approvers` are Slack ids of who may approve it now."""

    draft_id: str
    kind: str
    title: str
    verb: str
    summary: str
    total_usd: Decimal
    lines: tuple[Line, ...]
    concerns: tuple[Concern, ...]
    rows: tuple[BulkRowPicture, ...]
    approvals_needed: int
    approvers: tuple[str, ...]
    program: str
    live: bool


@dataclass(frozen=True, slots=True)
class ResultsPicture:
    """A file for a request's thread. `content` is CSV in which no cell runs as a formula."""

    request_id: str
    name: str
    text: str
    content: str


@dataclass(frozen=True, slots=True)
class RequestPicture:
    """The request card. `lines` and `concerns` are as of submit; `code` is the short code of the terms."""

    request: Request
    title: str  # of the kind: "Top up a card"
    code: str
    decisions: tuple[Decision, ...]
    lines: tuple[Line, ...]
    concerns: tuple[Concern, ...]
    approver_names: tuple[str, ...]  # as the policy writes them: "@card-approvers"
    live: bool
    next_look_at: datetime | None = None
    batch: BatchPicture | None = None
    paused: str = ""  # why nothing is sent to its program now, in a sentence


@dataclass(frozen=True, slots=True)
class LinePicture:
    """One line of the request's thread. `line` is a word of the list in `handlers.views.requests.request_card`."""

    request: Request
    line: str
    actor: str
    text: str
    decisions: tuple[Decision, ...]
    approver_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DirectPicture:
    """A direct message to the requester: what became of their request."""

    request: Request
    code: str
    actor: str
    link: str | None  # permalink of the card, where there is one
    deciders: tuple[str, ...] = ()  # who decided on it, as the outcome may name them
    paused: str = ""  # why nothing is sent to its program now, in a sentence


@dataclass(frozen=True, slots=True)
class FloatPoint:
    """The float at a moment, in USD, and what came in and went out since the moment before."""

    at: datetime
    balance_usd: Decimal
    funded_usd: Decimal
    spent_usd: Decimal


@dataclass(frozen=True, slots=True)
class FloatHistory:
    """What a chart of the float shows; at least two points, the oldest first."""

    program: str
    floor_usd: Decimal
    points: tuple[FloatPoint, ...]
    stretches: tuple[tuple[FloatPoint, ...], ...]  # each reading, parted where nobody read for long
    zone: str  # the reader's, or the team's where several read it

    @property
    def until(self) -> datetime:
        """The end of what is shown; the last reading may be older."""
        return self.points[-1].at


@dataclass(frozen=True, slots=True)
class AlertPicture:
    """One condition someone should look at. `state`: raised, acknowledged, snoozed, resolved."""

    id: str
    kind: str
    subject: str
    severity: str  # info | warning | critical
    state: str
    title: str
    text: str
    count: int
    raised_at: datetime
    updated_at: datetime
    resolved_at: datetime | None
    live: bool
    acknowledged_by: str = ""
    held_until: datetime | None = None  # of the acknowledgement or the snooze
    assigned_to: str = ""
    is_mutable: bool = True
    history: FloatHistory | None = None  # of the float, where it is what the alert is about


@dataclass(frozen=True, slots=True)
class AlertLinePicture:
    """One line of an alert's thread. `mentions` are Slack ids of people, or of groups."""

    actor: str
    text: str
    mentions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AlertChartPicture:
    """The course of the float as a file for an alert's thread, where Slack took no chart in the alert itself."""

    name: str
    history: FloatHistory


@dataclass(frozen=True, slots=True)
class CodePicture:
    """The one-time code of a purchase, for the one person who gets it. Never stored, never in a channel."""

    label: str
    where: str
    code: Secret = field(repr=False)
    good_until: datetime


@dataclass(frozen=True, slots=True)
class LinkPicture:
    """The one-time link to a card's details, for the requester alone. `url` is as good as the details."""

    request: Request
    url: Secret = field(repr=False)
    good_until: datetime
    again_until: datetime  # another link may be had until then


@dataclass(frozen=True, slots=True)
class DigestPicture:
    """What happened since the digest before: `lines` and `still_open` as they are written."""

    day: str
    lines: tuple[Line, ...]
    still_open: tuple[str, ...]
    live: bool


@dataclass(frozen=True, slots=True)
class AlertsPicture:
    """`/countersign alerts`: what is open, and the mute rules in force."""

    alerts: tuple[AlertPicture, ...]
    mutes: tuple[MutePicture, ...]


@dataclass(frozen=True, slots=True)
class MutePicture:
    name: str
    kind: str
    about: str
    by: str
    until: datetime | None


@dataclass(frozen=True, slots=True)
class AnchorPicture:
    """Where the audit chain ends, as one line of JSON that `audit verify --anchors` reads."""

    seq: int
    line: str


Picture = (
    RequestPicture
    | LinePicture
    | DirectPicture
    | AlertPicture
    | AlertLinePicture
    | AlertChartPicture
    | CodePicture
    | LinkPicture
    | DigestPicture
    | AnchorPicture
    | ResultsPicture
)


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The confirmation modal, drawn from the database and bound to `request.digest`.

    `changed` says what is different from the facts shown at submit.
    """

    picture: RequestPicture
    lines: tuple[Line, ...]
    concerns: tuple[Concern, ...]
    changed: tuple[str, ...]
    facts_read: bool  # False: the API could not be read just now


@dataclass(frozen=True, slots=True)
class RunwayPicture:
    """How long the float lasts at the pace of the last days, requests that wait included.

    `at` None: longer than `looked_ahead_hours`; `known` False: too little was seen to tell.
    """

    floor_usd: Decimal
    known: bool
    hours: float | None = None
    at: datetime | None = None
    looked_ahead_hours: int = 0


@dataclass(frozen=True, slots=True)
class FloatPicture:
    """`/float`: amounts exact; `read_at` is when the API said so."""

    program: str
    balance_usd: str
    available_usd: str
    funded_usd: str
    spent_usd: str
    limit_usd: str | None
    pending_usd: str
    pending_count: int
    cards_total: int
    cards_active: int
    cards_limit: int | None
    read_at: datetime
    live: bool
    history: FloatHistory | None = None
    runway: RunwayPicture | None = None
    period: Period | None = None


@dataclass(frozen=True, slots=True)
class WebhookPicture:
    """`/countersign webhook`. `url` None = nothing registered; `signing`: current, lost or none."""

    program: str
    url: str | None
    updated_at: datetime | None
    our_url: str
    signing: str
    secret_since: datetime | None
    last_delivery_at: datetime | None
    may_change: bool
    live: bool


@dataclass(frozen=True, slots=True)
class CardPicture:
    """One card. `balance_usd` None = unknown, never zero; amounts as exact text."""

    id: str
    holder: str
    last4: str | None
    partner_ref: str | None
    status: str | None
    balance_usd: str | None
    read_at: datetime | None
    program: str
    open_requests: tuple[Request, ...] = ()
    history: tuple[Request, ...] = ()
    frozen_by: Request | None = None  # the freeze of ours that holds; None: it is not ours
    statement: CardStatement | None = None  # None: the history could not be read
    declines: tuple[PurchaseLine, ...] = ()  # of the last 24 h


@dataclass(frozen=True, slots=True)
class CardListPicture:
    cards: tuple[CardPicture, ...]
    total: int
    status: str | None
    page: int
    pages: int
    read_at: datetime | None


@dataclass(frozen=True, slots=True)
class FundingPicture:
    """One submission; `words` is its reason in plain words with the next step."""

    id: str
    network: str
    tx_hash: str
    status: str
    words: str
    token: str | None
    amount_usd: str | None
    fee_usd: str | None
    credited_usd: str | None
    created_at: datetime
    credited_at: datetime | None
    request_id: str | None
    age: timedelta | None = None  # of one that is not final
    usual: timedelta | None = None  # nine of ten on its network took at most this
    overdue: str = ""  # `more than 6 h`


@dataclass(frozen=True, slots=True)
class AddressPicture:
    network: str
    address: str
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InboxPicture:
    """`/requests` and Home: what waits for this person, what they asked for, what was decided lately."""

    waiting: tuple[Request, ...]
    mine: tuple[Request, ...]
    recent: tuple[Request, ...]


@dataclass(frozen=True, slots=True)
class PolicyPicture:
    """`/countersign policy` and `who`: each kind's approvals, tiers, expiry, in words by the view."""

    rows: tuple[PolicyRow, ...]
    requesters: tuple[str, ...]
    approvers: tuple[str, ...]
    admins: tuple[str, ...]
    limits: tuple[Line, ...]
    version: str
    delegations: tuple[DelegationPicture, ...] = ()


@dataclass(frozen=True, slots=True)
class DelegationPicture:
    """Who decides in whose place, as the reviewed file names them, until before `until`."""

    away: str
    delegate: str
    since: datetime
    until: datetime
    reason: str
    in_force: bool


@dataclass(frozen=True, slots=True)
class PolicyRow:
    kind: str
    title: str
    approvals: int
    tiers: tuple[tuple[str, int], ...]  # (above USD, approvals)
    expires: str
    run_now: bool


@dataclass(frozen=True, slots=True)
class WhoPicture:
    """Who may approve a kind asked for by `requester`, now."""

    title: str
    approvals: int
    able: tuple[str, ...]  # Slack ids
    names: tuple[str, ...]
    requester: str
    in_place_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of those able by delegation
