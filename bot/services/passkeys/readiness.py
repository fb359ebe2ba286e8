"""What passkeys rest on is read before it is needed, outside transactions: the audit log, and what is kept of its end.

After a start the log is read in the background. Who comes before that is done is asked to try again, and nobody else
waits for the database meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from bot.domain.errors import CountersignError
from bot.services import audit_anchors
from bot.services.core import Core
from storage.errors import ChangedOutside
from storage.operators import passkeys_on_record

log = logging.getLogger("countersign.passkeys")

# Pieces that somebody waits for; Slack waits three seconds in all.
_PIECES_AT_A_CLICK = 5
_AGAIN_S = 60.0


async def learn(core: Core) -> None:
    """In the background, from the start: all of the log. Where it isn't whole, again and again: it may be repaired."""
    while not core.closing.is_set():
        try:
            if not await _piece(core):
                await core.closing.wait()
        except ChangedOutside as fault:
            log.error("passkeys.log_not_whole", extra={"fault": str(fault)})  # noqa: TRY400 - the sentence is all
            with suppress(TimeoutError):
                await asyncio.wait_for(core.closing.wait(), _AGAIN_S)


async def _piece(core: Core) -> int:
    async with core.store.reading_on, core.store.read() as tx:
        left = await passkeys_on_record.learn(tx)
    await asyncio.sleep(0)  # others first
    return left


async def read_log(core: Core, *, to_its_end: bool = False) -> None:
    """As much as somebody has time to wait for, or all. What is wrong or missing then, the transaction says that needs
    it."""
    pieces = 0
    try:
        while await _piece(core):
            pieces += 1
            if pieces >= _PIECES_AT_A_CLICK and not to_its_end:
                return
    except ChangedOutside:
        return


async def ready(core: Core) -> bool:
    """Before a transaction in which passkeys count. Is it known outside the database that those which count were added?
    Those of which it isn't count once it is; see `proofs.usable`."""
    await read_log(core)
    async with core.store.read() as tx:
        try:
            found = await passkeys_on_record.of(tx)
        except CountersignError:
            return False
    if found.last_added > core.anchors.kept_seq:
        await audit_anchors.catch_up(core, found.last_added)
    return found.last_added <= core.anchors.kept_seq
