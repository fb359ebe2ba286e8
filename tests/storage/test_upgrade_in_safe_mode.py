"""A database in safe mode that an earlier version left, which kept safe mode in a table, too: it goes on by the log."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from bot.domain.requests import State
from bot.services.operators import safe_mode
from storage import audit
from storage.database import Database
from storage.migrate import migrate, newest
from storage.operators import safe_mode as on_record
from tests.services.outcome_steps import top_ups
from tests.services.test_safe_mode_on_record import left_by_two
from tests.storage.restores import restart_on
from tests.support.databases import BACKENDS
from tests.support.world import World, a_world

_BEFORE = "0019"
_TABLE = """CREATE TABLE safe_mode (id TEXT PRIMARY KEY, head_seq BIGINT NOT NULL, head_at {when}, anchor_seq BIGINT NOT
    NULL, anchor_at {when}, entered_at {when} NOT NULL, voided INTEGER, left_at {when})"""


@pytest.fixture
async def world(url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=url) as made:
        yield made
        await made.store.close()


async def _entered(world: World) -> None:
    async with world.store.read() as tx:
        end = await audit.head(tx)
    at = world.clock.now()
    head, anchor = (end.seq, at - timedelta(minutes=5)), (end.seq + 5, at - timedelta(minutes=1))
    await safe_mode.enter(world.core, head, anchor)


async def _upgraded(world: World, *, voided: int | None, left: bool) -> None:
    """It was stopped, as the earlier version, with the row of its table, and this one starts on it."""
    url = str(world.store.database.url)
    at = world.clock.now()
    await world.store.close()
    engine = create_engine(Database.parse(url).url)
    with engine.begin() as connection:
        when = "TEXT" if engine.dialect.name == "sqlite" else "TIMESTAMPTZ"
        connection.execute(text(_TABLE.format(when=when)))
        row = {"at": at.isoformat(), "voided": voided, "left": at.isoformat() if left else None}
        connection.execute(
            text(
                "INSERT INTO safe_mode (id, head_seq, anchor_seq, entered_at, voided, left_at)"
                " VALUES ('1', 7, 12, :at, :voided, :left)"
            ),
            row,
        )
        connection.execute(text("UPDATE alembic_version SET version_num = :to"), {"to": _BEFORE})
    engine.dispose()
    assert await migrate(url) == newest()
    await restart_on(world, url)


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("voided", [None, 2])
async def test_it_goes_on_after_the_upgrade_and_ends_when_two_people_leave_it(
    world: World, voided: int | None
) -> None:
    """Whether the row said that what was open is void, or not yet: it is void after the start."""
    request = await world.top_up("50")
    await _entered(world)

    await _upgraded(world, voided=voided, left=False)
    await safe_mode.review(world.core)
    await world.run(60, step=10)

    async with world.store.read() as tx:
        assert await on_record.current(tx) is not None
    assert top_ups(world) == []
    assert (await world.request(request.id)).state is not State.APPROVED
    await left_by_two(world)
    async with world.store.read() as tx:
        assert await on_record.current(tx) is None


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_one_that_two_people_left_before_the_upgrade_is_over_whatever_its_row_said(
    world: World,
) -> None:
    await _entered(world)
    await safe_mode.at_start(world.core)
    await left_by_two(world)

    await _upgraded(world, voided=1, left=False)
    await safe_mode.review(world.core)

    async with world.store.read() as tx:
        assert await on_record.current(tx) is None
    request = await world.top_up("50")
    await world.run(30, step=10)
    assert (await world.request(request.id)).state is State.SUCCEEDED
