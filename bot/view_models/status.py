"""What Slack shows of Countersign as a whole: its state, a person's Home, and what would be if."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from bot.domain.money import format_usd
from bot.domain.requests import ApprovalHealth
from bot.operations import Line, stage_of
from bot.view_models.alerts import AlertView
from bot.view_models.money import FloatView
from bot.view_models.requests import InboxView


@dataclass(frozen=True, slots=True)
class OpenFunding:
    """A submission that is not final, as last read; `amount_usd` None while it is not verified."""

    id: str
    name: str
    network: str
    status: str
    amount_usd: Decimal | None
    since: datetime

    @property
    def word(self) -> str:
        """What its request's message calls it."""
        return stage_of(self.status, None).value

    @property
    def text(self) -> str:
        amount = f", {format_usd(self.amount_usd)}" if self.amount_usd is not None else ""
        return f"{self.name} on {self.network}: {self.word}{amount}, since {self.since:%Y-%m-%d %H:%M} UTC"


@dataclass(frozen=True, slots=True)
class Freshness:
    """When each part was last read; None = never. `what` is a noun: "float", "events"."""

    what: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class ProgramState:
    """One program. `paused` says why nothing is sent, empty while it is; `may_resume`: people paused it."""

    program: str
    live: bool
    paused: str
    may_resume: bool
    float: FloatView | None
    funding: tuple[OpenFunding, ...]
    signing: str  # of the webhook's secret: current, previous, lost or none
    last_delivery_at: datetime | None
    fresh: tuple[Freshness, ...]
    cards: Mapping[str, int]  # by state
    draft_only: bool = False  # requests are for practice: nothing is sent


@dataclass(frozen=True, slots=True)
class StatusView:
    """`/countersign status`. `requests` are open ones by state; `trouble` by program where it was not read.

    `approvals` are figures of the last 30 days.
    """

    at: datetime
    programs: tuple[ProgramState, ...]
    requests: Mapping[str, int]
    oldest_waiting_at: datetime | None
    alerts: tuple[AlertView, ...]
    trouble: Mapping[str, str]
    approvals: ApprovalHealth


@dataclass(frozen=True, slots=True)
class HomeTabView:
    """The Home tab of one person. `alerts` are those not snoozed; `snoozed` counts the others."""

    inbox: InboxView
    programs: tuple[ProgramState, ...]
    alerts: tuple[AlertView, ...]
    may_ask: bool
    may_decide: bool
    is_admin: bool
    at: datetime
    snoozed: int = 0


@dataclass(frozen=True, slots=True)
class WhatIfView:
    """The answer to "could we …": a verdict, the figures it follows from, and what stands in the way.

    `most`: how many would fit just now; None where nothing limits it.
    """

    asked: str
    fits: bool
    verdict: str
    lines: tuple[Line, ...]
    obstacles: tuple[str, ...]
    most: int | None
    program: str
    live: bool
    float_read_at: datetime
    needed_usd: Decimal


@dataclass(frozen=True, slots=True)
class CodePerson:
    """Who gets one-time codes. `holders`: of the open cards with this reference, as the directory has them."""

    partner_ref: str
    slack_id: str
    holders: tuple[str, ...]
