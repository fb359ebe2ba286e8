"""A request whose message a start does not see in Slack: it may have been stopped since this copy was made."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.domain.people import KindPolicy, Tier
from bot.domain.requests import Request, State
from bot.services import execution
from bot.services.anchor_places import AnchorPlaces
from bot.services.older_copies import copy_detection, messages_in_slack
from bot.services.requests import lifecycle, view_models
from bot.view_models import AlertView
from tests.services.bulk_requests import rows_of
from tests.storage.restores import put_in_place
from tests.storage.test_copies_of_lists import approve as approve_list
from tests.storage.test_copies_of_lists import pending as a_list
from tests.storage.test_copies_that_slack_shows import Slack, modes, start
from tests.storage.test_restores_at_odd_times import copied, in_force, open_alerts, read_ledger
from tests.support.databases import Databases, SqliteFiles
from tests.support.world import ALICE, CAROL, World, a_policy, a_world

pytestmark = pytest.mark.by_turns(4)

COOL_OFF = timedelta(minutes=10)


@pytest.fixture
def databases(request: pytest.FixtureRequest) -> Databases:
    """On which the copy is put in place."""
    found: Databases = request.getfixturevalue(request.param)
    return found


@pytest.fixture
async def world(tmp_path: Path, sqlite_files: SqliteFiles) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=sqlite_files.migrated()) as world:
        policy = a_policy()
        top_ups = replace(policy.kinds["card_topup"], cool_off=COOL_OFF)
        world.rebuild(policy=replace(policy, kinds={"card_topup": top_ups}), anchors=AnchorPlaces([]))
        await read_ledger(world)
        yield world
        await world.store.close()


async def posted(world: World, slack: Slack, *, approved: bool = True) -> Request:
    request = await world.top_up("44", approved=False)
    await slack.take(world)
    if approved:
        await world.approve(request)
        await slack.take(world)
    return await world.request(request.id)


async def sent_with(world: World, slack: Slack, fault: str, **how: Any) -> Request:
    """Approved and sent once, which met this."""
    request = await posted(world, slack)
    await world.advance(COOL_OFF.total_seconds() + 1)
    await world.fault(fault, times=1, **how)
    await world.run_due()
    await slack.take(world)
    return await world.request(request.id)


async def one_under_way(world: World, slack: Slack) -> Request:
    """It was refused and is to be sent again."""
    return await sent_with(world, slack, "status", status=429)


async def a_list_under_way(world: World, slack: Slack) -> Request:
    """The same of one row; the others are next."""
    batch = await a_list(world)
    await slack.take(world)
    await approve_list(world, batch)
    await slack.take(world)
    await world.advance(COOL_OFF.total_seconds() + 1)
    await world.fault("status", status=429, times=1)
    queue, *_ = await execution.due(world.core)
    await execution.execute(world.core, queue.ids[0])  # the next one waits for a place after this answer
    await slack.take(world)
    return await world.request(batch.id)


Ask = Callable[[World, Slack], Awaitable[Request]]


def message_of(world: World, slack: Slack, request: Request) -> int:
    return next(
        n for n, one in enumerate(slack.messages) if one.thread_ts is None and request.id in one.dedupe
    )


async def restart(world: World, slack: Slack) -> None:
    await start(world, str(world.store.database.url), slack)


async def cooled_off(world: World) -> None:
    await world.run(COOL_OFF.total_seconds() + 60, step=60)


async def the_alert(world: World) -> str:
    (alert,) = await open_alerts(world, "requests_unseen")
    return f"{alert.title}. {alert.text}"


async def test_what_was_stopped_since_the_copy_is_not_paid_from_it_where_its_message_was_deleted(
    world: World, sqlite_files: SqliteFiles, tmp_path: Path
) -> None:
    slack = Slack()
    request = await posted(world, slack)
    copy = await copied(world, tmp_path / "copy.db")
    kept = len(slack.messages)
    await lifecycle.cancel(world.core, request.id, ALICE)
    await slack.take(world)
    del slack.messages[kept:]
    del slack.messages[message_of(world, slack, request)]

    await start(world, await put_in_place(copy, sqlite_files), slack)
    await slack.take(world)
    await cooled_off(world)

    assert (await world.request(request.id)).state is State.APPROVED
    assert await world.attempts(request.id) == []
    assert request.id in await the_alert(world)


@pytest.mark.parametrize("ask", [one_under_way, a_list_under_way])
@pytest.mark.parametrize("databases", ["sqlite_files", "postgres_databases"], indirect=True)
async def test_what_was_under_way_in_the_copy_and_stopped_since_is_not_sent_again_from_it(
    world: World, databases: Databases, tmp_path: Path, ask: Ask
) -> None:
    slack = Slack()
    held = await ask(world, slack)
    keys = [row.key for row in await rows_of(world, held)] or [held.key]
    copy = await copied(world, tmp_path / "copy.db")
    kept = len(slack.messages)
    await lifecycle.cancel(world.core, held.id, ALICE)
    await slack.take(world)
    assert (await world.request(held.id)).state is State.FAILED
    del slack.messages[kept:]
    del slack.messages[message_of(world, slack, held)]

    url = await put_in_place(copy, databases)
    await start(world, url, slack)
    assert (await world.request(held.id)).state is State.EXECUTING
    await slack.take(world)
    await cooled_off(world)

    assert [await world.debits(key) for key in keys] == [0] * len(keys)
    assert held.id in await the_alert(world)
    async with world.store.read() as tx:
        view = await view_models.request(tx, world.core, await world.request(held.id))
    assert "its message is not in Slack any more" in view.paused

    await lifecycle.cancel(world.core, held.id, ALICE)  # as of what was approved
    ended = [row.outcome_text for row in await rows_of(world, held)] or [
        (await world.request(held.id)).outcome_text
    ]
    assert all("from this database" in text and "Nothing was sent" not in text for text in ended), ended
    await copy_detection.look_at_unseen(world.core, slack.read)
    assert await open_alerts(world, "requests_unseen") == []
    await world.store.close()
    databases.drop(url)


@pytest.mark.parametrize("ask", [one_under_way, a_list_under_way])
async def test_what_is_under_way_goes_on_once_its_message_could_be_read(world: World, ask: Ask) -> None:
    slack = Slack()
    request = await ask(world, slack)
    slack.unread = {world.core.channels.approvals: "not_in_channel"}
    await restart(world, slack)
    await slack.take(world)
    world.core.unseen.clear()
    await cooled_off(world)
    assert (await world.request(request.id)).state is State.EXECUTING

    slack.unread = {}
    await copy_detection.look_at_unseen(world.core, slack.read)
    await world.run(60, step=10)
    assert (await world.request(request.id)).state is State.SUCCEEDED


async def test_what_may_have_been_carried_out_is_looked_up_and_not_sent_again(world: World) -> None:
    slack = Slack()
    request = await sent_with(world, slack, "drop_before_commit")
    assert request.state is State.EXECUTING
    del slack.messages[message_of(world, slack, request)]
    await restart(world, slack)
    await cooled_off(world)

    made = [one.purpose for one in await world.attempts(request.id)]
    assert (made[0], set(made[1:])) == ("send", {"look"})
    assert await world.debits(request.key) == 0


async def test_an_approval_of_what_is_held_under_way_runs_out(world: World) -> None:
    slack = Slack()
    request = await one_under_way(world, slack)
    del slack.messages[message_of(world, slack, request)]
    await restart(world, slack)
    await world.advance(timedelta(hours=25).total_seconds())
    await world.run(60, step=20)
    ended = await world.request(request.id)
    assert ended.state is State.FAILED
    assert await world.debits(request.key) == 0
    assert "It was not carried out from this database" in ended.outcome_text


async def test_a_person_who_deletes_a_message_while_nothing_runs_holds_that_request_alone(
    world: World,
) -> None:
    slack = Slack()
    one, other = await posted(world, slack), await posted(world, slack)
    waiting = await posted(world, slack, approved=False)
    for request in (one, waiting):
        del slack.messages[message_of(world, slack, request)]

    await restart(world, slack)
    await slack.take(world)  # its message is posted once more, and the next start sees that one
    await restart(world, slack)
    await cooled_off(world)

    assert (await modes(world), world.core.awaits_look()) == (0, False)
    states = [(await world.request(each.id)).state for each in (one, other, waiting)]
    assert states == [State.APPROVED, State.SUCCEEDED, State.PENDING]
    said = await the_alert(world)
    assert one.id in said
    assert other.id not in said
    assert waiting.id not in said, "nobody has approved it so far: whoever does it sees it as it is"
    async with world.store.read() as tx:
        view = await view_models.request(tx, world.core, await world.request(one.id))
    assert "It is not sent: its message is not in Slack any more" in view.paused

    await lifecycle.cancel(world.core, one.id, ALICE)
    await copy_detection.look_at_unseen(world.core, slack.read)
    assert await open_alerts(world, "requests_unseen") == []


async def test_one_approval_of_two_given_in_the_copy_is_not_completed_unseen(world: World) -> None:
    world.rebuild(policy=replace(a_policy(), kinds={"card_topup": KindPolicy(tiers=(Tier(1, 2),))}))  # type: ignore[arg-type]
    slack = Slack()
    request = await posted(world, slack)
    assert request.state is State.PENDING
    del slack.messages[message_of(world, slack, request)]

    await restart(world, slack)
    await world.approve(request, by=CAROL)
    await world.run(60)

    assert ((await world.request(request.id)).state, await world.attempts(request.id)) == (State.APPROVED, [])


async def test_no_row_of_a_list_is_sent_whose_message_was_not_seen(world: World) -> None:
    slack = Slack()
    batch = await a_list(world)
    await slack.take(world)
    await approve_list(world, batch)
    await slack.take(world)
    del slack.messages[message_of(world, slack, batch)]

    await restart(world, slack)
    await cooled_off(world)

    assert {row.state for row in await rows_of(world, batch)} <= {State.PENDING, State.APPROVED}
    assert batch.id in await the_alert(world)


@pytest.mark.parametrize("error", ["not_in_channel", "channel_not_found", "is_archived", "ratelimited"])
async def test_what_could_not_be_read_is_sent_once_it_was(world: World, error: str) -> None:
    slack = Slack()
    request = await posted(world, slack)
    slack.unread = {world.core.channels.approvals: error}

    await restart(world, slack)
    for what in list(world.core.unseen):  # ten minutes later it is sent although Slack was not read
        del world.core.unseen[what]
    await cooled_off(world)
    assert (await world.request(request.id)).state is State.APPROVED
    assert f"Not readable in <#{world.core.channels.approvals}>: {request.id}." in await the_alert(world)
    await copy_detection.look_at_unseen(world.core, slack.read)
    assert await open_alerts(world, "requests_unseen")

    slack.unread = {}
    await copy_detection.look_at_unseen(world.core, slack.read)
    await world.run(60)
    assert (await world.request(request.id)).state is State.SUCCEEDED
    assert (await open_alerts(world, "requests_unseen"), await modes(world)) == ([], 0)

    reads = slack.reads
    await copy_detection.look_at_unseen(world.core, slack.read)
    assert slack.reads == reads, "with nothing left to look at nobody asks Slack"


async def test_without_any_access_to_slack_requests_are_sent_as_ever(world: World) -> None:
    slack = Slack()
    request = await posted(world, slack)
    slack.unread = dict.fromkeys((world.core.channels.approvals, world.core.channels.alerts), "missing_scope")
    await restart(world, slack)
    await cooled_off(world)
    assert (await world.request(request.id)).state is State.SUCCEEDED


async def test_what_is_read_later_shows_an_older_copy_as_well(
    world: World, sqlite_files: SqliteFiles, tmp_path: Path
) -> None:
    slack = Slack()
    request = await posted(world, slack)
    copy = await copied(world, tmp_path / "copy.db")
    await lifecycle.cancel(world.core, request.id, ALICE)
    await slack.take(world)
    slack.unread = {world.core.channels.approvals: "not_in_channel"}
    await start(world, await put_in_place(copy, sqlite_files), slack)
    assert not await in_force(world)

    slack.unread = {}
    await copy_detection.look_at_unseen(world.core, slack.read)

    assert await in_force(world)
    assert (await world.request(request.id)).state is State.CANCELLED
    assert await open_alerts(world, "requests_unseen") == []


async def test_freezes_are_sent_all_the_same(world: World) -> None:
    slack = Slack()
    request = await posted(world, slack)
    del slack.messages[message_of(world, slack, request)]
    await restart(world, slack)
    freeze = await world.ask("card_freeze", {"card": world.cards[0]["id"]}, now=True)
    await world.run(10)
    assert (await world.request(freeze.id)).state is State.SUCCEEDED


async def test_a_new_database_says_once_that_another_one_posted_here(world: World) -> None:
    slack = Slack()
    slack.of_others = [world.core.channels.alerts]
    for _ in range(2):
        await restart(world, slack)
    await slack.take(world)
    await restart(world, slack)
    await slack.take(world)
    (said,) = [view for view in slack.drawn if isinstance(view, AlertView)]
    assert (said.kind, said.state) == ("new_database", "resolved")
    assert f"The older messages in <#{world.core.channels.alerts}> are from another database" in said.text


async def test_an_installation_beside_another_one_says_nothing_of_it(world: World) -> None:
    slack = Slack()
    await posted(world, slack, approved=False)
    slack.of_others = [world.core.channels.alerts]
    before = len(slack.messages)
    await restart(world, slack)
    await slack.take(world)
    assert len(slack.messages) == before


async def test_the_messages_of_what_may_be_sent_are_looked_at_first(world: World) -> None:
    slack = Slack()
    waiting, one = await posted(world, slack, approved=False), await posted(world, slack)
    wanted = await messages_in_slack.wanted(world.core)
    assert list(wanted.places) == [one.id, waiting.id]
