"""The button under a link to card details: its value is the request's id, and the database decides."""

from __future__ import annotations

from bot.domain.errors import NotFound
from bot.services.cards import details_link
from handlers.guard import Turn
from handlers.views import replies


async def new_link(turn: Turn) -> None:
    """Another link for who asked, in a message of its own."""
    request_id = str(turn.action.get("value") or "")
    await turn.ack()
    if not request_id.startswith("R-"):
        raise NotFound("This button belongs to no request. Look at /requests.")
    turn.after(_new_link(turn, request_id))


async def _new_link(turn: Turn, request_id: str) -> None:
    await details_link.another_link(turn.core, request_id, turn.user)
    await turn.tell(replies.said("A new link is on its way. The old one no longer works."))
