"""The processes on this database: what each does, and when it last said that it works. PostgreSQL only."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, select, text

from storage import tables as t
from storage.database import connections_named
from storage.transaction import Tx
from storage.upsert import inserting

# It shows the connections of the whole server, on which there may be a copy of this database.
_CONNECTED = text(
    "SELECT 1 FROM pg_stat_activity WHERE application_name = :name AND datname = current_database() LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class Silent:
    """One that has not said for long that it works; `is_connected`: it holds connections to the database."""

    owner: str
    roles: str
    beat_at: datetime
    is_connected: bool

    @property
    def process(self) -> str:
        """Its machine and its number there."""
        return process_of(self.owner)


def process_of(owner: str) -> str:
    """`host:number` of `host:number:id`."""
    return owner.rsplit(":", 1)[0]


async def begin(tx: Tx, owner: str, roles: str) -> None:
    """This process works from now on. Whoever had its name on this machine is gone."""
    row = t.replica.c
    await tx.run(delete(t.replica).where(row.owner.startswith(f"{process_of(owner)}:", autoescape=True)))
    await beat(tx, owner, roles)


async def beat(tx: Tx, owner: str, roles: str) -> None:
    """It works now."""
    statement = inserting(t.replica, is_postgres=True).values(
        owner=owner, roles=roles, started_at=tx.lease_clock, beat_at=tx.lease_clock
    )
    again = statement.on_conflict_do_update(index_elements=["owner"], set_={"beat_at": tx.lease_clock})
    await tx.run(again)


async def end(tx: Tx, owner: str) -> None:
    """It works no more."""
    await tx.run(delete(t.replica).where(t.replica.c.owner == owner))


async def known(tx: Tx, *, silent_after: timedelta) -> dict[str, bool]:
    """Every process on this database by its owner: has it said lately that it works? Empty on SQLite."""
    if not tx.is_postgres:
        return {}
    row = t.replica.c
    found = await tx.run(select(row.owner, _works(tx, silent_after).label("works")))
    return {one.owner: one.works for one in found}


async def silent(tx: Tx, *, since: timedelta) -> list[Silent]:
    """Those that have not said it for so long."""
    row = t.replica.c
    asked = select(row.owner, row.roles, row.beat_at).where(~_works(tx, since))
    found = (await tx.run(asked.order_by(row.owner))).all()
    return [Silent(one.owner, one.roles, one.beat_at, await _is_connected(tx, one.owner)) for one in found]


def _works(tx: Tx, silent_after: timedelta) -> ColumnElement[bool]:
    """It said so lately. None says it of a time to come, so somebody else wrote that."""
    return t.replica.c.beat_at.between(tx.lease_clock - silent_after, tx.lease_clock + silent_after)


async def at_work(tx: Tx, among: Collection[str], *, silent_after: timedelta) -> list[str]:
    """Those of these owners that said lately that they work, and hold connections to this very database: a copy of it
    has the rows of others, and none of their connections."""
    works = await known(tx, silent_after=silent_after)
    return [owner for owner in among if works.get(owner) and await _is_connected(tx, owner)]


async def _is_connected(tx: Tx, owner: str) -> bool:
    name = connections_named(process_of(owner))
    return (await tx.run(_CONNECTED, {"name": name})).first() is not None
