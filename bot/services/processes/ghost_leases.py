"""Work and requests that a lease of nobody holds: who writes to the database may write it again every minute.

Each process looks for itself, and takes up by force what no process that works has held for some minutes. People are
notified, whoever it was: a lease of ours ends within seconds when its process does.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import NamedTuple

from bot.domain.alerts import request_alerts
from bot.services import alerts
from bot.services.core import Core
from storage.messages import alerts as alert_rows
from storage.operators import leases, replicas
from storage.requests import requests
from storage.transaction import Tx

log = logging.getLogger("countersign.processes")

# Longer than any process that was killed, or stood still, keeps what it has.
NOBODYS_AFTER_S = 300.0
# So long after the last time it is over.
QUIET_AFTER_S = 1800.0
# It was free in between, for two looks.
_MISSED_AFTER_S = 75.0
# Longer than any request waits in line for the rate limit, and for its call.
HELD_AFTER = timedelta(minutes=10)
_SILENT_AFTER = timedelta(seconds=30)
_SHOWN = 5
_ABOUT = "leases"


class _Seen(NamedTuple):
    """When a lease was first and last seen with nobody, in seconds, monotonic."""

    first_s: float
    last_s: float

    @property
    def is_ghost(self) -> bool:
        return self.last_s - self.first_s >= NOBODYS_AFTER_S


class Look:
    """At all leases, and all requests that are held; when each was first seen with nobody is in memory, where nobody
    changes it."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._seen: dict[str, _Seen] = {}
        self._held: dict[str, _Seen] = {}  # by the id of the request

    async def run(self) -> None:
        """One alert while there are any, until there are none."""
        core = self._core
        now_s = core.clock.monotonic()
        async with core.store.read() as tx:
            alive = await _alive(tx, core)
            nobodys = {name for name, owner in (await leases.held(tx)).items() if owner not in alive}
            found = await requests.held_long(tx, due_before=tx.now - HELD_AFTER)
            # One that works may wait for long, for its place in the rate limit.
            nobodys_requests = {one: owner for one, owner in found.items() if owner not in alive}
            condition = request_alerts.CHANGED_OUTSIDE.condition(_ABOUT)
            is_known = await alert_rows.open_one(tx, condition) is not None
        ghosts, long = self._ghosts(nobodys, now_s), self._held_long(nobodys_requests, now_s)
        core.store.ghosts = leases.Ghosts(frozenset(ghosts), alive)
        await self._free(long)
        if not ghosts and not long and not is_known:
            return
        async with core.store.begin() as tx:
            if not ghosts and not long:
                await alerts.resolve(tx, core, condition)
                return
            said = request_alerts.CHANGED_OUTSIDE.says("rows", what=_in_words(sorted(ghosts), sorted(long)))
            await alerts.keep(tx, core, said, condition=condition, subject=_ABOUT, program="")

    def _ghosts(self, nobodys: set[str], now_s: float) -> set[str]:
        """Those that were nobody's at each look for long enough. What was taken by force stays one of them for a while:
        who writes it again may do that between two looks."""
        lasting = {
            name: seen
            for name, seen in self._seen.items()
            if now_s - seen.last_s <= (QUIET_AFTER_S if seen.is_ghost else _MISSED_AFTER_S)
        }
        again = {name: _Seen(lasting[name].first_s if name in lasting else now_s, now_s) for name in nobodys}
        self._seen = lasting | again
        return {name for name, seen in self._seen.items() if seen.is_ghost}

    def _held_long(self, held: dict[str, str], now_s: float) -> dict[str, str]:
        """Those that were nobody's at each look for long enough: one look is not enough, because a process that died
        may have taken up just before what was due long ago."""
        known = {one: seen for one, seen in self._held.items() if now_s - seen.last_s <= _MISSED_AFTER_S}
        self._held = known | {
            one: _Seen(known[one].first_s if one in known else now_s, now_s) for one in held
        }
        return {one: owner for one, owner in held.items() if self._held[one].is_ghost}

    async def _free(self, held: dict[str, str]) -> None:
        if not held:
            return
        log.error("leases.nobodys", extra={"requests": sorted(held)})
        async with self._core.store.begin() as tx:
            for request_id, owner in sorted(held.items()):
                await requests.free(tx, request_id, owner=owner)
        self._core.carrier.wake()


async def _alive(tx: Tx, core: Core) -> frozenset[str]:
    """The owners of processes that work, this one among them."""
    works = await replicas.known(tx, silent_after=_SILENT_AFTER)
    return frozenset({core.owner, *(owner for owner, is_at_work in works.items() if is_at_work)})


def _in_words(names: list[str], held: list[str]) -> str:
    found = [f"the work {name}" for name in names] + [f"request {one}" for one in held]
    more = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    return (
        f"a lease of no process is written again and again, and holds {', '.join([*found[:_SHOWN], *more])}"
    )
