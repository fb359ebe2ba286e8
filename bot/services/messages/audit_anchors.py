"""Anchors: where the audit chain ended, kept outside the database.

A chain alone does not show that its tail was cut off or that an old backup was put back; an anchor
outside does. Each goes to the log, to an append-only file beside an SQLite database, and to the
audit channel where one is set.
"""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path

from bot.services import outbox_messages
from bot.services.core import Core
from storage import audit
from storage.audit import Anchor
from storage.store import Store

log = logging.getLogger("countersign.audit")


def file_beside(store: Store) -> Path | None:
    """The file beside an SQLite database; PostgreSQL's anchors are in the log and the audit channel."""
    path = store.database.path
    return None if path is None else path.with_name(path.name + ".anchors")


def read(path: Path) -> list[Anchor]:
    """The anchors in the file; empty where there is none. Raises ValueError for a line that is no anchor."""
    if not path.exists():
        return []
    return [Anchor.from_line(line) for line in path.read_text().splitlines() if line.strip()]


def _append(path: Path, line: str) -> None:
    with path.open("a") as file:
        file.write(line + "\n")
        file.flush()
        os.fsync(file.fileno())


async def drop(core: Core) -> None:
    """State where the chain ends now, in every place outside the database."""
    path = file_beside(core.store)
    async with core.store.begin() as tx:
        anchor = await audit.anchor(tx)
        if anchor is None:
            return
        if core.channels.audit:
            await outbox_messages.anchor(tx, core, anchor)
    log.info(
        "audit.anchor", extra={"seq": anchor.seq, "hash": anchor.hash, "mac": anchor.mac, "at": anchor.at}
    )
    if path is not None:
        await asyncio.to_thread(_append, path, anchor.line())
