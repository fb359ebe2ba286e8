"""A copy that was made while safe mode was in force, put back after two people left it: what came after it is found.

Safe mode is in force in that copy, too, and of all that people did after it nothing is known: the message of its alert
says in Slack that safe mode is over. So what the ledger or Slack has beyond what was known in it begins a new one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from bot.domain.errors import CountersignError
from bot.domain.people import KindPolicy, Limits
from bot.domain.requests import Request
from bot.services.alerts import ledger_rules
from bot.services.anchor_places import AnchorPlaces
from bot.services.older_copies import copy_detection
from bot.services.older_copies.messages_in_slack import PostedMessage, PostedMessages, Wanted
from bot.services.operators import safe_mode
from storage.operators import safe_mode as rows
from tests.storage.restores import debit, put_in_place, restart_on
from tests.storage.test_restores_at_odd_times import copied, in_force, leave, open_alerts
from tests.storage.test_restores_at_odd_times import read_ledger as first_reading
from tests.support.databases import SqliteFiles
from tests.support.world import World, a_policy, a_world

pytestmark = pytest.mark.by_turns(2)

LIMIT_USD = Decimal(15)


@pytest.fixture
async def world(tmp_path: Path, sqlite_files: SqliteFiles) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=sqlite_files.migrated()) as world:
        policy = replace(
            a_policy(),
            limits=Limits(LIMIT_USD, LIMIT_USD, Decimal(500)),
            kinds={"card_topup": KindPolicy(expires=timedelta(days=3))},
        )
        world.rebuild(policy=policy, anchors=AnchorPlaces([]))
        await world.tell("float", {"amount_usd": "5000"})
        await world.tell("account", {"key_days": 1})
        await first_reading(world)
        yield world
        await world.store.close()


async def started(world: World, copy: Path, files: SqliteFiles) -> str:
    """A start on this copy, put back by hand; where it is."""
    url = await put_in_place(copy, files)
    await started_on(world, url)
    return url


async def started_on(world: World, url: str) -> None:
    await restart_on(world, url)
    world.core.unseen.clear()
    await copy_detection.hold_until_seen(world.core)


async def whole_ledger(world: World) -> None:
    await ledger_rules.compare(world.core, "main")
    await safe_mode.review(world.core)


async def modes(world: World) -> int:
    async with world.store.read() as tx:
        return len(await rows.all(tx))


async def paid(world: World, known: Request) -> None:
    await world.approve(known)
    await world.run(60)


async def spent_elsewhere(world: World, _known: Request) -> None:
    await debit(world, 4)


@pytest.mark.parametrize("is_read", [True, False], ids=["ledger read", "ledger not read"])
@pytest.mark.parametrize("since", [paid, spent_elsewhere])
async def test_what_the_ledger_has_since_begins_a_new_safe_mode(
    world: World,
    sqlite_files: SqliteFiles,
    tmp_path: Path,
    since: Callable[[World, Request], Awaitable[None]],
    is_read: bool,
) -> None:
    first = await copied(world, tmp_path / "first.db")
    await debit(world, 4)
    await started(world, first, sqlite_files)
    assert await in_force(world)
    if is_read:
        await whole_ledger(world)
    known = await world.top_up("10", approved=False)
    in_safe_mode = await copied(world, tmp_path / "second.db")
    await whole_ledger(world)
    await leave(world)
    await since(world, known)
    took = await world.debits(known.key)
    await world.advance(25 * 3600)
    assert await open_alerts(world, "older_copy") == [], "two people have left it"

    await started(world, in_safe_mode, sqlite_files)

    assert await modes(world) == 2, "a new one"
    (alert,) = await open_alerts(world, "older_copy")
    assert alert.raised_at >= world.clock.now() - timedelta(minutes=1), "not that which ended in Slack"
    with pytest.raises(CountersignError, match="still reading"):
        await leave(world)
    await whole_ledger(world)
    await leave(world)
    with suppress(CountersignError):
        await world.approve(known)
    await world.run(60)
    assert await world.debits(known.key) == took, "paid once"


async def test_restarts_in_safe_mode_begin_no_new_one_where_nothing_came_since(
    world: World, sqlite_files: SqliteFiles, tmp_path: Path
) -> None:
    copy = await copied(world, tmp_path / "copy.db")
    await debit(world, 4)
    url = await started(world, copy, sqlite_files)
    await started_on(world, url)
    await whole_ledger(world)
    for _ in range(2):
        await started_on(world, url)
    assert await modes(world) == 1


async def test_a_start_whose_safe_mode_comes_from_the_anchors_begins_one_and_its_restarts_none(
    world: World, sqlite_files: SqliteFiles, tmp_path: Path
) -> None:
    world.rebuild(anchors=AnchorPlaces([tmp_path / "kept"]))
    known = await world.top_up("10", approved=False)
    copy = await copied(world, tmp_path / "copy.db")
    await debit(world, 4)
    await paid(world, known)
    url = await started(world, copy, sqlite_files)
    for _ in range(2):
        await started_on(world, url)
    assert await modes(world) == 1
    await whole_ledger(world)
    await started_on(world, url)
    assert await modes(world) == 1


async def test_a_message_that_is_not_known_begins_a_new_safe_mode_too(
    world: World, sqlite_files: SqliteFiles, tmp_path: Path
) -> None:
    posted = [PostedMessage("lost:1", datetime(2026, 3, 2, 12, tzinfo=UTC))]

    async def read_posted(_wanted: Wanted) -> PostedMessages:
        return PostedMessages(posted, {})

    copy = await copied(world, tmp_path / "first.db")
    url = await put_in_place(copy, sqlite_files)
    await restart_on(world, url)
    await copy_detection.look_at_slack(world.core, read_posted)
    assert await modes(world) == 1
    for _ in range(2):  # nobody has posted its alert so far
        await restart_on(world, url)
        await copy_detection.look_at_slack(world.core, read_posted)
    assert await modes(world) == 1

    in_safe_mode = await copied(world, tmp_path / "second.db")
    posted.append(PostedMessage("lost:2", datetime(2026, 3, 2, 14, tzinfo=UTC)))
    await restart_on(world, await put_in_place(in_safe_mode, sqlite_files))
    await copy_detection.look_at_slack(world.core, read_posted)
    assert await modes(world) == 2
