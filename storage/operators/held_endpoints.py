"""Which calls the key of a program may not make, as the API said. Ended by deleting the row; the audit keeps both."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, delete, select

from storage import tables as t
from storage.transaction import Tx
from storage.upsert import insert_new

_HELD = select(t.held_endpoint).where(t.held_endpoint.c.program == bindparam("program"))
_OF = _HELD.order_by(t.held_endpoint.c.endpoint)


@dataclass(frozen=True, slots=True)
class HeldEndpoint:
    """`endpoint` is a method and path as the API document writes them; `message` what the API said of it."""

    program: str
    endpoint: str
    message: str
    since: datetime


async def put(tx: Tx, program: str, endpoint: str, message: str) -> bool:
    """False when it is held already; that stands."""
    row = {"program": program, "endpoint": endpoint, "message": message, "since": tx.now}
    return await insert_new(tx, t.held_endpoint, row)


async def of(tx: Tx, program: str) -> list[HeldEndpoint]:
    rows = (await tx.run(_OF, {"program": program})).all()
    return [HeldEndpoint(**row._mapping) for row in rows]


async def drop(tx: Tx, program: str, endpoint: str) -> bool:
    """False when it was not held."""
    h = t.held_endpoint.c
    mine = (h.program == program, h.endpoint == endpoint)
    return bool((await tx.run(delete(t.held_endpoint).where(*mine))).rowcount)
