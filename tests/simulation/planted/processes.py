"""Bugs in claims, leases, locks and loops: who works on what, and whether anybody does."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from sqlalchemy import select, update

from bot.domain.requests import State
from bot.engine.embedded import Embedded
from bot.services import execution
from bot.services.execution import queues
from bot.services.operators import programs
from storage import tables as t
from storage.operators import leases
from storage.requests import requests
from storage.transaction import Tx
from tests.simulation.planted.bug import Acts, Bug, peek, peek_into, put

_WRITES = frozenset({"cards:write", "users:write"})


def _dead_process_keeps_its_claim(stack: ExitStack, acts: Acts) -> None:
    """What a dead process had claimed nobody takes over."""
    honest, row = requests.due, t.request.c

    async def due(tx: Any, **more: Any) -> list[str]:
        found: list[str] = await honest(tx, **more)
        held = peek(tx, select(row.id).where(row.state == State.EXECUTING, row.lease_owner.is_not(None)))
        if not set(found) & set(held) or not acts():
            return found
        return [one for one in found if one not in held]

    put(stack, requests, "due", due)


def _lease_ignored(stack: ExitStack, acts: Acts) -> None:
    """What another process is working on is claimed all the same."""
    honest_due, honest_reserve, row = requests.due, requests.reserve, t.request.c
    honest_any, honest_lasts = requests.any_due, Tx.lasts

    def held_by_others(tx: Any) -> list[str]:
        held = (row.state == State.EXECUTING, row.due_at <= tx.now, row.lease_until >= tx.machine_now)
        return peek(tx, select(row.id).where(*held))

    async def due(tx: Any, *, but_not: Any = (), **more: Any) -> list[str]:
        found = await honest_due(tx, but_not=but_not, **more)
        more_ids = [one for one in held_by_others(tx) if one not in but_not]
        return [*found, *more_ids] if more_ids and acts() else found

    async def any_due(tx: Any) -> bool:
        return await honest_any(tx) or bool(held_by_others(tx) and acts())

    async def lasts(tx: Any, lease_until: Any) -> bool:
        return await honest_lasts(tx, lease_until) and not acts()

    async def take_away(tx: Any, request_id: str) -> None:
        held = peek(tx, select(row.id).where(row.id == request_id, row.lease_until >= tx.machine_now))
        if held and acts():
            await tx.run(update(t.request).where(row.id == request_id).values(lease_until=None))

    async def reserve(tx: Any, request_id: str, **more: Any) -> Any:
        await take_away(tx, request_id)
        return await honest_reserve(tx, request_id, **more)

    put(stack, requests, "due", due)
    put(stack, requests, "any_due", any_due)
    put(stack, Tx, "lasts", lasts)
    put(stack, requests, "reserve", reserve)


def _fence_dropped(stack: ExitStack, acts: Acts) -> None:
    """A process whose claim was taken over writes its outcome all the same."""
    honest, row = requests.finish, t.request.c

    async def finish(tx: Any, request: Any, event: Any, **changes: Any) -> Any:
        same = (row.id == request.id, row.state == request.state, row.fence != request.fence)
        if peek(tx, select(row.id).where(*same)) and acts():
            now = await requests.get(tx, request.id)
            assert now is not None
            request = replace(request, fence=now.fence, lease_owner=now.lease_owner)
        return await honest(tx, request, event, **changes)

    put(stack, requests, "finish", finish)


def _two_hold_one_channel(stack: ExitStack, acts: Acts) -> None:
    """A process sends in a channel although another has it."""
    honest = leases.take

    async def take(tx: Any, names: Any, owner: str, **more: Any) -> frozenset[str]:
        ours: frozenset[str] = await honest(tx, names, owner, **more)
        others = frozenset(name for name in names if name.startswith("channel:")) - ours
        return ours | others if others and acts() else ours

    put(stack, leases, "take", take)


def _paused_for_ever(stack: ExitStack, acts: Acts) -> None:
    honest = programs.resume

    async def resume(core: Any, program: str) -> None:
        if not acts():
            await honest(core, program)

    put(stack, programs, "resume", resume)


def _one_403_stops_everything(stack: ExitStack, acts: Acts) -> None:
    """Any 403 pauses the whole program, until its key has every scope to write."""
    honest_hold, honest_resume, stopped = programs._hold, programs.resume, set[str]()

    async def hold(core: Any, program: str, error: Any) -> None:
        if not acts():
            await honest_hold(core, program, error)
            return
        stopped.add(program)
        await programs.pause(core, program, error)

    async def resume(core: Any, program: str) -> None:
        if program in stopped:
            me = await core.partners[program].me()
            if not set(me.key.scopes) >= _WRITES:
                return
        await honest_resume(core, program)

    put(stack, programs, "_hold", hold)
    put(stack, programs, "resume", resume)


def _no_lane_for_emergencies(stack: ExitStack, acts: Acts) -> None:
    """What is urgent waits behind everything that is due before it."""
    honest = execution.due

    async def due(core: Any, but_not: Any = ()) -> Sequence[Any]:
        found = await honest(core, but_not)
        urgent = {queue.name.split(":")[1]: queue.ids for queue in found if queue.at_once is None}
        if not any(urgent.values()) or not acts():
            return found
        usual: list[queues.Queue] = [queue for queue in found if queue.at_once is not None]
        return [
            replace(queue, ids=[*queue.ids, *urgent[queue.name.split(":")[1]]])
            if queue.name.startswith("money:")
            else queue
            for queue in usual
        ]

    put(stack, execution, "due", due)


def _the_engine_spins(stack: ExitStack, acts: Acts) -> None:
    """What was tried and may not be sent is due again at once, and wakes the engine itself."""
    honest_due, honest_rest, row = execution.due, Embedded._rest, t.request.c
    spins: list[bool] = []

    async def due(core: Any, but_not: Any = ()) -> Sequence[Any]:
        found = await honest_due(core, but_not)
        named = {one for queue in found for one in queue.ids} | set(but_not)
        approved = (row.state == State.APPROVED, row.due_at <= core.clock.now(), row.rows.is_(None))
        left = [one for one in peek_into(core.store, select(row.id).where(*approved)) if one not in named]
        if not left or not acts():
            return found
        spins.append(True)
        return [*found, queues.Queue("again", left, queues.AT_ONCE)]

    def rest(self: Embedded, request_id: str) -> None:
        if spins:
            self._woken.set()
        else:
            honest_rest(self, request_id)

    put(stack, execution, "due", due)
    put(stack, Embedded, "_rest", rest)


BUGS = (
    Bug("a dead process keeps its claim", ("I-6 ends",), _dead_process_keeps_its_claim),
    Bug("the lease is ignored", ("I-18 lease",), _lease_ignored),
    Bug("the fence is dropped", ("I-18 lease",), _fence_dropped),
    Bug("two processes hold one channel", ("I-18 one holder", "I-9 doubled"), _two_hold_one_channel),
    Bug("a refused key stays refused", ("a pause ends",), _paused_for_ever),
    Bug("one 403 stops everything", ("a pause ends",), _one_403_stops_everything, "D8"),
    Bug("no lane for emergencies", ("emergencies first",), _no_lane_for_emergencies, "D13"),
    Bug("the engine spins", ("no loop spins",), _the_engine_spins, "D14"),
)
