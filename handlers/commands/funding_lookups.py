"""`/funding`: the look-ups about funding of the float."""

from __future__ import annotations

from bot.domain.errors import NotFound
from bot.services.money import funding_lookups
from handlers.commands.lookup import Asking, LookUp
from handlers.views import Block
from handlers.views.lookups import funding


async def _list(asked: Asking) -> Block:
    found = await funding_lookups.funding_list(asked.core, program=asked.program)
    return funding.funding_list(found, asked.program, f"funding list {asked.program}", asked.page)


async def _show(asked: Asking) -> Block:
    if not asked.rest:
        raise NotFound("Name the submission: /funding show ID-OR-HASH. /funding list shows them.")
    found = await funding_lookups.funding_show(asked.core, asked.rest.split()[0], program=asked.program)
    link = await asked.link_to(found.request_id) if found.request_id else ""
    return funding.funding_answer(found, link)


async def _addresses(asked: Asking) -> Block:
    found = await funding_lookups.funding_addresses(asked.core, program=asked.program)
    return funding.addresses(found)


LOOK_UPS = (
    LookUp(
        ("funding", "list"),
        _list,
        "/funding list",
        "submissions and where they stand, stuck ones first",
        shared=True,
    ),
    LookUp(
        ("funding", "show"),
        _show,
        "/funding show ID-OR-HASH",
        "one submission, its reason in plain words",
        shared=True,
    ),
    # Never shared: a copy in a channel would be an address that somebody remembers.
    LookUp(("funding", "addresses"), _addresses, "/funding addresses", "where to send, read live"),
)
