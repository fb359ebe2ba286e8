"""The Home tab, drawn for its owner each time it is opened."""

from __future__ import annotations

from bot.domain.errors import NotAllowed
from bot.partner.errors import PartnerError
from bot.services import lookups, people, upkeep
from bot.services.core import Core
from handlers import answers
from handlers.guard import Turn
from handlers.views import home, replies
from handlers.views.blocks import Block


async def opened(turn: Turn) -> None:
    """`app_home_opened`; the Messages tab needs no view."""
    await turn.ack()
    if turn.event.get("tab") == "home":
        turn.after(_publish(turn))


async def _publish(turn: Turn) -> None:
    try:
        view = await _home(turn.core, turn.user)
    except NotAllowed as refusal:
        view = home.closed(str(refusal))
    await turn.client.views_publish(user_id=turn.user, view=view)


async def _home(core: Core, slack_id: str) -> Block:
    await people.require_member(core, slack_id, action="home")
    may_ask, _ = await answers.roles(core, slack_id)
    inbox = await lookups.inbox_of(core, slack_id)
    try:
        money, trouble = await lookups.float_now(core), ""
    except PartnerError as error:
        money, trouble = None, replies.explain(error)
    return home.home(inbox, money, core.kinds, may_ask=may_ask, float_trouble=trouble)


async def members_changed(turn: Turn) -> None:
    """`subteam_members_changed`: can the policy still be met by the people it names?"""
    await turn.ack()
    turn.after(upkeep.check_policy(turn.core))
