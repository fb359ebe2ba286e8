"""Of several processes one looks at a request: it asks Slack and the API, and the others leave it alone."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.domain.requests import State
from bot.services import execution
from bot.services.core import Core
from bot.services.execution import claims, presend_checks
from storage.requests import requests as rows
from tests.support.waiting import eventually
from tests.support.world import World


def processes(world: World, count: int) -> list[Core]:
    """As many, on one database."""
    return [replace(world.core, owner=f"bot-{number}") for number in range(count)]


async def is_held(world: World, request_id: str) -> bool:
    async with world.store.read() as tx:
        return await tx.lasts((await world.request(request_id)).lease_until)


async def lasts_on(world: World, request_id: str) -> bool:
    """It is not over by the next step."""
    until = (await world.request(request_id)).lease_until
    return until is not None and until >= world.clock.now() + timedelta(seconds=claims.RESERVED_S / 4)


@pytest.mark.parametrize("count", [1, 2, 3])
async def test_the_calls_of_an_execution_are_as_many_however_many_processes_there_are(
    world: World, count: int
) -> None:
    request = await world.top_up("50")
    before = [len(await world.sent(call)) for call in ("GET /me", "POST /topup")]

    await asyncio.gather(*(execution.execute(core, request.id) for core in processes(world, count)))

    assert (await world.request(request.id)).state is State.SUCCEEDED
    after = [len(await world.sent(call)) for call in ("GET /me", "POST /topup")]
    assert [now - then for now, then in zip(after, before, strict=True)] == [1, 1]


async def test_what_was_not_sent_is_given_back(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    request = await world.top_up("50")

    async def later(*_: object) -> presend_checks.Look:
        assert await is_held(world, request.id)
        return presend_checks.Later("Not now.")

    monkeypatch.setattr(presend_checks, "may_go", later)
    await execution.execute(world.core, request.id)

    assert (await world.request(request.id)).state is State.APPROVED
    assert not await is_held(world, request.id)


async def test_what_a_process_that_died_looked_at_is_taken_up_by_another_within_ten_seconds(
    world: World,
) -> None:
    one, other = processes(world, 2)
    request = await world.top_up("50")
    async with world.store.begin() as tx:
        assert await rows.reserve(tx, request.id, owner=one.owner, lease_s=claims.RESERVED_S) is not None

    await execution.execute(other, request.id)
    assert (await world.request(request.id)).state is State.APPROVED

    world.clock.advance(10.1)
    await execution.execute(other, request.id)
    assert (await world.request(request.id)).state is State.SUCCEEDED


async def test_a_look_that_takes_long_keeps_what_it_looks_at(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = await world.top_up("50")
    look = presend_checks.may_go

    async def slow(*given: Any) -> presend_checks.Look:
        for _ in range(16):
            await world.advance(claims.RESERVED_S / 4)
            await eventually("the lease is renewed", lambda: lasts_on(world, request.id))
        return await look(*given)

    monkeypatch.setattr(presend_checks, "may_go", slow)
    await execution.execute(world.core, request.id)

    assert (await world.request(request.id)).state is State.SUCCEEDED


async def test_whoever_lost_what_it_looked_at_sends_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = processes(world, 2)
    request = await world.top_up("50")
    look = presend_checks.may_go

    async def frozen(*given: Any) -> presend_checks.Look:
        found = await look(*given)
        async with world.store.begin() as tx:
            # The clock of the database goes on, and this process stands still.
            tx.now += timedelta(seconds=60)
            assert await rows.reserve(tx, request.id, owner=other.owner, lease_s=60) is not None
        return found

    monkeypatch.setattr(presend_checks, "may_go", frozen)
    await execution.execute(one, request.id)

    found = await world.request(request.id)
    assert (found.state, found.lease_owner) == (State.APPROVED, other.owner)
    assert await world.sent("POST /topup") == []
