"""Somebody stops a request in the moment between its claim and its call, and the database is away just then.

The call is not made, and when the database is back the stop is recorded: nothing is sent after all.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from bot.domain.requests import TERMINAL, Request
from bot.services import held_stops
from bot.services.execution import api_call
from bot.services.operators import late_stops
from storage.store import Store
from tests.services.bulk_requests import a_list, ask_bulk, rows_of
from tests.services.outcome_steps import top_ups
from tests.services.test_stops_not_recorded import Channel
from tests.support import stops
from tests.support.databases import BACKENDS
from tests.support.world import World, a_world

Stop = Callable[[World, Request], Awaitable[object]]


@pytest.fixture
async def world(tmp_path: Path, url: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=url) as made:
        yield made


async def one(world: World) -> Request:
    return await world.top_up("50")


async def several(world: World) -> Request:
    batch = await ask_bulk(world, a_list(world, "10", "11", "12"))
    await world.approve(batch)
    return batch


def _away(_: Store) -> Any:
    raise OperationalError("BEGIN", {}, Exception("connection refused"))


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize(
    ("asked", "stop", "looks_at"),
    # What is recorded at once for a program or a list stops the next call, as it does whenever it comes behind a claim.
    [
        *((one, stop, "at once") for stop in (stops.reject, stops.withdraw)),
        *(
            (asked, stop, "later")
            for asked in (one, several)
            for stop in (stops.reject, stops.withdraw, stops.pause)
        ),
    ],
)
async def test_what_a_held_stop_kept_from_being_called_is_not_sent_later(
    world: World,
    asked: Callable[[World], Awaitable[Request]],
    stop: Stop,
    looks_at: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late = late_stops.LateStops(world.core, Channel().say)
    request = await asked(world)
    call, begin, tried = api_call._call, Store.begin, list[str]()
    held = list[held_stops.Held]()

    async def while_it_is_called(*of_it: Any) -> Any:
        if not tried:
            monkeypatch.setattr(Store, "begin", _away)
            with pytest.raises(OperationalError):
                await stop(world, request)
            monkeypatch.setattr(Store, "begin", begin)
            tried.append(request.id)
            held.extend(world.core.held.all())
            if looks_at == "at once":
                await late.look()
        return await call(*of_it)

    monkeypatch.setattr(api_call, "_call", while_it_is_called)
    await world.run_due()
    assert tried
    for _ in range(20):
        await late.look()
        await world.run(15)

    assert top_ups(world) == []
    assert world.core.held.all() == []
    if stop is not stops.pause:
        await held[0].again()  # the answer of the database may be lost: that is no refusal
        ended = await world.request(request.id)
        rows = await rows_of(world, request) if ended.is_batch else [ended]
        who = "Stopped by Carol" if stop is stops.reject else "by the requester"
        assert {row.state in TERMINAL and who in row.outcome_text for row in rows} == {True}
