"""What events said is forgotten in time: payloads of the inbox, and copies that nobody took.

The events themselves stay known by their ids, so that nothing that comes again is handled again.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from bot.domain.events import Retention
from bot.services.core import Core
from bot.services.events import relay
from storage.events import inbox

log = logging.getLogger("countersign.retention")

# In one transaction; deliveries wait for it.
_AT_ONCE = 500


async def prune(core: Core, keeps: Retention) -> None:
    """Forget what is older than it has to be, in the file's log as well."""
    forgotten = await _payloads(core, keeps.events) + await relay.drop_dead(core, keeps.relay)
    if forgotten:
        log.info("retention.pruned", extra={"count": forgotten})
        await core.store.checkpoint()


async def _payloads(core: Core, kept_for: timedelta) -> int:
    forgotten = 0
    while True:
        async with core.store.begin() as tx:
            count = await inbox.purge_payloads(tx, before=tx.now - kept_for, limit=_AT_ONCE)
        forgotten += count
        if count < _AT_ONCE:
            return forgotten
