"""What a person's Home tab shows, read from the database alone: fast, and the same in every process.

What everybody sees is read once for all of them (`shared`), what one person sees is picked from it (`of`).
`fingerprint` tells whether a redraw would show anything new; times of reading are not in it.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.domain.errors import NotAllowed
from bot.domain.people import Standing, require_full_member
from bot.domain.requests import OPEN
from bot.services import people
from bot.services.core import Core
from bot.services.overview import alert_list, status
from bot.services.requests import Pending, request_lookups
from bot.view_models import AlertView, HomeTabView, InboxView, ProgramState
from storage.messages import HomeView, home_views
from storage.messages import alerts as alert_rows
from storage.operators import people as people_rows
from storage.requests import requests

__all__ = [
    "HomeView",
    "Shared",
    "drawn",
    "due",
    "fingerprint",
    "forget",
    "is_old",
    "may_look",
    "of",
    "opened",
    "shared",
]

log = logging.getLogger("countersign.home")

# Slack does not say when somebody leaves Home. It says when they open it, each time they come back to it.
LATELY = timedelta(hours=4)
MOST_VIEWERS = 100
# Where nothing changed, the times of reading are drawn again this often.
AGES_AFTER = timedelta(minutes=5)
_MOST_MINE = 50


@dataclass(frozen=True, slots=True)
class Shared:
    """What does not depend on who looks. `pending`: oldest first."""

    programs: tuple[ProgramState, ...]
    alerts: tuple[AlertView, ...]
    snoozed: int
    pending: tuple[Pending, ...]
    standing: Standing
    requesters: frozenset[str] | None  # None: every full member
    admins: frozenset[str]


async def shared(core: Core) -> Shared:
    """Raises LookupFailed when Slack cannot say who is in the groups."""
    states = tuple([await status.program_state(core, program) for program in sorted(core.partners)])
    names = core.policy.people
    standing = await people.standing_lately(core)
    requesters = await core.directory.members_lately(names.requesters) if names.requesters else None
    admins = await core.directory.members_lately(names.admins or names.approvers)
    async with core.store.read() as tx:
        alerts = await alert_list.open_alerts(tx, core)
        snoozed = sum(alert.state == "snoozed" for alert in await alert_rows.open_ones(tx))
        pending = await request_lookups.pending(tx)
    return Shared(states, alerts, snoozed, tuple(pending), standing, requesters, admins)


async def of(core: Core, known: Shared, slack_id: str) -> HomeTabView:
    """The Home of one person, who may use the app."""
    waiting = request_lookups.waiting_for(slack_id, known.pending, known.standing)
    async with core.store.read() as tx:
        mine = await requests.find(tx, requester=slack_id, states=OPEN, limit=_MOST_MINE)
        person = await people_rows.get(tx, slack_id)
        return HomeTabView(
            inbox=InboxView(waiting, tuple(mine), ()),
            programs=_in_zone(known.programs, person.actor.zone if person else None),
            alerts=known.alerts,
            may_ask=known.requesters is None or slack_id in known.requesters,
            may_decide=slack_id in known.standing.approvers,
            is_admin=slack_id in known.admins,
            at=tx.now,
            snoozed=known.snoozed,
        )


def _in_zone(states: Sequence[ProgramState], zone: ZoneInfo | None) -> tuple[ProgramState, ...]:
    """With the charts of the float in the zone of the person who looks; the team's where none is known."""
    return tuple(_charted_in(state, zone) if zone else state for state in states)


def _charted_in(state: ProgramState, zone: ZoneInfo) -> ProgramState:
    money = state.float
    if money is None or money.history is None:
        return state
    return replace(state, float=replace(money, history=replace(money.history, zone=zone.key)))


def fingerprint(tab: HomeTabView, trouble: Sequence[str] = ()) -> str:
    """Of everything that is worth a redraw."""
    inbox = [(r.id, r.version) for part in (tab.inbox.waiting, tab.inbox.mine) for r in part]
    roles = (tab.may_ask, tab.may_decide, tab.is_admin)
    alerts = [(a.id, a.state, a.severity, a.title, a.acknowledged_by) for a in tab.alerts]
    states = [_state(state) for state in tab.programs]
    visible = repr((inbox, roles, alerts, tab.snoozed, states, list(trouble)))
    return hashlib.sha256(visible.encode()).hexdigest()


def _state(state: ProgramState) -> tuple[object, ...]:
    money = state.float
    figures = (
        (money.balance_usd, money.available_usd, money.pending_usd, money.pending_count) if money else ()
    )
    return (state.program, state.paused, figures, state.funding, state.signing, sorted(state.cards.items()))


async def opened(core: Core, slack_id: str) -> None:
    """This person looks at Home from now on."""
    async with core.store.begin() as tx:
        await home_views.opened(tx, slack_id)


async def drawn(core: Core, slack_id: str, shown: str) -> None:
    """What they see is the picture of this fingerprint."""
    async with core.store.begin() as tx:
        await home_views.published(tx, slack_id, shown)


async def forget(core: Core, slack_id: str) -> None:
    """Nothing more is drawn for them until they open it again."""
    async with core.store.begin() as tx:
        await home_views.drop(tx, slack_id)


async def due(core: Core, seen: str) -> tuple[str, list[HomeView]]:
    """Whose Home may have changed since the marker `seen`, and the marker now.

    Kept in the database, so that a restart, or another process, goes on drawing for those who look.
    """
    async with core.store.read() as tx:
        marker = await home_views.marker(tx)
        viewers = await home_views.since(tx, tx.now - LATELY, limit=MOST_VIEWERS)
        shown = [v for v in viewers if v.published_at is not None]
        return marker, [v for v in shown if marker != seen or is_old(v, tx.now)]


def is_old(viewer: HomeView, now: datetime) -> bool:
    return viewer.published_at is None or now - viewer.published_at >= AGES_AFTER


async def may_look(core: Core, slack_id: str) -> bool:
    """As Slack described them when they were last looked up; who may not opens it again to read that."""
    async with core.store.begin() as tx:
        seen = await people_rows.get(tx, slack_id)
        try:
            if seen is not None:
                require_full_member(seen.actor, core.directory.home_team)
                return True
        except NotAllowed:
            log.info("home.closed", extra={"user": slack_id})
        await home_views.drop(tx, slack_id)
    return False
