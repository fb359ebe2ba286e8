"""Leases: which of several processes does what one at a time does, until it stops renewing or gives it back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Executable, Select, bindparam, delete, or_, select

from storage import tables as t
from storage.transaction import Tx, lease_clock, lease_end, lease_holds
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
    given = {**tx.lease_times(lasts), "asks": owner}
    if nobodys := ghosts.names.intersection(names):
        given |= {"nobodys": sorted(nobodys), "alive": sorted(ghosts.alive)}
    # What others hold is left alone: asking for it would lock its row, and they would wait to renew it.
    others = await tx.run(_of_others(tx.is_postgres, bool(nobodys)), {**given, "names": sorted(names)})
    free = sorted(set(names) - set(others.scalars()))
    if not free:
        return frozenset()
    given["unreadable"] = [name for name in free if tx.set_aside.find(t.lease.name, name) is not None]
    given |= {f"name_{number}": name for number, name in enumerate(free)}
    taken = await tx.run(_taking(tx.is_postgres, bool(nobodys), len(free)), given)
    return frozenset(taken.scalars())


# Each process asks every few seconds, mostly for the same ones, so the statements are built once.


@cache
def _of_others(is_postgres: bool, has_ghosts: bool) -> Select[Any]:
    lease = t.lease.c
    is_asked = lease.name.in_(bindparam("names", expanding=True))
    is_free = _is_free(is_postgres, has_ghosts)
    return select(lease.name).where(is_asked, lease.owner != bindparam("asks"), ~is_free)


@cache
def _taking(is_postgres: bool, has_ghosts: bool, count: int) -> Executable:
    lease, statement = t.lease.c, inserting(t.lease, is_postgres=is_postgres)
    row = {"owner": bindparam("asks"), "until": lease_end(is_postgres=is_postgres)}
    rows = [{"name": bindparam(f"name_{number}"), **row} for number in range(count)]
    is_unreadable = lease.name.in_(bindparam("unreadable", expanding=True))
    taken = statement.values(rows).on_conflict_do_update(
        index_elements=["name"],
        set_={"owner": statement.excluded.owner, "until": statement.excluded.until},
        where=or_(lease.owner == bindparam("asks"), _is_free(is_postgres, has_ghosts), is_unreadable),
    )
    made: Executable = taken.returning(lease.name)
    return made


def _is_free(is_postgres: bool, has_ghosts: bool) -> ColumnElement[bool]:
    lease = t.lease.c
    # Over, or for longer than any of ours: then whoever writes to the database wrote it, to have nothing done.
    is_over = lease.until <= lease_clock(is_postgres=is_postgres)
    is_free = or_(is_over, ~lease_holds(lease.until, is_postgres=is_postgres))
    if not has_ghosts:
        return is_free
    is_nobodys = lease.name.in_(bindparam("nobodys", expanding=True))
    return or_(is_free, is_nobodys & lease.owner.not_in(bindparam("alive", expanding=True)))


async def held(tx: Tx) -> dict[str, str]:
    """Those that keep others out now, with their owners: 10,000 at most, far more than there are of ours."""
    found = await tx.run(_held(tx.is_postgres), tx.times)
    return {one.name: one.owner for one in found}


@cache
def _held(is_postgres: bool) -> Select[Any]:
    lease = t.lease.c
    asked = select(lease.name, lease.owner).where(lease_holds(lease.until, is_postgres=is_postgres))
    return asked.order_by(lease.name).limit(_MOST)


async def give_back(tx: Tx, names: Collection[str], owner: str) -> None:
    """Free for the next to ask; nothing happens to those that are somebody else's."""
    await tx.run(delete(t.lease).where(t.lease.c.name.in_(names), t.lease.c.owner == owner))


async def give_back_all(tx: Tx, owner: str) -> None:
    """All that this owner has."""
    await tx.run(delete(t.lease).where(t.lease.c.owner == owner))
