"""Texts that nobody understood, kept masked for an operator to read, where `[conversation] keep_unread` is true."""

from __future__ import annotations

import logging

from bot import intents
from bot.intents import Facts
from bot.services.core import Core
from storage.messages import unread_texts
from storage.operators import people

log = logging.getLogger("countersign.conversation")


async def keep(core: Core, text: str, facts: Facts) -> None:
    """Keep a text without its values: no card, amount, date, number or name. Nothing where nothing is left of it."""
    async with core.store.read() as tx:
        names = await people.names(tx)
    left = intents.masked(text, facts, names)
    if not left:
        return
    async with core.store.begin() as tx:
        await unread_texts.add(tx, core.ids.ulid(), left)


async def prune(core: Core) -> None:
    """Forget what is older than `unread_texts.KEPT_FOR`."""
    async with core.store.begin() as tx:
        count = await unread_texts.drop_old(tx)
    if count:
        log.info("conversation.unread_pruned", extra={"count": count})
