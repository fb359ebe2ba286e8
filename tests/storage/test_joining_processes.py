"""A process that starts while others work on the database holds no request for a message that somebody deleted: nobody
has put an older copy in place, and the others post it again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.domain.requests import Request, State
from bot.services.anchor_places import AnchorPlaces
from bot.services.messages import Outbox, SlackTrouble
from bot.services.older_copies import copy_detection
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


async def starts(world: World, slack: Slack, owner: str) -> None:
    world.goes_on_as(replace(world.core, owner=owner, unseen={}))
    async with world.store.begin() as tx:
        await replicas.beat(tx, owner, "worker")
    await copy_detection.look_at_slack(world.core, slack.read)


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

    assert not await open_alerts(world, "requests_unseen")
    await world.advance(40)
    await slack.take(world)
    await cooled_off(world)
    assert (await world.request(request.id)).state is State.SUCCEEDED


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
