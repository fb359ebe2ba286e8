"""Facts about this installation, kept in the database: its name, and when it was last tried to write."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, select, text

from storage import tables as t
from storage.columns import time_text
from storage.errors import ChangedOutside
from storage.upsert import upsert

if TYPE_CHECKING:
    from storage.transaction import Tx

INSTANCE = "instance"
_PROBED = "probed_at"
_ANCHORS = "anchor_files"
_VALUE = select(t.meta.c.value).where(t.meta.c.name == bindparam("name"))
# In rows that fill a page each and are not compressed. Not a table that stays: while it does, its old transaction
# number holds back the whole server's.
_MAY_TAKE_ROOM = text("SELECT has_database_privilege(current_database(), 'TEMP')")
_ROOM = (
    text("CREATE TEMPORARY TABLE countersign_room (page text) ON COMMIT DROP"),
    # Within CREATE TABLE it came with PostgreSQL 16.
    text("ALTER TABLE countersign_room ALTER COLUMN page SET STORAGE PLAIN"),
    text("INSERT INTO countersign_room SELECT repeat('x', 7000) FROM generate_series(1, 128)"),
)
_ONE_PAGE = text("PRAGMA cache_size=1")
_MORE_THAN_FITS = 65_536


_NO_NAME = (
    f"The row {INSTANCE} of the table meta, the name of this installation, is gone: somebody changed the database."
    " Nothing sealed can be opened without it, so nothing was started. Keep a copy of the database, and restore a"
    " backup."
)


async def instance(tx: Tx) -> str:
    """Six letters and digits, drawn when the database was made; part of every idempotency key. Raises `ChangedOutside`
    where somebody took it out."""
    found = (await tx.run(_VALUE, {"name": INSTANCE})).scalar_one_or_none()
    if found is None:
        raise ChangedOutside(_NO_NAME)
    return str(found)


async def anchor_files(tx: Tx) -> frozenset[str]:
    """The files outside the database in which anchors of the audit chain were kept."""
    found = (await tx.run(_VALUE, {"name": _ANCHORS})).scalar_one_or_none()
    return frozenset(json.loads(found)) if found else frozenset()


async def note_anchor_files(tx: Tx, paths: Collection[str]) -> None:
    """From now on one that is missing is a disk that is not mounted."""
    known = await anchor_files(tx)
    if not known.issuperset(paths):
        value = json.dumps(sorted(known.union(paths)))
        await upsert(tx, t.meta, [{"name": _ANCHORS, "value": value}], key=("name",))


async def note_probe(tx: Tx, *, takes_room: bool) -> None:
    """Store something, to see that it can be stored. What every change of the product has to lock is locked, too.

    `takes_room`: on PostgreSQL about a megabyte as well, which the disk gets back at the end of the transaction. To
    change a row needs none there: with a full disk that still works, and nothing new can be stored.
    """
    if tx.is_postgres:
        await tx.run(select(t.audit_head.c.seq).with_for_update())
        if takes_room and (await tx.run(_MAY_TAKE_ROOM)).scalar_one():
            for statement in _ROOM:
                await tx.run(statement)
    await upsert(tx, t.meta, [{"name": _PROBED, "value": time_text(tx.now)}], key=("name",))


async def store_at_once(tx: Tx) -> None:
    """On SQLite: so much that it is written to the disk before the end, as memory has room for one page."""
    await tx.run(_ONE_PAGE)
    await upsert(tx, t.meta, [{"name": _PROBED, "value": "x" * _MORE_THAN_FITS}], key=("name",))
