"""An answer of the API is known in one place until it is written: no blip of the database may lose it.

The database fails at each of its uses in turn, once for every execution, and the answer is there in the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from bot.domain.requests import State
from bot.partner.client import PartnerClient
from bot.partner.models import TopUp
from bot.services import execution
from storage.events import webhook_secrets
from storage.requests import requests as rows
from storage.store import Store
from storage.transaction import Tx
from tests.services.outcome_steps import execute, top_ups
from tests.support.kinds import asked
from tests.support.waiting import eventually
from tests.support.world import World


class Blips:
    """The database refuses the writing transactions with these numbers, counted while it is `on`."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        self.refused: set[int] = set()
        self.count = 0
        self.on = False
        begin, blips = Store.begin, self

        @asynccontextmanager
        async def begin_or_not(store: Store) -> AsyncIterator[Tx]:
            async with begin(store) as tx:
                yield tx
                if blips.on:
                    blips.count += 1
                    if blips.count in blips.refused:
                        raise OperationalError("COMMIT", None, Exception("database is locked"))

        monkeypatch.setattr(Store, "begin", begin_or_not)

    def came_to(self, count: int) -> bool:
        return self.count >= count


@pytest.fixture
def blips(world: World, monkeypatch: pytest.MonkeyPatch) -> Blips:
    return Blips(world, monkeypatch)


def from_the_answer_on(world: World, blips: Blips) -> None:
    """The blips begin when the API has answered."""

    def reached(point: str) -> None:
        blips.on = blips.on or point == "execution.answered"

    world.rebuild(crash_point=reached)


@pytest.mark.parametrize("refused", [{1}, {1, 2}, {1, 2, 3}])
async def test_an_answer_is_written_although_the_database_refuses_it_at_first(
    world: World, blips: Blips, refused: set[int]
) -> None:
    request = await world.top_up("50")
    from_the_answer_on(world, blips)
    blips.refused = refused

    done = await execute(world, request)

    assert done.state is State.SUCCEEDED
    (attempt,) = await world.attempts(request.id)
    assert attempt.status == 200


@pytest.mark.parametrize("kind", ["webhook_register", "webhook_rotate"])
async def test_the_only_copy_of_a_secret_outlives_a_blip_of_the_database(
    world: World, blips: Blips, kind: str
) -> None:
    request = await asked(world, kind)
    await world.approve(request)
    from_the_answer_on(world, blips)
    blips.refused = {1}

    assert (await execute(world, request)).state is State.SUCCEEDED

    assert await secret_is_known(world)


async def secret_is_known(world: World) -> bool:
    async with world.store.read() as tx:
        newest = await webhook_secrets.newest(tx, "main")
    return newest is not None and newest.state == "current"


class HeldAnswer:
    """The API answers a top-up, and the answer is not here before the test lets it come."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.comes = asyncio.Event()
        top_up, held = PartnerClient.top_up, self

        async def top_up_late(client: PartnerClient, *given: Any, **more: Any) -> TopUp:
            answer = await top_up(client, *given, **more)
            await held.comes.wait()
            return answer

        monkeypatch.setattr(PartnerClient, "top_up", top_up_late)


async def test_a_renewal_that_fails_is_tried_again_and_the_answer_is_kept(
    world: World, blips: Blips, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = await world.top_up("50")
    answer = HeldAnswer(monkeypatch)
    world.rebuild(crash_point=lambda point: setattr(blips, "on", point == "execution.claimed"))
    blips.refused = {1, 2}

    going = asyncio.create_task(execution.execute(world.core, request.id))
    await eventually("it is being called", lambda: blips.on)
    for renewals in (1, 2, 3):
        world.clock.advance(10)
        await eventually("a renewal was tried", partial(blips.came_to, renewals))
    async with world.store.read() as tx:
        held = await rows.get(tx, request.id)
    answer.comes.set()
    await going

    assert held is not None
    assert held.lease_until is not None
    assert held.lease_until > world.clock.now(), "the third renewal held it"
    assert (await world.request(request.id)).state is State.SUCCEEDED
    assert len(top_ups(world)) == 1


@pytest.mark.parametrize("kind", ["webhook_register", "webhook_rotate"])
async def test_a_secret_is_kept_although_the_lease_was_lost_to_another(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    request = await asked(world, kind)
    await world.approve(request)

    async def taken_over(*_: object, **__: object) -> None:
        return None

    monkeypatch.setattr(rows, "finish", taken_over)
    await execution.execute(world.core, request.id)

    assert (await world.request(request.id)).state is State.EXECUTING
    assert await secret_is_known(world)
