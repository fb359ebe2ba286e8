"""The policy, who decides, delegations, the webhook and one-time codes as values for the views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from bot.domain.people import Tier
from bot.operations import Line
from bot.partner.secret import Secret


@dataclass(frozen=True, slots=True)
class CodeView:
    """The one-time code of a purchase, for the one person who gets it. Never stored, never in a channel."""

    label: str
    where: str
    code: Secret = field(repr=False)
    good_until: datetime
    live: bool


@dataclass(frozen=True, slots=True)
class WebhookView:
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
class PolicyView:
    """`/countersign policy` and `who`: each kind's approvals, tiers, expiry, in words by the view."""

    rows: tuple[PolicyRow, ...]
    requesters: tuple[str, ...]
    approvers: tuple[str, ...]
    admins: tuple[str, ...]
    limits: tuple[Line, ...]
    version: str
    delegations: tuple[DelegationView, ...] = ()


@dataclass(frozen=True, slots=True)
class DelegationView:
    """Who decides in whose place, as the reviewed file names them, until before `until`."""

    away: str
    delegate: str
    since: datetime
    until: datetime
    reason: str
    in_force: bool


@dataclass(frozen=True, slots=True)
class PasskeyView:
    """One of one's own. `state`: active, waiting, waiting_for_two, waiting_for_second (one of two has confirmed it),
    expired (nobody confirmed it in time) or changed (by hand).

    `code`: to compare with whoever confirms it; empty unless it waits. `fingerprint`: to read out to an auditor; empty
    unless it works.
    """

    id: str
    name: str
    state: str
    created_at: datetime
    used_at: datetime | None
    code: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class PasskeysView:
    """`/countersign passkey`. `others`: Slack id and number of passkeys that count, for approvers and admins.
    `fault`: why nobody can add one now; empty where one can."""

    mine: tuple[PasskeyView, ...]
    others: tuple[tuple[str, int], ...]
    is_set_up: bool
    is_needed: bool
    fault: str = ""


@dataclass(frozen=True, slots=True)
class PolicyRow:
    kind: str
    title: str
    approvals: int
    tiers: tuple[Tier, ...]
    expires: str
    run_now: str  # the words of its checkbox for being sent at once; "" = it is offered none
    passkey_above_usd: Decimal | None = None  # approved with a passkey above this; 0 = always, None = never
    cool_off: timedelta = timedelta(0)  # it is sent so long after its last approval at the earliest


@dataclass(frozen=True, slots=True)
class WhoView:
    """Who may approve a kind requested by `requester`, now."""

    title: str
    approvals: int
    able: tuple[str, ...]  # Slack ids
    names: tuple[str, ...]
    requester: str
    in_place_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of those able by delegation
    tiers: tuple[Tier, ...] = ()
    granted_usd: Decimal | None = None  # by the requester in 24 hours, where a tier looks at it
