"""A request that is approved and has no message in Slack: an older copy has it as approved, whatever became of it.

Nobody can ask Slack about it. So where nothing says that the database is the newest, it waits for people; and what says
so at an honest restart is tested here, too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.domain.requests import Request, State
from bot.services import execution
from bot.services.anchor_places import AnchorPlaces
from bot.services.older_copies import copy_detection
from bot.services.processes import unseen_requests
from bot.services.requests import lifecycle, view_models
from storage import tables
from storage.protection import last_left
from storage.store import Store
from tests.storage.restores import VAULT, put_in_place, restart_on
from tests.storage.test_copies_of_lists import approve as approve_list
from tests.storage.test_copies_of_lists import pending as a_list
from tests.storage.test_copies_that_slack_shows import Slack, start
from tests.storage.test_requests_unseen_in_slack import COOL_OFF, cooled_off, restart, the_alert
from tests.storage.test_restores_at_odd_times import copied, in_force, open_alerts, read_ledger
from tests.support.databases import Databases
from tests.support.world import ALICE, World, a_policy, a_world


@pytest.fixture
async def world(tmp_path: Path, own_url: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=own_url) as world:
        policy = a_policy()
        top_ups = replace(policy.kinds["card_topup"], cool_off=COOL_OFF)
        world.rebuild(policy=replace(policy, kinds={"card_topup": top_ups}), anchors=AnchorPlaces([]))
        await read_ledger(world)
        yield world
        await world.store.close()


def url_of(world: World) -> str:
    return world.store.database.url.render_as_string(hide_password=False)


async def state_of(world: World, request: Request) -> State:
    return (await world.request(request.id)).state


@pytest.mark.parametrize("is_posted_later", [False, True])
async def test_what_was_stopped_since_the_copy_is_not_paid_from_it(
    world: World, databases: Databases, tmp_path: Path, is_posted_later: bool
) -> None:
    slack = Slack()
    request = await world.top_up("44", approved=True)
    copy = await copied(world, tmp_path / "copy.db")
    if is_posted_later:  # and deleted since
        await slack.take(world)
    await lifecycle.cancel(world.core, request.id, ALICE)
    slack.messages.clear()

    url = await put_in_place(copy, databases)
    await start(world, url, slack)
    await slack.take(world)  # it is posted from the copy now, which shows nothing
    await start(world, url, slack)
    await copy_detection.look_at_unseen(world.core, slack.read)
    await cooled_off(world)

    assert await state_of(world, request) is State.APPROVED
    assert await world.debits(request.key) == 0
    assert f"Never posted, as far as this database knows: {request.id}." in await the_alert(world)
    async with world.store.read() as tx:
        view = await view_models.request(tx, world.core, await world.request(request.id))
    assert "its message had not been posted in Slack when Countersign started" in view.paused

    after = await world.top_up("45", approved=True)  # it is no part of what may be older
    await copy_detection.look_at_slack(world.core, slack.read)
    await cooled_off(world)
    assert await state_of(world, after) is State.SUCCEEDED

    await lifecycle.cancel(world.core, request.id, ALICE)
    await unseen_requests.review(world.core)
    assert await open_alerts(world, "requests_unseen") == []


async def test_nor_are_the_rows_of_a_list_and_what_was_under_way(
    world: World, databases: Databases, tmp_path: Path
) -> None:
    slack = Slack()
    batch = await a_list(world)
    await approve_list(world, batch)
    one = await world.top_up("44", approved=True)
    await world.advance(COOL_OFF.total_seconds() + 1)
    await world.fault("status", status=429, times=1)
    await execution.execute(world.core, one.id)
    assert await state_of(world, one) is State.EXECUTING
    copy = await copied(world, tmp_path / "copy.db")
    for request in (batch, one):
        await lifecycle.cancel(world.core, request.id, ALICE)

    await start(world, await put_in_place(copy, databases), slack)
    await cooled_off(world)

    assert await world.debits(one.key) == 0
    said = await the_alert(world)
    assert (batch.id in said, one.id in said) == (True, True)


@pytest.mark.walk(most=4)
@pytest.mark.parametrize("away", ["not_in_channel", "is_archived", "missing_scope", ""])
@pytest.mark.parametrize("down", [timedelta(seconds=2), timedelta(minutes=5)])
async def test_a_restart_of_the_same_database_holds_nothing(world: World, away: str, down: timedelta) -> None:
    slack = Slack()
    slack.unread = {world.core.channels.approvals: away} if away else {}
    request = await world.top_up("44", approved=True)
    await world.run(60, step=10)  # Slack takes nothing meanwhile
    await world.advance(down.total_seconds())
    await restart(world, slack)
    await cooled_off(world)
    assert await open_alerts(world, "requests_unseen") == []
    assert await state_of(world, request) is State.SUCCEEDED


async def test_nor_does_one_after_a_start_that_could_not_know(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """From then on it is known."""
    monkeypatch.setattr(last_left, "MEMORY", tmp_path)  # of a machine that has started since
    async with world.store.begin() as tx:
        await tx.run(tables.meta.delete().where(tables.meta.c.name == "postgres_server"))
    slack = Slack()
    await restart(world, slack)
    request = await world.top_up("44", approved=True)
    await restart(world, slack)
    await cooled_off(world)
    assert await state_of(world, request) is State.SUCCEEDED


async def test_a_start_that_is_killed_before_it_holds_anything_does_not_count(
    world: World, databases: Databases, tmp_path: Path
) -> None:
    slack = Slack()
    request = await world.top_up("44", approved=True)
    copy = await copied(world, tmp_path / "copy.db")
    await lifecycle.cancel(world.core, request.id, ALICE)
    url = await put_in_place(copy, databases)
    await restart_on(world, url)
    async with world.store.begin() as tx:
        await tx.hold("anything")
    await start(world, url, slack)
    await cooled_off(world)
    assert await state_of(world, request) is State.APPROVED


@pytest.mark.parametrize("databases", ["postgresql"], indirect=True)
async def test_of_several_workers_the_first_one_holds_and_no_later_one_what_is_new(
    world: World, databases: Databases, tmp_path: Path
) -> None:
    request = await world.top_up("44", approved=True)
    copy = await copied(world, tmp_path / "copy.db")
    url = await put_in_place(copy, databases)
    slack = Slack()
    await restart_on(world, url)
    second = await Store.open(url, vault=VAULT, clock=world.clock)
    assert not second.is_newest
    await unseen_requests.hold_never_posted(world.core)
    after = await world.top_up("45", approved=True)
    world.rebuild(store=second)
    await copy_detection.look_at_slack(world.core, slack.read)
    async with world.store.read() as tx:
        assert set(await unseen_requests.of(tx)) == {request.id}
    await cooled_off(world)
    assert await state_of(world, after) is State.SUCCEEDED
    await second.close()


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
async def test_a_file_of_a_moment_ago_is_not_taken_for_the_newest(
    world: World, databases: Databases, tmp_path: Path
) -> None:
    """Put back under its own name, on the machine that remembers the newer one."""
    slack = Slack()
    await restart(world, slack)
    request = await world.top_up("44", approved=True)
    copy = await copied(world, tmp_path / "copy.db")
    await lifecycle.cancel(world.core, request.id, ALICE)
    url, path = url_of(world), world.store.database.path
    assert path is not None
    await world.store.close()
    path.write_bytes(copy.read_bytes())
    world.store = await Store.open(url, vault=VAULT, clock=world.clock)
    assert not world.store.is_newest
    await start(world, url, slack)
    await cooled_off(world)
    assert await state_of(world, request) is State.APPROVED
    assert not await in_force(world)


async def test_nobody_else_can_say_what_the_machine_remembers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(last_left, "MEMORY", tmp_path)
    memory = last_left.MachineMemory(tmp_path / "bot.db")
    now = datetime(2026, 1, 2, tzinfo=UTC)
    memory.write(7, "ab", now)
    assert memory.read() == (7, "ab", now)
    memory._folder.chmod(0o777)
    assert memory.read() is None
    memory._folder.chmod(0o700)
    memory.forget_others(memory._file.stat().st_mtime + 3 * 86_400)
    assert memory.read() is None
