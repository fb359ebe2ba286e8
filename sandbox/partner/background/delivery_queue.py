"""Which deliveries leave now: accounts side by side, up to eight of one account at once (Delivery rules 3).

Timers and deliveries keep the order of the clock as far as one can depend on the other. A failed attempt is
tried again after a minute at the earliest, so what falls due within that minute may travel beside it.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from datetime import timedelta
from typing import Any

import msgspec

from sandbox.partner import codec
from sandbox.partner.accounts import all_accounts
from sandbox.partner.background import deliveries, due_timers
from sandbox.partner.calls import chaos
from sandbox.partner.state import UnderWay, World

AT_ONCE_MOST = 8


async def catch_up(world: World) -> None:
    """Run every timer and attempt every delivery that is due by the clock; returns when none is under way."""
    world.catching_up += 1
    try:
        while True:
            await start_due(world)
            travelling = [task for task, one in world.under_way.items() if one.epoch == world.epoch]
            if not travelling:
                return
            await asyncio.wait(travelling, return_when=asyncio.FIRST_COMPLETED)
    finally:
        world.catching_up -= 1


async def start_due(world: World) -> None:
    """Start what may leave now, running the timers before it first. What it started goes on by itself."""
    async with world.delivering:
        while True:
            event = _next_due(world)
            before = world.store.changes
            await due_timers.run_due_in_turns(world, until=_earliest(world))
            if world.store.changes != before:  # a timer may have queued something that is due sooner
                continue
            if event is None:
                return
            _start(world, event)


def _travelling(world: World) -> list[UnderWay]:
    return [one for one in world.under_way.values() if one.epoch == world.epoch]


def _stopped(world: World) -> list[str]:
    """Accounts whose deliveries stand still, each with its own reason."""
    return [
        one.id
        for one in all_accounts(world)
        if one.settings.suspended and one.settings.suspended_deliveries == "stop"
    ]


def _next_due(world: World) -> Any:
    """The delivery that is due first of those that may leave; under `reorder` the newest."""
    how = deliveries.mode(world)
    if how == "pause":
        return None
    travelling = _travelling(world)
    most = 1 if how == "reorder" or deliveries.serial(world) else AT_ONCE_MOST
    busy = [account for account, count in Counter(one.account for one in travelling).items() if count >= most]
    soonest_retry = min((one.at for one in travelling), default=world.clock.now()) + deliveries.FIRST_BACKOFF
    held = "SELECT value FROM json_each(?)"
    where = f"next_at <= ? AND account NOT IN ({held}) AND id NOT IN ({held})"
    until = codec.stamp(min(world.clock.now(), soonest_retry))
    given = (until, _listed(_stopped(world) + busy), _listed([one.event_id for one in travelling]))
    newest = f"SELECT * FROM events WHERE {where} ORDER BY seq DESC LIMIT 1"  # noqa: S608 - literals of this function
    oldest = f"SELECT * FROM events WHERE {where} ORDER BY next_at, seq LIMIT 1"  # noqa: S608 - the same
    if how == "reorder":
        return world.store.one(newest, *given)
    first = world.store.one(oldest, *given)
    if first is not None and chaos.lets_the_newest_go_first(world, first["id"], first["attempts"]):
        return world.store.one(newest, *given)
    return first


def _earliest(world: World) -> str | None:
    """How far timers may run: to the first delivery that is due or under way."""
    travelling = _travelling(world)
    moments = [codec.stamp(one.at) for one in travelling]
    if deliveries.mode(world) != "pause":
        row = world.store.one(
            "SELECT min(next_at) AS at FROM events WHERE next_at <= ?"
            " AND account NOT IN (SELECT value FROM json_each(?)) AND id NOT IN (SELECT value FROM json_each(?))",
            codec.stamp(world.clock.now()),
            _listed(_stopped(world)),
            _listed([one.event_id for one in travelling]),
        )
        moments += [row["at"]] if row and row["at"] else []
    return min(moments, default=None)


def _listed(values: list[str]) -> str:
    return msgspec.json.encode(values).decode()


def _start(world: World, event: Any) -> None:
    if not _travelling(world):
        world.busy_since = time.monotonic()
    # A queue that takes its time must not sign with moments long past.
    running = world.clock.mode == "realtime"
    lag = timedelta(seconds=time.monotonic() - world.busy_since) if running else timedelta(0)
    at = min(world.clock.now(), codec.moment(event["next_at"]) + lag)
    leaving = UnderWay(event["id"], event["account"], at, world.epoch)
    task = asyncio.create_task(_travel(world, event, leaving))
    world.under_way[task] = leaving


async def _travel(world: World, event: Any, leaving: UnderWay) -> None:
    """One delivery; what it leaves behind and its end are one step to everybody else."""
    try:
        await deliveries.deliver(world, event, leaving.at)
    finally:
        for task in [task for task, one in world.under_way.items() if one is leaving]:
            del world.under_way[task]
        world.stirred.set()


async def stop(world: World) -> None:
    """Give up what is under way: the simulator ends."""
    tasks = list(world.under_way)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
