"""An older copy that only the messages in Slack show: unknown ones, and known ones that were drawn again since.

What moved no money leaves nothing in the ledger. But a request's card is drawn again with whatever becomes of it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.domain.errors import CountersignError
from bot.domain.people import KindPolicy
from bot.domain.requests import Request, State
from bot.operations import kinds
from bot.services.anchor_places import AnchorPlaces
from bot.services.messages import Outbox
from bot.services.older_copies import copy_detection, messages_in_slack
from bot.services.older_copies.messages_in_slack import PostedMessage, PostedMessages, Wanted
from bot.services.processes.unseen_requests import GONE, Place
from bot.services.requests import approvals, lifecycle
from storage.messages import outbox as outbox_rows
from storage.operators import safe_mode as rows
from tests.services.scripted_slack import ScriptedSlack
from tests.storage.restores import put_in_place, restart_on
from tests.storage.test_restores_at_odd_times import copied, in_force, leave, open_alerts, read_ledger
from tests.support.databases import SqliteFiles
from tests.support.kinds import QUOTE_NAMES, asked
from tests.support.world import ALICE, BOB, World, a_policy, a_world

pytestmark = pytest.mark.by_turns(3)

WAITS = timedelta(days=3)


@pytest.fixture
async def world(
    tmp_path: Path, sqlite_files: SqliteFiles, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[World]:
    monkeypatch.setattr(kinds()["deposit_quote"], "body_names", QUOTE_NAMES)
    async with a_world(tmp_path, url=sqlite_files.migrated()) as world:
        policy = replace(a_policy(), kinds={kind: KindPolicy(expires=WAITS) for kind in kinds()})
        world.rebuild(policy=policy, anchors=AnchorPlaces([]))
        await read_ledger(world)
        yield world
        await world.store.close()


class Slack(ScriptedSlack):
    """What a start reads back of it, too; one channel may not be given."""

    def __init__(self) -> None:
        super().__init__()
        self.unread: dict[str, str] = {}
        self.cut: Sequence[str] = ()
        self.of_others: Sequence[str] = ()
        self.reads = 0

    async def read(self, wanted: Wanted) -> PostedMessages:
        """Of the channels that are wanted alone, and at the places: direct messages show nothing."""
        self.reads += 1
        wanted_places = set(wanted.places.values())
        asked = {*wanted.channels, *(place.channel for place in wanted_places)}
        unread = {channel: error for channel, error in self.unread.items() if channel in asked}
        places = {Place(one.channel, one.ts) for one in self.messages}
        shown = [
            PostedMessage(one.dedupe, datetime.fromtimestamp(float(one.ts), UTC), one.log_end)
            for one in self.messages
            if one.channel in wanted.channels or Place(one.channel, one.ts) in wanted_places
            if one.channel not in unread and one.thread_ts is None
        ]
        unseen = {
            id_: unread.get(place.channel, GONE)
            for id_, place in wanted.places.items()
            if place.channel in unread or place not in places
        }
        return PostedMessages(shown, unread, self.cut, unseen, self.of_others)

    async def take(self, world: World) -> None:
        """All that is to be posted and drawn again."""
        outbox = Outbox(world.core, self, spacing_s=0)
        for _ in range(6):
            await outbox.deliver_due()
            await world.advance(3)


async def start(world: World, url: str, slack: Slack) -> None:
    await restart_on(world, url)
    world.core.unseen.clear()
    await copy_detection.look_at_slack(world.core, slack.read)


async def modes(world: World) -> int:
    async with world.store.read() as tx:
        return len(await rows.all(tx))


CELLS = [
    *((kind, "carried out") for kind in kinds()),
    *(("card_limits", then) for then in ("cancelled", "rejected", "expired")),
]


@pytest.mark.parametrize(("kind", "then"), CELLS)
async def test_whatever_became_of_a_request_of_any_kind_since_the_copy_its_card_shows_it(
    world: World, sqlite_files: SqliteFiles, tmp_path: Path, kind: str, then: str
) -> None:
    slack = Slack()
    request = await asked(world, kind)
    await slack.take(world)
    cards = len(slack.messages)
    copy = await copied(world, tmp_path / "copy.db")
    if then == "carried out":
        await world.approve(request)
        await world.run(60)
    elif then == "cancelled":
        await lifecycle.cancel(world.core, request.id, request.requester)
    elif then == "expired":
        await world.advance(WAITS.total_seconds() + 60)
        await lifecycle.expire_due(world.core)
    else:
        await approvals.reject(world.core, request.id, BOB, reason="no")
    await slack.take(world)
    assert [one for one in slack.messages if one.thread_ts is None and one.edits], "its card was drawn again"
    slack.messages = [one for one in slack.messages[:cards] if one.thread_ts is None]  # and no other shows it

    await start(world, await put_in_place(copy, sqlite_files), slack)

    assert await in_force(world)
    with suppress(CountersignError):
        await world.approve(request)
    assert (await world.request(request.id)).state is not State.APPROVED


async def test_a_database_that_is_no_copy_takes_its_own_messages_for_what_they_are(
    world: World, sqlite_files: SqliteFiles, tmp_path: Path
) -> None:
    slack = Slack()
    request = await world.top_up("5")
    await slack.take(world)
    await world.run(60)
    await slack.take(world)
    url = str(world.store.database.url)
    for _ in range(2):
        await start(world, url, slack)
        await slack.take(world)
    assert (await modes(world), (await world.request(request.id)).state) == (0, State.SUCCEEDED)


async def test_what_was_lost_once_and_accepted_is_not_found_again_and_what_is_lost_later_is(
    world: World, sqlite_files: SqliteFiles, tmp_path: Path
) -> None:
    slack = Slack()
    kept = [await world.top_up(str(n), approved=False) for n in (3, 4, 5)]
    await slack.take(world)
    first = await copied(world, tmp_path / "first.db")
    await lifecycle.cancel(world.core, kept[0].id, ALICE)
    await slack.take(world)
    url = await put_in_place(first, sqlite_files)
    await start(world, url, slack)
    assert await modes(world) == 1

    for _ in range(2):  # its card was not drawn again so far
        await start(world, url, slack)
    await read_ledger(world)
    await leave(world)
    for _ in range(2):
        await start(world, url, slack)
    assert (await modes(world), await in_force(world)) == (1, False)

    await slack.take(world)
    second = await copied(world, tmp_path / "second.db")
    await lifecycle.cancel(world.core, kept[1].id, ALICE)
    await slack.take(world)
    await start(world, await put_in_place(second, sqlite_files), slack)
    assert await modes(world) == 2


async def test_a_copy_made_in_safe_mode_is_shown_by_a_card_too(
    world: World, sqlite_files: SqliteFiles, tmp_path: Path
) -> None:
    slack = Slack()
    request = await world.top_up("3", approved=False)
    await slack.take(world)
    first = await copied(world, tmp_path / "first.db")
    await slack.take(world)
    other = await world.top_up("4", approved=False)
    await slack.take(world)
    await start(world, await put_in_place(first, sqlite_files), slack)
    assert (await modes(world), other.id != request.id) == (1, True)
    await slack.take(world)

    in_safe_mode = await copied(world, tmp_path / "second.db")
    await read_ledger(world)
    await leave(world)
    await lifecycle.cancel(world.core, request.id, ALICE)
    await slack.take(world)
    await start(world, await put_in_place(in_safe_mode, sqlite_files), slack)
    assert await modes(world) == 2


@pytest.mark.parametrize("error", ["not_in_channel", "missing_scope", "ratelimited"])
async def test_what_a_readable_channel_shows_counts_and_the_other_is_named(
    world: World, sqlite_files: SqliteFiles, tmp_path: Path, error: str
) -> None:
    slack = Slack()
    copy = await copied(world, tmp_path / "copy.db")
    await world.top_up("3", approved=False)
    await slack.take(world)
    slack.unread = {world.core.channels.alerts: error}

    await start(world, await put_in_place(copy, sqlite_files), slack)

    assert await in_force(world)
    assert f"<#{world.core.channels.alerts}>" in world.core.unseen[""].error
    assert world.core.holds_for("") == (error == "ratelimited")


async def test_a_start_looks_in_the_channels_in_which_messages_are_whatever_the_settings_name(
    world: World,
) -> None:
    slack = Slack()
    before = world.core.channels.approvals
    named = world.core.channels
    world.rebuild(channels=replace(named, alerts="C0BEFORE"))
    await messages_in_slack.begin(world.core)  # nothing was posted there, as far as the copy knows
    world.rebuild(channels=named)
    request: Request = await world.top_up("3", approved=False)
    await slack.take(world)
    world.rebuild(channels=replace(world.core.channels, approvals="C0ANOTHER"))

    wanted = await messages_in_slack.wanted(world.core)

    assert "C0BEFORE" in wanted.channels

    assert {before, "C0ANOTHER"} <= set(wanted.channels)
    assert wanted.places[request.id].channel == before


async def test_what_is_posted_until_all_was_read_does_not_count_as_of_before_however_often_it_starts(
    world: World,
) -> None:
    """429 at a start, an alert of ours about it, and another start: the lost message is behind our own alert."""
    slack = Slack()
    await world.top_up("3", approved=False)
    await slack.take(world)
    (before, *_) = [one.dedupe for one in slack.messages]
    for _ in range(2):
        await messages_in_slack.begin(world.core)
        await world.top_up("4", approved=False)
        await slack.take(world)
    since = [one.dedupe for one in slack.messages if one.dedupe != before and one.thread_ts is None]

    wanted = await messages_in_slack.wanted(world.core)
    assert (await wanted.is_of_before([before]), await wanted.is_of_before(since)) == (True, False)

    await messages_in_slack.end(world.core)
    await world.advance(1)
    await messages_in_slack.begin(world.core)
    wanted = await messages_in_slack.wanted(world.core)
    assert await wanted.is_of_before(since), "they were looked through"
    async with world.store.read() as tx:
        assert await outbox_rows.known(tx, since) == set(since)


async def test_people_read_that_not_all_was_looked_through(world: World) -> None:
    slack = Slack()
    slack.cut = [world.core.channels.alerts]
    await copy_detection.look_at_slack(world.core, slack.read)
    assert await open_alerts(world, "slack_not_all_seen") == [], "nothing was ever posted"

    await world.top_up("3", approved=False)
    await slack.take(world)
    await copy_detection.look_at_slack(world.core, slack.read)
    (alert,) = await open_alerts(world, "slack_not_all_seen")
    assert f"<#{world.core.channels.alerts}>" in alert.text
    assert not world.core.awaits_look()

    slack.cut = ()
    await copy_detection.look_at_slack(world.core, slack.read)
    assert await open_alerts(world, "slack_not_all_seen") == []
