"""`/countersign people`: who gets the one-time codes of which reference; `map` and `unmap` change it."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.errors import NotFound
from bot.services.core import Core
from bot.services.operators import otp_recipients
from handlers.commands.lookup import mentioned
from handlers.views import Block, replies
from handlers.views.lookups import otp_recipients as people_views

_HOW = "Write /countersign people, people map REFERENCE @person, or people unmap REFERENCE."


async def answer(core: Core, slack_id: str, rest: str) -> Block:
    """Raises NotFound and NotAllowed with what to do instead."""
    words = rest.split()
    if not words:
        return people_views.code_people(await otp_recipients.known(core, slack_id))
    if words[0].lower() == "map" and len(words) >= 3:
        return await named(core, slack_id, words[1:])
    if words[0].lower() == "unmap" and len(words) >= 2:
        return replies.said(await otp_recipients.unname(core, slack_id, " ".join(words[1:])))
    raise NotFound(_HOW)


async def named(core: Core, slack_id: str, words: Sequence[str]) -> Block:
    """`REFERENCE @person`, where a reference may have spaces; `REFERENCE none` ends it."""
    *reference, who = words
    partner_ref = " ".join(reference)
    if who.lower() == "none":
        return replies.said(await otp_recipients.unname(core, slack_id, partner_ref))
    found = await core.directory.members([mentioned(who) or f"@{who.removeprefix('@')}"])
    if len(found) != 1:
        raise NotFound(f"Name one person. {_HOW}")
    return replies.said(await otp_recipients.ask(core, slack_id, partner_ref, min(found)))
