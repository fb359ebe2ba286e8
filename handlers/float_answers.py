"""`/float`: the look-ups about the program's money."""

from __future__ import annotations

from bot.services import lookups
from handlers.looking import Asking, LookUp, NotUnderstood
from handlers.views import replies
from handlers.views.blocks import Block


async def _now(asked: Asking) -> Block:
    if asked.rest:
        raise NotUnderstood
    return replies.float_answer(await lookups.float_now(asked.core, program=asked.program))


LOOK_UPS = (
    LookUp(
        ("float", ""), _now, "/float", "balance, available, and what pending requests will take", shared=True
    ),
)
