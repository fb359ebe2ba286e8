"""A process that starts while others work on the database holds no request for a message that somebody deleted: nobody
has put an older copy in place, and the others post it again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from bot.domain.requests import Request, State
from bot.services.anchor_places import AnchorPlaces
from bot.services.core import SLACK, Core
from bot.services.messages import Outbox, SlackTrouble
from bot.services.older_copies import copy_detection, messages_in_slack
from bot.services.older_copies.messages_in_slack import PostedMessages, ReadPosted, Wanted
from bot.services.requests import approvals
from storage.database import process_name
from storage.operators import replicas
from tests.storage.test_copies_that_slack_shows import Slack
from tests.storage.test_requests_unseen_in_slack import COOL_OFF, cooled_off, posted
from tests.storage.test_restores_at_odd_times import open_alerts, read_ledger
from tests.support.databases import PostgresDatabases
from tests.support.world import World, a_policy, a_world

pytestmark = pytest.mark.by_turns(2)


@pytest.fixture
def databases(postgres_databases: PostgresDatabases) -> PostgresDatabases:
    """On SQLite there is one process."""
    return postgres_databases


@pytest.fixture
async def world(tmp_path: Path, own_url: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=own_url) as world:
        policy = a_policy()
        top_ups = replace(policy.kinds["card_topup"], cool_off=COOL_OFF)
        world.rebuild(policy=replace(policy, kinds={"card_topup": top_ups}), anchors=AnchorPlaces([]))
        await read_ledger(world)
        yield world
        await world.store.close()


async def starts(world: World, slack: Slack, owner: str, read: ReadPosted | None = None) -> None:
    world.goes_on_as(replace(world.core, owner=owner, unseen={}))
    async with world.store.begin() as tx:
        await replicas.beat(tx, owner, "worker")
    await copy_detection.look_at_slack(world.core, read or slack.read)


def delete_message(slack: Slack, request: Request) -> None:
    slack.messages = [one for one in slack.messages if request.id not in one.dedupe or one.thread_ts]


async def waits_to_be_posted_again(world: World, slack: Slack, request: Request) -> None:
    slack.next_post = [SlackTrouble("ratelimited", retry_after_s=30)]
    await approvals.redraw(world.core, request.id)
    outbox = Outbox(world.core, slack, spacing_s=0)
    for _ in range(2):
        await outbox.deliver_due()


HERE = process_name()


@pytest.mark.parametrize("noticed", [True, False], ids=["its place is forgotten", "nobody noticed so far"])
async def test_a_process_that_joins_holds_nothing_and_the_request_is_sent(
    world: World, noticed: bool
) -> None:
    slack = Slack()
    await starts(world, slack, f"{HERE}:first")
    request = await posted(world, slack)
    delete_message(slack, request)
    if noticed:
        await waits_to_be_posted_again(world, slack, request)

    await starts(world, slack, f"{HERE}:second")

    await _is_held_by_nothing_and_sent(world, slack, request)


async def _is_held_by_nothing_and_sent(world: World, slack: Slack, request: Request) -> None:
    assert not await open_alerts(world, "requests_unseen")
    await world.advance(40)
    await slack.take(world)
    await cooled_off(world)
    assert (await world.request(request.id)).state is State.SUCCEEDED


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("refused", ["all of Slack", "its channel"])
async def test_one_that_joins_and_sees_slack_only_later_holds_nothing_then_either(
    world: World, refused: str, times: int
) -> None:
    slack = Slack()
    await starts(world, slack, f"{HERE}:first")
    request = await posted(world, slack)
    delete_message(slack, request)
    if refused == "its channel":
        slack.unread = dict.fromkeys(messages_in_slack.named_channels(world.core), "ratelimited")
    read = slack.read if refused == "its channel" else _refused

    await starts(world, slack, f"{HERE}:second", read)
    for _ in range(times - 1):
        await copy_detection.look_again(world.core, read)
    assert SLACK in world.core.unseen
    slack.unread = {}
    await copy_detection.look_again(world.core, slack.read)
    await copy_detection.look_at_unseen(world.core, slack.read)

    assert SLACK not in world.core.unseen
    await _is_held_by_nothing_and_sent(world, slack, request)


@pytest.mark.parametrize("refused", ["all of Slack", "its channel", "nothing"])
async def test_what_the_first_on_a_copy_holds_is_held_on_though_others_join_it(
    world: World, refused: str
) -> None:
    slack = Slack()
    request = await posted(world, slack)
    delete_message(slack, request)
    await starts(world, slack, f"{HERE}:first")
    assert await open_alerts(world, "requests_unseen")
    if refused == "its channel":
        slack.unread = dict.fromkeys(messages_in_slack.named_channels(world.core), "ratelimited")

    await starts(world, slack, f"{HERE}:second", _refused if refused == "all of Slack" else slack.read)
    slack.unread = {}
    await copy_detection.look_again(world.core, slack.read)
    await copy_detection.look_at_unseen(world.core, slack.read)

    assert await open_alerts(world, "requests_unseen")
    await cooled_off(world)
    assert (await world.request(request.id)).state is State.APPROVED


@pytest.mark.parametrize(
    ("first", "silent"),
    [("elsewhere:1:first", False), (f"{HERE}:first", True)],
    ids=["a copy has its row alone", "it is gone"],
)
async def test_the_first_process_on_a_database_holds_it(world: World, first: str, silent: bool) -> None:
    """The rows of a copy name processes that work on another database."""
    slack = Slack()
    await starts(world, slack, first)
    request = await posted(world, slack)
    delete_message(slack, request)
    await waits_to_be_posted_again(world, slack, request)
    if silent:
        async with world.store.begin() as tx:
            await replicas.end(tx, first)

    await starts(world, slack, f"{HERE}:second")

    assert await open_alerts(world, "requests_unseen")
    await world.advance(40)
    await slack.take(world)
    await cooled_off(world)
    assert (await world.request(request.id)).state is State.APPROVED


async def test_two_that_start_at_once_on_a_copy_hold_it(world: World) -> None:
    """Neither has looked before: that the other one is there says nothing."""
    slack = Slack()
    request = await posted(world, slack)
    delete_message(slack, request)
    await waits_to_be_posted_again(world, slack, request)
    async with world.store.begin() as tx:
        for owner in (f"{HERE}:first", f"{HERE}:second"):
            await replicas.beat(tx, owner, "worker")

    await starts(world, slack, f"{HERE}:first")
    await starts(world, slack, f"{HERE}:second")

    assert await open_alerts(world, "requests_unseen")


async def _refused(_wanted: Wanted) -> PostedMessages:
    raise TimeoutError


async def _still_reads(_wanted: Wanted) -> PostedMessages:
    await asyncio.sleep(60)
    raise TimeoutError


async def _works_and_slack_refuses_it(core: Core) -> None:
    await copy_detection.look_at_slack(core, _refused)


async def _takes_deliveries_and_slack_refuses_it(core: Core) -> None:
    await copy_detection.look_at_slack(core, _refused, holds=False)


async def _reads_slack_longer(core: Core) -> None:
    look = asyncio.create_task(copy_detection.look_at_slack(core, _still_reads))
    with suppress(TimeoutError):
        async with asyncio.timeout(0.5):
            await asyncio.shield(look)
    look.cancel()  # nothing of it comes before the second one has looked


@pytest.mark.parametrize(
    "looks",
    [_works_and_slack_refuses_it, _takes_deliveries_and_slack_refuses_it, _reads_slack_longer],
    ids=lambda one: one.__name__.strip("_").replace("_", " "),
)
async def test_one_that_has_not_seen_slack_itself_is_no_witness_for_another(
    world: World, looks: Callable[[Core], Awaitable[None]]
) -> None:
    """It may have started on the older copy, too, as all do after a restore."""
    slack = Slack()
    request = await posted(world, slack)
    delete_message(slack, request)
    first, second = f"{HERE}:first", f"{HERE}:second"
    async with world.store.begin() as tx:
        for owner in (first, second):
            await replicas.beat(tx, owner, "worker")
    await looks(replace(world.core, owner=first, unseen={}))

    await starts(world, slack, second)

    assert await open_alerts(world, "requests_unseen")
    await cooled_off(world)
    assert (await world.request(request.id)).state is State.APPROVED
