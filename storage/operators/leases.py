"""Leases: which of several processes does what one at a time does, until it stops renewing or gives it back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete, or_, select

from storage import tables as t
from storage.transaction import Tx
from storage.upsert import inserting


@dataclass(frozen=True, slots=True)
class Ghosts:
    """Leases that nobody who works has held for long, by their names: somebody writes them again and again. `alive`:
    the owners of all processes that work."""

    names: frozenset[str] = frozenset()
    alive: frozenset[str] = frozenset()


NO_GHOSTS = Ghosts()
_MOST = 10_000


async def take(
    tx: Tx, names: Collection[str], owner: str, *, lasts: timedelta, ghosts: Ghosts = NO_GHOSTS
) -> frozenset[str]:
    """Take or renew these for `lasts` from now; returns those that are this owner's then. Those of `ghosts` are free,
    unless a process that works has them by now."""
    lease = t.lease.c
    # Over, or for longer than any of ours: then whoever writes to the database wrote it, to have nothing done.
    is_free = or_(lease.until <= tx.lease_clock, ~tx.lease_holds(lease.until))
    if nobodys := ghosts.names.intersection(names):
        is_free = or_(is_free, lease.name.in_(nobodys) & lease.owner.not_in(ghosts.alive))
    others = select(lease.name).where(lease.name.in_(names), lease.owner != owner, ~is_free)
    # What others hold is left alone: asking for it would lock its row, and they would wait to renew it.
    free = sorted(set(names) - set((await tx.run(others)).scalars()))
    if not free:
        return frozenset()
    unreadable = [name for name in free if tx.set_aside.find(t.lease.name, name) is not None]
    statement = inserting(t.lease, is_postgres=tx.is_postgres)
    until = tx.lease_end(lasts)
    taken = statement.values([{"name": name, "owner": owner, "until": until} for name in free])
    taken = taken.on_conflict_do_update(
        index_elements=["name"],
        set_={"owner": statement.excluded.owner, "until": statement.excluded.until},
        where=or_(lease.owner == owner, is_free, lease.name.in_(unreadable)),
    )
    return frozenset((await tx.run(taken.returning(lease.name))).scalars())


async def held(tx: Tx) -> dict[str, str]:
    """Those that keep others out now, with their owners: 10,000 at most, far more than there are of ours."""
    lease = t.lease.c
    asked = select(lease.name, lease.owner).where(tx.lease_holds(lease.until))
    found = await tx.run(asked.order_by(lease.name).limit(_MOST))
    return {one.name: one.owner for one in found}


async def give_back(tx: Tx, names: Collection[str], owner: str) -> None:
    """Free for the next to ask; nothing happens to those that are somebody else's."""
    await tx.run(delete(t.lease).where(t.lease.c.name.in_(names), t.lease.c.owner == owner))


async def give_back_all(tx: Tx, owner: str) -> None:
    """All that this owner has."""
    await tx.run(delete(t.lease).where(t.lease.c.owner == owner))
