"""Work and requests that a lease of nobody holds, or that are due later than they may wait for: who writes to the
database may write it again every minute.

Each process looks for itself, and takes up by force what no process that works has held for some minutes. People are
notified, whoever it was: a lease of ours ends within seconds when its process does. A request on which there is a lease
in a process's own name is nobody's as well while that process knows that it does not hold it.

What was approved and not sent is freed within a minute, or its approval would be over before. That takes nothing from a
slow process but a look: whoever has lost a lease begins no call, because the fence is another then.

A due time is trusted no further than a request may wait for (`timing.latest_try`). What is due later is due now, and
nobody is accused of it: machines have wrong clocks, and one that is set back leaves such times. It takes nothing but a
look that comes early. Only a time that no clock explains is somebody's.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple

from bot.domain.alerts import request_alerts
from bot.domain.requests import State
from bot.outcomes import timing
from bot.services import alerts
from bot.services.core import Core
from storage.errors import LogNotWhole
from storage.log_record import on_record
from storage.messages import alerts as alert_rows
from storage.operators import leases, replicas
from storage.requests import Held
from storage.requests import held as held_requests
from storage.transaction import Tx

log = logging.getLogger("countersign.processes")

# Longer than any process that was killed, or stood still, keeps what it has.
NOBODYS_AFTER_S = 300.0
# The same of a request that was not sent so far: such a lease is for ten seconds, and is renewed every five.
UNSENT_AFTER_S = 30.0
URGENT_AFTER_S = 15.0
# So long after the last time it is over.
QUIET_AFTER_S = 1800.0
# It was free in between, for two looks.
_MISSED_AFTER_S = 75.0
# Longer than any request waits in line for the rate limit, and for its call.
HELD_AFTER = timedelta(minutes=10)
_SILENT_AFTER = timedelta(seconds=30)
# Nothing is due at once after a look that finds it due later: it was its time, or two clocks differ.
_DUE_LATER = timedelta(minutes=1)
# No clock of a machine that works is as wrong as that.
_NO_CLOCK = timedelta(days=366)
_SHOWN = 5
_ABOUT = "leases"


class _Seen(NamedTuple):
    """When a lease was first and last seen with nobody, in seconds, monotonic."""

    first_s: float
    last_s: float

    def lasts(self, seconds: float) -> bool:
        return self.last_s - self.first_s >= seconds

    @property
    def is_ghost(self) -> bool:
        return self.lasts(NOBODYS_AFTER_S)


class Look:
    """At all leases, and all requests that are held or put off; when each was first seen with nobody is in memory,
    where nobody changes it."""

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
            found = await held_requests.due(
                tx, unsent_due_by=tx.now, due_before=tx.now - HELD_AFTER, later_than=tx.now + _DUE_LATER
            )
            ends = await _ends_on_record(tx)
            put_off = {
                one.id for one in found if self._is_put_off(one, tx.now, ends.get(one.id, one.valid_until))
            }
            # One that works may wait for long, for its place in the rate limit.
            nobodys_requests = [
                one for one in found if (one.is_due or one.id in put_off) and self._is_nobodys(one, alive)
            ]
            accused = {one.id for one in found if one.is_due or _is_somebodys(one, tx.now)}
            condition = request_alerts.CHANGED_OUTSIDE.condition(_ABOUT)
            is_known = await alert_rows.open_one(tx, condition) is not None
        ghosts, long = self._ghosts(nobodys, now_s), self._held_long(nobodys_requests, now_s)
        core.store.ghosts = leases.Ghosts(frozenset(ghosts), alive)
        # What cannot wait goes first.
        long.sort(key=lambda one: (not self._is_urgent(one), one.id))
        await self._free(long, put_off)
        reported = [one for one in long if one.id in accused]
        if not ghosts and not reported and not is_known:
            return
        async with core.store.begin() as tx:
            if not ghosts and not reported:
                await alerts.resolve(tx, core, condition)
                return
            said = request_alerts.CHANGED_OUTSIDE.says(
                "rows", what=_in_words(sorted(ghosts), reported, put_off)
            )
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

    def _is_nobodys(self, held: Held, alive: frozenset[str]) -> bool:
        """Its owner does not work, or is this process, which does not hold it; or it has none."""
        core = self._core
        return held.owner not in alive or (held.owner == core.owner and held.id not in core.holding)

    def _is_put_off(self, held: Held, now: datetime, valid_until: datetime | None) -> bool:
        if held.due_at is None:
            return not _is_put_right(held)
        latest = timing.latest_try(
            held.state,
            now,
            is_urgent=self._is_urgent(held),
            is_row=held.is_row,
            valid_until=valid_until,
            first_sent_at=held.first_sent_at,
        )
        return held.due_at > latest

    def _is_urgent(self, held: Held) -> bool:
        cls = self._core.kinds.get(held.kind)
        return cls is not None and cls.handling.is_urgent

    def _held_long(self, held: list[Held], now_s: float) -> list[Held]:
        """Those that were nobody's at each look for long enough: one look is not enough, because a process that died
        may have taken up just before what was due long ago."""
        known = {one: seen for one, seen in self._held.items() if now_s - seen.last_s <= _MISSED_AFTER_S}
        self._held = known | {
            one.id: _Seen(known[one.id].first_s if one.id in known else now_s, now_s) for one in held
        }
        return [one for one in held if self._held[one.id].lasts(self._nobodys_after_s(one))]

    def _nobodys_after_s(self, held: Held) -> float:
        # A lease on what was sent may be of a process that waits for its call; a put-off is nobody's.
        if self._is_urgent(held) and (held.is_unsent or not held.is_due):
            return URGENT_AFTER_S
        return UNSENT_AFTER_S if held.is_unsent else NOBODYS_AFTER_S

    async def _free(self, held: list[Held], put_off: Collection[str]) -> None:
        if not held:
            return
        log.error("leases.nobodys", extra={"requests": [one.id for one in held]})
        async with self._core.store.begin() as tx:
            for one in held:
                await held_requests.free(tx, one, is_put_off=one.id in put_off)
        for one in held:
            if (
                one.id in put_off
            ):  # by a clock that differs it is put off again, and is not to be looked at all the time
                self._held.pop(one.id, None)
        self._core.carrier.wake()


async def _alive(tx: Tx, core: Core) -> frozenset[str]:
    """The owners of processes that work, this one among them."""
    works = await replicas.known(tx, silent_after=_SILENT_AFTER)
    return frozenset({core.owner, *(owner for owner, is_at_work in works.items() if is_at_work)})


async def _ends_on_record(tx: Tx) -> dict[str, datetime]:
    """Until when approvals of requests that have not ended are good, by the audit log, where it says so.

    As far as an approval is ahead of this clock it was given by one that was fast: it is taken as given now, and what
    it lets be sent does not wait until the clock gets there again.
    """
    try:
        known = (await on_record.known(tx)).open
    except LogNotWhole:  # an alert of its own says so
        return {}
    return {
        id_: datetime.fromisoformat(one.until) - _ahead(one.approved_at, tx.now)
        for id_, one in known.items()
        if one.until
    }


def _ahead(approved_at: str | None, now: datetime) -> timedelta:
    return max(datetime.fromisoformat(approved_at) - now, timedelta()) if approved_at else timedelta()


def _is_put_right(held: Held) -> bool:
    """Was it made unresolved by the log? People are asked then, and it is never due. The audit log has these times."""
    sent_when_made = held.first_sent_at == held.created_at
    return held.state is State.UNRESOLVED and sent_when_made and held.key_expires_at is not None


def _is_somebodys(held: Held, now: datetime) -> bool:
    """No process writes such a due time, whatever its clock says."""
    return held.due_at is None or held.due_at > now + _NO_CLOCK


def _in_words(names: list[str], held: list[Held], put_off: Collection[str]) -> str:
    later = [one.id for one in held if one.id in put_off]
    found = [f"the work {name}" for name in names] + [
        f"request {one.id}" for one in held if one.id not in put_off
    ]
    said = [f"a lease of no process is written again and again, and holds {_some(found)}"] if found else []
    if later:
        said.append(f"a time at which it is due that Countersign does not write has held up {_some(later)}")
    return "; ".join(said)


def _some(found: list[str]) -> str:
    more = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    return ", ".join([*found[:_SHOWN], *more])
