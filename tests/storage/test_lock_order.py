"""Transactions that meet on one batch take their locks in one order: on PostgreSQL nobody is the victim of a deadlock.

Each pair of what people and jobs do to a batch is run together, many times over, on a real server.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import combinations
from pathlib import Path

import pytest

from bot.domain.errors import CountersignError
from bot.domain.requests import Request
from bot.services import execution, requests
from bot.services.execution import maintenance
from bot.services.operators import pausing
from bot.services.requests import approvals, batch_submission
from tests.services.bulk_requests import a_list, ask_bulk, rows_of
from tests.support.databases import PostgresDatabases
from tests.support.world import ALICE, BOB, CAROL, World, a_world

Act = Callable[[World, Request, list[Request]], Awaitable[object]]


@pytest.fixture
def server_url(postgres_databases: PostgresDatabases) -> Iterator[str]:
    lent = postgres_databases.lend()
    yield lent
    postgres_databases.take_back(lent)


@pytest.fixture
async def world(tmp_path: Path, server_url: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=server_url) as made:
        yield made


async def approve(world: World, batch: Request, rows: list[Request]) -> None:
    await world.approve(batch)


async def reject(world: World, batch: Request, rows: list[Request]) -> None:
    await approvals.reject(world.core, batch.id, CAROL, reason="not now")


async def leave_out(world: World, batch: Request, rows: list[Request]) -> None:
    await batch_submission.leave_out(world.core, batch.id, ALICE, {rows[-1].id})


async def cancel(world: World, batch: Request, rows: list[Request]) -> None:
    await requests.cancel(world.core, batch.id, ALICE)


async def expire(world: World, batch: Request, rows: list[Request]) -> None:
    await requests.expire_due(world.core)


async def purge(world: World, batch: Request, rows: list[Request]) -> None:
    await maintenance.purge(world.core)


async def send(world: World, batch: Request, rows: list[Request]) -> None:
    await asyncio.gather(*(execution.execute(world.core, row.id) for row in rows))


async def pause_and_resume(world: World, batch: Request, rows: list[Request]) -> None:
    await pausing.pause(world.core, BOB, ["main"], "a drill")
    await pausing.resume(world.core, BOB, ["main"])
    await pausing.resume(world.core, CAROL, ["main"])


async def all_at_once(world: World, batch: Request, acts: list[Act]) -> None:
    """Refusals are part of it; an error of the database is not."""
    rows = await rows_of(world, batch)
    done = await asyncio.gather(*(act(world, batch, rows) for act in acts), return_exceptions=True)
    wrong = [one for one in done if isinstance(one, BaseException) and not isinstance(one, CountersignError)]
    assert wrong == []


def nothing_was_written_twice(caplog: pytest.LogCaptureFixture) -> None:
    assert [r.message for r in caplog.records if r.levelno >= logging.ERROR] == []


PENDING: tuple[Act, ...] = (approve, reject, leave_out, cancel)
APPROVED: tuple[Act, ...] = (send, cancel, expire, purge, pause_and_resume)


@pytest.mark.by_turns(4)
@pytest.mark.parametrize(
    "pair", list(combinations(PENDING, 2)), ids=lambda pair: " and ".join(a.__name__ for a in pair)
)
async def test_what_is_decided_on_a_pending_batch_at_one_moment_never_deadlocks(
    world: World, caplog: pytest.LogCaptureFixture, pair: tuple[Act, Act]
) -> None:
    for _ in range(3):
        batch = await ask_bulk(world, a_list(world, "1", "1", "1"))
        await all_at_once(world, batch, [*pair])
    nothing_was_written_twice(caplog)


async def test_what_happens_to_an_approved_batch_at_one_moment_never_deadlocks(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        batch = await ask_bulk(world, a_list(world, "1", "1", "1"))
        await approve(world, batch, [])
        await world.advance(5)
        await all_at_once(world, batch, [*APPROVED])
    nothing_was_written_twice(caplog)
