"""Can the database be written now? It is tried with a row of its own, and what is in the way is said in sentences.

To read says nothing of it: a full disk, a file system that has become read-only and a lock that somebody holds leave
every reading as it was.
"""

from __future__ import annotations

import asyncio

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoFreeConnection

from storage.faults import explained, lacks_room
from storage.sqlite import Misplaced
from storage.store import Store

# Below the time a probe has (`bot.web.CHECK_TIMEOUT_S`).
ANSWERS_WITHIN_S = 1.8
_MISPLACED = {
    Misplaced.REPLACED: "{shown} is not the file that Countersign has open: another file was put in its place while"
    " Countersign ran",
    Misplaced.GONE: "{shown} is gone: the file was deleted or moved while Countersign ran",
    Misplaced.LOG: "{shown}-wal is not the file that Countersign has open: it was replaced, moved or deleted while"
    " Countersign ran",
}
_NOTHING_BY_IT = (
    "{what}, so nothing is read, approved or sent. {kept} Stop Countersign, put the newest database in place, and"
    " start: the runbook says how, under “The database file was replaced or deleted”."
)
_KEPT = "What Countersign had open is kept as {path}."
_NOT_KEPT = (
    "What Countersign had open could not be kept beside it yet. Don't stop Countersign before it is: it tries again by"
    " itself, so make room there."
)
_NO_ANSWER = "{shown} does not answer. Check that the database server runs and can be reached."
_SLOW = "{shown} takes longer than two seconds to store one row. Check the load of its disk and server."


async def why_not_written(store: Store, *, leaves_nothing: bool = False) -> str:
    """Why nothing can be stored now and what to do, in sentences; empty where it can.

    `leaves_nothing`: what is stored to see that it can be is taken back.
    """
    shown = store.database.shown
    if why := await misplaced(store):
        return why
    try:
        async with asyncio.timeout(ANSWERS_WITHIN_S):
            await store.probe(leaves_nothing=leaves_nothing)
    except (TimeoutError, NoFreeConnection):
        return _SLOW.format(shown=shown)
    except SQLAlchemyError as error:
        return await asyncio.to_thread(explained, error, store.database)
    except OSError:
        return _NO_ANSWER.format(shown=shown)
    return lacks_room(store.database)


async def misplaced(store: Store) -> str:
    """That the SQLite file at its path is not the one that is open, what was done about it, and what to do; empty where
    it is, and on PostgreSQL."""
    found = store.misplaced()
    if found is None:
        return ""
    path = await store.keep_what_is_open()
    kept = _KEPT.format(path=path) if path is not None else _NOT_KEPT
    return _NOTHING_BY_IT.format(what=_MISPLACED[found].format(shown=store.database.shown), kept=kept)
