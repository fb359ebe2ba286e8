"""A request and a batch as values for the views: the card, its thread, its forms and dialogs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from bot.domain.events import RequestPage
from bot.domain.requests import Decision, Request, State
from bot.domain.time import Period
from bot.operations import Concern, Line
from bot.partner.secret import Secret


@dataclass(frozen=True, slots=True)
class BulkRowView:
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
    warnings: tuple[str, ...] = ()  # what speaks against it, each to be read after its card's name

    @property
    def size(self) -> int:
        """How many characters it takes as it was asked for: what pages are made by."""
        return len(self.summary) + sum(len(label) + len(value) + 8 for label, value in self.private) + 6


@dataclass(frozen=True, slots=True)
class BatchView:
    """How the rows of a batch stand: counts by state, and the rows that are asked for."""

    states: Mapping[State, int]
    rows: tuple[BulkRowView, ...]
    can_be_asked_again: bool = False  # the rows of which nothing came, once it has ended


@dataclass(frozen=True, slots=True)
class BulkPreviewView:
    """What a batch would do, before anything is recorded. `approvers` are Slack ids of who may approve it now."""

    draft_id: str
    kind: str
    title: str
    verb: str
    summary: str
    total_usd: Decimal
    lines: tuple[Line, ...]
    concerns: tuple[Concern, ...]
    rows: tuple[BulkRowView, ...]
    approvals_needed: int
    approvers: tuple[str, ...]
    program: str
    live: bool


@dataclass(frozen=True, slots=True)
class ResultsView:
    """A file for a request's thread. `content` is CSV in which no cell runs as a formula."""

    request_id: str
    name: str
    text: str
    content: str
    live: bool
    draft_only: bool = False


@dataclass(frozen=True, slots=True)
class RequestView:
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
    batch: BatchView | None = None
    paused: str = ""  # why nothing is sent to its program now, in a sentence
    waits_for: tuple[str, ...] = ()  # approved: the ids of what was sent on the same target and goes first
    can_be_cancelled: bool = False  # by the requester, whoever looks
    waiting: tuple[Request, ...] = ()  # what cannot wait and has not happened: itself, or rows of the batch
    alert_id: str = ""  # the newest alert about what goes on after it
    alert_link: str = ""  # the address of that alert's message
    mentions: tuple[str, ...] = ()  # Slack ids of the groups and people who can act on it now
    draft_only: bool = False  # nothing is sent for it: its program is for drafts
    sent_from: datetime | None = None  # approved: not sent before then, so that an approver can stop it
    cool_off: timedelta = timedelta(0)  # pending: how long after its last approval it is sent at the earliest


@dataclass(frozen=True, slots=True)
class LineView:
    """One line of the request's thread. `line` is a word of the list in `handlers.views.requests.request_card`."""

    request: Request
    line: str
    actor: str  # the display name of who did it; empty for Countersign
    text: str
    decisions: tuple[Decision, ...]
    approver_names: tuple[str, ...]
    live: bool
    mentions: tuple[str, ...] = ()  # as in `RequestView`, of a line that asks somebody to act
    draft_only: bool = False  # as in `RequestView`


@dataclass(frozen=True, slots=True)
class DirectView:
    """A direct message to the requester: what became of their request."""

    request: Request
    code: str
    actor: str  # the display name of who did it; empty for Countersign
    link: str | None  # permalink of the card, where there is one
    live: bool
    paused: str = ""  # why nothing is sent to its program now, in a sentence
    waiting: tuple[Request, ...] = ()  # as in `RequestView`
    waits_for: tuple[str, ...] = ()  # as in `RequestView`
    sent_from: datetime | None = None  # as in `RequestView`
    unposted: str = ""  # why its card is not in the approvals channel yet, in sentences
    channel: str = ""  # the approvals channel's id, where the message is about that posting
    draft_only: bool = False  # as in `RequestView`


@dataclass(frozen=True, slots=True)
class LinkView:
    """The one-time link to a card's details, for the requester alone. `url` is as good as the details."""

    request: Request
    url: Secret = field(repr=False)
    good_until: datetime
    again_until: datetime  # another link may be had until then
    live: bool


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The confirmation modal, drawn from the database and bound to `request.digest`.

    `changed` says what is different from the facts shown at submit.
    """

    view: RequestView
    lines: tuple[Line, ...]
    concerns: tuple[Concern, ...]
    changed: tuple[str, ...]
    facts_read: bool  # False: the API could not be read just now
    last_read: str = ""  # then when what is shown was read, with its age; "" = never
    waits: bool = False  # for another request on the same target, also once it is approved


@dataclass(frozen=True, slots=True)
class BatchConfirmation:
    """One page of the confirmation of a batch. `rows` are all that are asked for, private values as typed."""

    found: Confirmation
    rows: tuple[BulkRowView, ...]
    page: int  # from 1


@dataclass(frozen=True, slots=True)
class InboxView:
    """`/requests` and Home: what waits for this person, what they asked for, what was decided lately."""

    waiting: tuple[Request, ...]
    mine: tuple[Request, ...]
    recent: tuple[Request, ...]
    name: str = ""  # of this person, where somebody else looks


@dataclass(frozen=True, slots=True)
class CardRequestsView:
    """The requests about one card. `newest` is the first of them in full, None on later pages and where there is none.

    `kind` is the title of the operation kind asked for, empty for all.
    """

    card_id: str
    label: str
    kind: str
    period: Period | None
    found: RequestPage
    newest: RequestView | None
    read_at: datetime
