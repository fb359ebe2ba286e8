"""`/card`: the look-ups about cards."""

from __future__ import annotations

from bot.domain.errors import NotFound
from bot.services import lookups
from handlers.looking import Asking, LookUp
from handlers.views import replies
from handlers.views.blocks import Block

_STATUSES = ("ACTIVE", "FROZEN", "BLOCKED")


async def _list(asked: Asking) -> Block:
    words = asked.rest.upper().split()
    status = next((s for s in _STATUSES if s in words), None)
    page = next((int(w) for w in words if w.isascii() and w.isdigit() and len(w) < 6), asked.page)
    return replies.card_list(await lookups.card_list(asked.core, status=status, page=page))


async def _show(asked: Asking) -> Block:
    if not asked.rest:
        raise NotFound("Name the card: /card show 4242, or a name, reference or id.")
    return replies.card_answer(await lookups.card_now(asked.core, asked.rest))


LOOK_UPS = (
    LookUp(
        ("card", "list"),
        _list,
        "/card list [active|frozen|blocked]",
        "the cards, with balances",
        shared=True,
    ),
    LookUp(("card", "show"), _show, "/card show CARD", "one card: status, balance, requests", shared=True),
)
