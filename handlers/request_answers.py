"""`/requests`: the look-ups about requests, and the cancelling of one's own."""

from __future__ import annotations

from bot.domain.errors import NotFound
from bot.services import lookups, requests
from handlers.looking import Asking, LookUp, NotUnderstood
from handlers.views import replies
from handlers.views.blocks import Block


async def _inbox(asked: Asking) -> Block:
    if asked.rest:
        raise NotUnderstood
    return replies.inbox(await lookups.inbox_of(asked.core, asked.slack_id))


async def _show(asked: Asking) -> Block:
    return replies.request_answer(await lookups.request_picture(asked.core, _named(asked)))


async def _cancel(asked: Asking) -> Block:
    cancelled = await requests.cancel(asked.core, _named(asked), asked.slack_id)
    return replies.said(f"{cancelled.id} is cancelled. Nothing of it was sent.")


def _named(asked: Asking) -> str:
    if not asked.rest:
        raise NotFound(f"Name the request: /requests {asked.command.subcommand} R-XXXX.")
    return asked.rest


LOOK_UPS = (
    LookUp(("requests", ""), _inbox, "/requests", "yours, and those that wait for you"),
    LookUp(
        ("requests", "show"),
        _show,
        "/requests show R-XXXX",
        "one request with everything decided about it",
        shared=True,
    ),
    LookUp(("requests", "cancel"), _cancel, "/requests cancel R-XXXX", "withdraw one of yours"),
)
