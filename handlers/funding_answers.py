"""`/funding`: the look-ups about funding of the float."""

from __future__ import annotations

from bot.domain.errors import NotFound
from bot.services import lookups
from handlers.looking import Asking, LookUp
from handlers.views import replies
from handlers.views.blocks import Block


async def _list(asked: Asking) -> Block:
    return replies.funding_list(await lookups.funding_list(asked.core, program=asked.program), asked.program)


async def _show(asked: Asking) -> Block:
    if not asked.rest:
        raise NotFound("Name the submission: /funding show ID-OR-HASH. /funding list shows them.")
    wanted = asked.rest.split()[0]
    return replies.funding_answer(await lookups.funding_show(asked.core, wanted, program=asked.program))


async def _addresses(asked: Asking) -> Block:
    found = await lookups.funding_addresses(asked.core, program=asked.program)
    return replies.addresses(found, asked.program)


LOOK_UPS = (
    LookUp(("funding", "list"), _list, "/funding list", "submissions and where they stand"),
    LookUp(
        ("funding", "show"), _show, "/funding show ID-OR-HASH", "one submission, its reason in plain words"
    ),
    LookUp(("funding", "addresses"), _addresses, "/funding addresses", "where to send, read live"),
)
