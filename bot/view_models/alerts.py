"""Alerts, their threads, mute rules, the daily digest and audit anchors as values for the views."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.operations import Line
from bot.view_models.money import FloatHistory


@dataclass(frozen=True, slots=True)
class AlertView:
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
    acknowledged_by: str = ""  # display names
    held_until: datetime | None = None  # of the acknowledgement or the snooze
    assigned_to: str = ""
    is_mutable: bool = True
    can_try_now: bool = True  # what it is about waits for its next try, and no pause holds that up
    history: FloatHistory | None = None  # of the float, where it is what the alert is about
    requests: tuple[str, ...] = ()  # ids of the requests that the same thing came from
    links: tuple[tuple[str, str], ...] = ()  # their ids, with the addresses of their messages
    mentions: tuple[str, ...] = ()  # Slack ids of the groups and people whom it calls
    draft_only: bool = False  # requests are for practice: nothing is sent


@dataclass(frozen=True, slots=True)
class AlertLineView:
    """One line of an alert's thread. `actor`: a display name, empty for Countersign; `mentions`: Slack ids of people
    or groups."""

    actor: str
    text: str
    mentions: tuple[str, ...]
    live: bool
    draft_only: bool = False


@dataclass(frozen=True, slots=True)
class AlertChartView:
    """The course of the float as a file for an alert's thread, where Slack took no chart in the alert itself."""

    name: str
    history: FloatHistory


@dataclass(frozen=True, slots=True)
class DigestView:
    """What happened since the digest before: `lines` and `still_open` as they are written.

    `first`: float, requests that wait and open alerts in a line; empty in digests of older versions. `waiting` are
    requests: what, since when, until when; `waiting_in_all` counts those that are not listed, too.
    """

    day: str
    lines: tuple[Line, ...]
    still_open: tuple[str, ...]
    live: bool
    first: str = ""
    waiting: tuple[tuple[str, datetime, datetime], ...] = ()
    waiting_in_all: int = 0
    draft_only: bool = False


@dataclass(frozen=True, slots=True)
class AlertsView:
    """`/countersign alerts`: what is open, and the mute rules in force."""

    alerts: tuple[AlertView, ...]
    mutes: tuple[MuteView, ...]


@dataclass(frozen=True, slots=True)
class MuteView:
    name: str
    kind: str
    about: str
    by: str
    until: datetime | None


@dataclass(frozen=True, slots=True)
class AnchorView:
    """Where the audit chain ends, as one line of JSON that `audit verify --anchors` reads."""

    seq: int
    line: str
