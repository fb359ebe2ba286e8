"""After an older copy was put in place: what waited for Slack when it was made was posted since, and is not again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.services.anchor_places import AnchorPlaces
from bot.services.messages import Outbox
from bot.services.messages.publisher import SlackTrouble
from bot.services.operators import safe_mode
from bot.services.requests import lifecycle
from storage.messages import outbox as outbox_rows
from tests.services.scripted_slack import Message
from tests.storage.restores import put_in_place, restart_on
from tests.storage.test_copies_that_slack_shows import Slack
from tests.storage.test_restores_at_odd_times import copied, in_force, read_ledger
from tests.support.databases import SqliteFiles
from tests.support.world import ALICE, World, a_world

pytestmark = pytest.mark.by_turns(4)


@pytest.fixture
async def world(tmp_path: Path, sqlite_files: SqliteFiles) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=sqlite_files.migrated()) as world:
        world.rebuild(anchors=AnchorPlaces([]))
        await read_ledger(world)
        yield world
        await world.store.close()


async def taken(world: World, slack: Slack, *, times: int = 8) -> None:
    """What is to be posted, and what was left in mid-send is read back."""
    outbox = Outbox(world.core, slack, spacing_s=0)
    for _ in range(times):
        await outbox.heal()
        await outbox.deliver_due()
        await world.advance(3)


async def restored(world: World, copy: Path, databases: SqliteFiles) -> None:
    await restart_on(world, await put_in_place(copy, databases))
    await safe_mode.enter(world.core, (1, None), (2, None))
    await safe_mode.at_start(world.core)
    assert await in_force(world)


def twice(slack: Slack) -> list[Message]:
    seen = dict[tuple[str, str | None], Message]()
    return [one for one in slack.messages if one is not seen.setdefault((one.dedupe, one.thread_ts), one)]


async def waiting_when_it_was_copied(world: World, slack: Slack, to: Path) -> Path:
    """A request is done and its message is posted; its lines wait."""
    request = await world.top_up("5", approved=False)
    await Outbox(world.core, slack, spacing_s=0).deliver_due()
    await world.approve(request)
    await world.run(10)
    copy = await copied(world, to)
    async with world.store.read() as tx:
        assert [row.kind for row in await outbox_rows.next_due(tx)].count("line") >= 2
    return copy


async def test_no_line_is_posted_twice(world: World, sqlite_files: SqliteFiles, tmp_path: Path) -> None:
    slack = Slack()
    copy = await waiting_when_it_was_copied(world, slack, tmp_path / "copy.db")
    await taken(world, slack)
    lines = [one.shows for one in slack.messages if one.thread_ts is not None]
    assert len(lines) >= 2

    await restored(world, copy, sqlite_files)
    await taken(world, slack)

    assert [one.shows for one in twice(slack)] == []
    async with world.store.read() as tx:
        assert await outbox_rows.stuck(tx) == []


async def test_what_was_not_posted_since_is_posted_in_its_order(
    world: World, sqlite_files: SqliteFiles, tmp_path: Path
) -> None:
    slack = Slack()
    copy = await waiting_when_it_was_copied(world, slack, tmp_path / "copy.db")
    posted = len(slack.messages)

    await restored(world, copy, sqlite_files)
    slack.next_find = [SlackTrouble("ratelimited", retry_after_s=5)]
    await taken(world, slack, times=14)

    # Its message and the notices of it are posted in any order.
    (message,) = (one for one in slack.messages[:posted] if one.channel == "C0APPROVALS")
    lines = [one.shows for one in slack.messages[posted:] if one.thread_ts == message.ts]
    assert lines[:2] == ["line approval", "line succeeded"]
    assert len(lines) == len(set(lines))


async def test_it_is_looked_for_once_and_not_again_after_each_start(
    world: World, sqlite_files: SqliteFiles, tmp_path: Path
) -> None:
    slack = Slack()
    copy = await waiting_when_it_was_copied(world, slack, tmp_path / "copy.db")
    await restored(world, copy, sqlite_files)
    await taken(world, slack)
    request = await world.top_up("6", approved=False)
    await lifecycle.cancel(world.core, request.id, ALICE)
    finds = len([call for call in slack.calls if call.startswith("find")])

    await restart_on(world, str(world.store.database.url))
    await taken(world, slack)

    assert len([call for call in slack.calls if call.startswith("find")]) == finds
