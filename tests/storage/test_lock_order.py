"""Transactions that meet on one batch take their locks in one order: on PostgreSQL nobody is the victim of a deadlock.

Each pair of what people and jobs do to a batch is run together, many times over, on a real server. And what each
transaction locks is written down: the row of a request comes before the end of the audit log, which comes last.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Executable, Select, Update

from bot.domain.errors import CountersignError
from bot.domain.requests import Request
from bot.services import execution, requests
from bot.services.execution import maintenance
from bot.services.operators import pausing
from bot.services.requests import approvals, batch_submission
from storage import tables as t
from storage.transaction import Tx
from tests.services.bulk_requests import a_list, ask_bulk, rows_of
from tests.services.test_cool_off import policy
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


@dataclass
class Locked:
    """What one transaction has locked so far: requests by their ids, and whether the end of the audit log."""

    ids: set[str] = field(default_factory=set)
    has_log: bool = False


def _locks(statement: Executable, table: Any) -> bool:
    if isinstance(statement, Update):
        return statement.table is table
    return (
        isinstance(statement, Select)
        and statement._for_update_arg is not None
        and table in statement.get_final_froms()
    )


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Requests that were locked only after the end of the audit log, each with the statement."""
    run, found, locked = Tx.run, list[str](), dict[int, tuple[Tx, Locked]]()

    async def noted(tx: Tx, statement: Any, *args: Any) -> Any:
        _, held = locked.setdefault(id(tx), (tx, Locked()))
        if _locks(statement, t.request):
            compiled = statement.compile(dialect=tx.connection.dialect)
            said = {**compiled.params, **(args[0] if args and isinstance(args[0], dict) else {})}
            ids = {value for value in said.values() if isinstance(value, str) and value.startswith("R-")}
            if "parent_id" in str(getattr(statement, "whereclause", "")):  # a list with its rows
                rows = await tx.connection.execute(t.request.select().where(t.request.c.parent_id.in_(ids)))
                ids |= {row.id for row in rows}
            if held.has_log and not ids <= held.ids:
                found.append(f"{sorted(ids - held.ids)}: {compiled}")
            held.ids |= ids
        held.has_log |= _locks(statement, t.audit_head)
        return await run(tx, statement, *args)

    monkeypatch.setattr(Tx, "run", noted)
    return found


async def _ask(world: World, *, is_list: bool) -> Request:
    if is_list:
        return await ask_bulk(world, a_list(world, "1", "2", "3"))
    return await world.top_up("50", approved=False)


async def stop(world: World, request: Request, rows: list[Request]) -> None:
    await approvals.reject(world.core, request.id, BOB, reason="not now")


async def nothing(world: World, request: Request, rows: list[Request]) -> None:
    await world.advance(3 * 24 * 3600)
    await requests.expire_due(world.core)


@pytest.mark.parametrize("is_list", [False, True])
@pytest.mark.parametrize("act", [reject, cancel, stop, nothing, send], ids=lambda act: act.__name__)
@pytest.mark.parametrize("when", ["pending", "approved"])
async def test_a_row_is_locked_before_the_end_of_the_audit_log(
    tmp_path: Path, server_url: str, late: list[str], act: Act, when: str, *, is_list: bool
) -> None:
    async with a_world(tmp_path, url=server_url, policy=policy()) as world:
        request = await _ask(world, is_list=is_list)
        if when == "approved":
            await approve(world, request, [])
        if act is send:
            await world.run(1200, step=300)
        else:
            await act(world, request, await rows_of(world, request))
        await purge(world, request, [])
    assert late == []
