"""Anchors: where the audit chain ended, kept outside the database.

A chain alone does not show that its tail was cut off or that an older copy was put back; an anchor outside does. Each
goes to the log, to the audit channel where one is set, to a file beside an SQLite database, and to the file or the
command of the settings. Files and the command are read at each start. In safe mode none is written: the newer database
may be put back, and these would not be of it.
"""

from __future__ import annotations

import logging

from bot.services import outbox_messages
from bot.services.core import Core
from storage import audit, instance
from storage.operators import safe_mode

log = logging.getLogger("countersign.audit")

EVERY_ENTRIES = 100


async def drop(core: Core) -> None:
    """State where the chain ends now, in every place outside the database."""
    async with core.store.begin() as tx:
        anchor = await audit.anchor(tx)
        if anchor is None:
            return
        is_safe_mode = await safe_mode.current(tx) is not None
        if core.channels.audit and not is_safe_mode:
            await outbox_messages.anchor(tx, core, anchor)
    log.info(
        "audit.anchor", extra={"seq": anchor.seq, "hash": anchor.hash, "mac": anchor.mac, "at": anchor.at}
    )
    if not is_safe_mode:
        await core.anchors.write(anchor)
        kept = [str(path) for path in core.anchors.kept_in() if path != core.store.database.anchors_beside]
        if kept and core.anchors.noted != kept:
            async with core.store.begin() as tx:
                await instance.note_anchor_files(tx, kept)
            core.anchors.noted = kept


async def drop_if_due(core: Core) -> None:
    """Once there are so many entries that no anchor tells of."""
    async with core.store.read() as tx:
        end = await audit.head(tx)
    if end.seq - core.anchors.last_seq >= EVERY_ENTRIES:
        await drop(core)
