"""The Home tab: drawn when it is opened, and again for those who opened it lately when something has changed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain import shared_work
from bot.domain.errors import LookupFailed, NotAllowed, UnknownName
from bot.partner.errors import PartnerError
from bot.services import people
from bot.services.core import Core
from bot.services.execution import maintenance
from bot.services.messages import SlackTrouble, request_links
from bot.services.money import float_lookups
from bot.services.overview import home
from handlers.conversation import dialog
from handlers.guard import Turn
from handlers.slack_api import chart_upload, code_of, retry_after_s, status_of, with_links
from handlers.views import Block, replies
from handlers.views import home as views

log = logging.getLogger("countersign.home")

# Changes of so many seconds are one redraw; Slack takes about a hundred of them a minute [views.publish].
ROUND_S = 3.0
PACE_S = 0.7


async def opened(turn: Turn) -> None:
    """`app_home_opened`; the Messages tab needs no view, only what may be said there."""
    await turn.ack()
    turn.after(_open(turn) if turn.event.get("tab") == "home" else dialog.suggest(turn))


async def _open(turn: Turn) -> None:
    """At once as the database has it; then the float is read, and it is drawn again where that showed more."""
    core, slack_id = turn.core, turn.user
    try:
        await people.require_reader(core, slack_id, action="home")
    except NotAllowed as refusal:
        await turn.client.views_publish(user_id=slack_id, view=views.closed(str(refusal)))
        return
    await home.opened(core, slack_id)
    shown = await _publish(core, turn.client, slack_id, {}, before="")
    trouble = await _read_floats(core)
    await _publish(core, turn.client, slack_id, trouble, before=shown)


async def _read_floats(core: Core) -> Mapping[str, str]:
    """Read what is not fresh; why not, by program, where it cannot be."""
    trouble = {}
    for program in core.partners:
        try:
            await float_lookups.float_now(core, program=program)
        except PartnerError as error:
            trouble[program] = replies.explain(error)
    return trouble


async def _publish(
    core: Core, client: AsyncWebClient, slack_id: str, trouble: Mapping[str, str], *, before: str
) -> str:
    """Draw it unless it would show what it shows (`before`); returns the fingerprint."""
    found, view = await _view_of(core, await _shared(core), slack_id, trouble)
    if found != before:
        await _send(core, client, slack_id, view)
        await home.drawn(core, slack_id, found)
    return found


async def _shared(core: Core) -> home.Shared | UnknownName:
    """What everybody's Home is made of, or which name of the policy nobody has: then nobody knows who may do what."""
    try:
        return await home.shared(core)
    except UnknownName as error:
        return error


async def _view_of(
    core: Core, known: home.Shared | UnknownName, slack_id: str, trouble: Mapping[str, str] | None = None
) -> tuple[str, Block]:
    """One person's Home with its fingerprint."""
    if isinstance(known, UnknownName):
        return str(known), views.closed(str(known))
    model = await home.of(core, known, slack_id)
    found = home.fingerprint(model, sorted((trouble or {}).values()))
    return found, views.home(model, core.offered_kinds, trouble)


async def _send(core: Core, client: AsyncWebClient, slack_id: str, view: Block) -> None:
    """Raises SlackApiError, SlackTrouble."""
    view = await with_links(view, partial(request_links.of, core))

    async def publish(drawn: Block) -> None:
        await client.views_publish(user_id=slack_id, view=drawn)

    try:
        await chart_upload.send(publish, view)
    except SlackApiError:
        raise
    except Exception as error:  # the SDK lets the errors of its HTTP library through as they are
        raise SlackTrouble(f"Home was not taken: {type(error).__name__}") from error


class Homes:
    """Redraws Home for those who opened it lately. One in a process; of several processes one does it."""

    def __init__(self, core: Core, client: AsyncWebClient, *, pace_s: float = PACE_S) -> None:
        self._core = core
        self._client = client
        self._pace_s = pace_s
        self._seen = ""

    async def run(self) -> None:
        """Until cancelled: one look at whether anything changed, then a rest."""
        while True:
            if self._core.holds(shared_work.HOME):
                await self.tend()
            await self._core.clock.sleep(ROUND_S)

    async def tend(self) -> int:
        """Redraw what changed since the last time; returns how many views were sent.

        What everybody sees is read once. A refused redraw is made up for in a later round.
        """
        marker, viewers = await home.due(self._core, self._seen)
        sent = 0
        try:
            if viewers:
                known = await _shared(self._core)
                for viewer in viewers:
                    sent += await self._redraw(known, viewer)
        except (LookupFailed, SlackTrouble) as error:
            log.warning("home.not_redrawn", extra={"error": str(error)})
            return sent
        except SlackApiError as error:
            log.warning("home.not_redrawn", extra={"error": code_of(error)})
            await self._core.clock.sleep(retry_after_s(error) or ROUND_S)
            return sent
        self._seen = marker
        return sent

    async def _redraw(self, known: home.Shared | UnknownName, viewer: home.HomeView) -> bool:
        """Send it where it would show something new, or where the times it shows are old."""
        core, slack_id = self._core, viewer.slack_id
        if not await home.may_look(core, slack_id):
            return False
        found, view = await _view_of(core, known, slack_id)
        if found == viewer.fingerprint and not home.is_old(viewer, core.clock.now()):
            return False
        try:
            await _send(core, self._client, slack_id, view)
        except SlackApiError as error:
            if retry_after_s(error) is not None or status_of(error) >= 500:
                raise
            log.warning("home.refused", extra={"user": slack_id, "error": code_of(error)})
            await home.forget(core, slack_id)
            return False
        await home.drawn(core, slack_id, found)
        await core.clock.sleep(self._pace_s)
        return True


async def members_changed(turn: Turn) -> None:
    """`subteam_members_changed`: can the policy still be met by the people it names?"""
    await turn.ack()
    turn.after(maintenance.check_policy(turn.core))
