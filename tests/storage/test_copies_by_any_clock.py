"""That a database is an older copy is seen by what it does not know, whatever time the machines had that used it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from bot.services import message_kinds
from bot.services.anchor_places import AnchorPlaces
from bot.services.older_copies import copy_detection
from bot.services.older_copies.messages_in_slack import PostedMessage, PostedMessages, Wanted
from bot.services.operators import safe_mode
from storage.messages import outbox
from tests.storage.restores import debit, put_in_place, restart_on
from tests.storage.test_restores_at_odd_times import (
    copied,
    in_force,
    leave,
    open_alerts,
    orphans_of,
    read_ledger,
)
from tests.support.databases import Databases
from tests.support.world import World, a_world

#: Long stories, which are the same on either database.
pytestmark = [pytest.mark.walk(turns="databases"), pytest.mark.by_turns(5)]
# The clock of the machine on which the first copy was put back, compared with the right one.
OFFSETS = [timedelta(days=400), timedelta(hours=2), timedelta(0), timedelta(hours=-2), timedelta(days=-2)]
any_clock = pytest.mark.parametrize("offset", OFFSETS, ids=str)


@pytest.fixture
async def world(tmp_path: Path, own_url: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=own_url) as world:
        world.rebuild(anchors=AnchorPlaces([]))
        await world.tell("float", {"amount_usd": "5000"})
        yield world
        await world.store.close()


async def put_back(world: World, copy: Path, databases: Databases) -> str:
    """By hand, without anchors; then a start looks at the ledger."""
    url = await put_in_place(copy, databases)
    await restart_on(world, url)
    await copy_detection.hold_until_seen(world.core)
    return url


async def leave_after_the_whole_ledger(world: World) -> None:
    await read_ledger(world)
    await safe_mode.review(world.core)
    await leave(world)
    assert not await in_force(world)


@pytest.mark.walk
@any_clock
async def test_the_ledger_shows_a_second_copy_whatever_time_the_machine_of_the_first_one_had(
    world: World, databases: Databases, tmp_path: Path, offset: timedelta
) -> None:
    await read_ledger(world)
    first = await copied(world, tmp_path / "first.db")
    await debit(world, 1)
    world.clock.advance(offset.total_seconds())
    urls = [await put_back(world, first, databases)]
    assert await in_force(world)
    await leave_after_the_whole_ledger(world)

    world.clock.advance(-offset.total_seconds())
    await restart_on(world, urls[0])
    await copy_detection.hold_until_seen(world.core)
    assert not await in_force(world), "what was lost with the first copy is known and accepted"

    await read_ledger(world)
    second = await copied(world, tmp_path / "second.db")
    assert await debit(world, 2) == Decimal(3)
    urls.append(await put_back(world, second, databases))
    assert await in_force(world)
    await world.store.close()
    for url in urls:
        databases.drop(url)


@pytest.mark.walk
@any_clock
async def test_safe_mode_is_left_once_the_ledger_is_read_though_the_clock_was_put_right_meanwhile(
    world: World, databases: Databases, tmp_path: Path, offset: timedelta
) -> None:
    """Seed 9768 of the simulation: until the clock was there again nothing that was read counted as read since."""
    await read_ledger(world)
    copy = await copied(world, tmp_path / "copy.db")
    lost = await debit(world, 1)
    world.clock.advance(offset.total_seconds())
    url = await put_back(world, copy, databases)
    assert await in_force(world)
    world.clock.advance(-offset.total_seconds())

    for _ in range(2):
        await read_ledger(world)
        await safe_mode.review(world.core)
        assert [-one.amount_usd for one in await orphans_of(world)] == [lost]
    await leave(world)

    assert not await in_force(world)
    await world.store.close()
    databases.drop(url)


@pytest.mark.walk
@any_clock
async def test_slack_shows_a_second_copy_whatever_time_the_machine_of_the_first_one_had(
    world: World, databases: Databases, tmp_path: Path, offset: timedelta
) -> None:
    posted: list[PostedMessage] = []  # by Slack's clock

    async def read_posted(_wanted: Wanted) -> PostedMessages:
        return PostedMessages(posted, {})

    slack_at = datetime(2026, 3, 2, 12, tzinfo=UTC)
    first = await copied(world, tmp_path / "first.db")
    posted.append(PostedMessage("lost:1", slack_at))
    world.clock.advance(offset.total_seconds())
    url = await put_in_place(first, databases)
    await restart_on(world, url)
    await copy_detection.look_at_slack(world.core, read_posted)
    assert await in_force(world)
    (alert,) = await open_alerts(world, "older_copy")
    async with world.store.begin() as tx:  # as it is posted
        kind = message_kinds.ALERT
        ts = f"{(slack_at + timedelta(minutes=1)).timestamp():.6f}"
        await outbox.put_place(
            tx, message_kinds.stored_subject(kind.about, alert.id), kind.form, "C0ALERTS", ts, 1
        )
    await leave_after_the_whole_ledger(world)

    world.clock.advance(-offset.total_seconds())
    await restart_on(world, url)
    await copy_detection.look_at_slack(world.core, read_posted)
    assert not await in_force(world), "what was lost with the first copy is known and accepted"

    posted.append(PostedMessage("lost:2", slack_at + timedelta(minutes=5)))
    await copy_detection.look_at_slack(world.core, read_posted)
    assert await in_force(world)
    await world.store.close()
    databases.drop(url)
