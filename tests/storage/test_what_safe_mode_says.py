"""What people read in safe mode of what was paid since the copy, and of what was requested on the copy itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.domain.requests import State
from bot.services.alerts import ledger_rules
from bot.services.anchor_places import AnchorPlaces
from bot.services.older_copies import copy_detection, messages_in_slack
from bot.services.operators import safe_mode
from storage import audit
from storage.operators import safe_mode as rows
from tests.storage.restores import debit, put_in_place, restart_on
from tests.storage.test_restores_at_odd_times import copied, in_force, lines_of, open_alerts, read_ledger
from tests.support.databases import SqliteFiles
from tests.support.world import World, a_world


@pytest.fixture
async def world(tmp_path: Path, sqlite_files: SqliteFiles) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=sqlite_files.migrated()) as world:
        world.rebuild(anchors=AnchorPlaces([]))
        await read_ledger(world)
        yield world
        await world.store.close()


async def start(world: World, copy: Path, files: SqliteFiles) -> None:
    await restart_on(world, await put_in_place(copy, files))
    world.core.unseen.clear()
    await copy_detection.hold_until_seen(world.core)


@pytest.mark.parametrize("and_unknown", [False, True])
async def test_what_was_paid_of_a_request_that_the_copy_has_as_waiting_is_counted_and_listed(
    world: World, sqlite_files: SqliteFiles, tmp_path: Path, and_unknown: bool
) -> None:
    request = await world.top_up("10", approved=False)
    copy = await copied(world, tmp_path / "copy.db")
    await world.approve(request)
    await world.run(60)
    if and_unknown:
        await debit(world, 4)
    await start(world, copy, sqlite_files)
    for _ in range(2):
        await ledger_rules.compare(world.core, "main")
        await safe_mode.review(world.core)

    (alert,) = await open_alerts(world, "older_copy")
    async with world.store.read() as tx:
        summary = await safe_mode.summary(tx)
    listed = await lines_of(world, alert)
    for text in (alert.text.replace("*", ""), summary):
        assert "1 debit of 10.00 USD in all are of requests that" in text
        assert "has as not carried out" in text
        assert ("1 debit of 5.00 USD in all are not known to" in text) == and_unknown
        assert "no debit" not in text
        assert "knows every debit" not in text
    assert listed.count(f", of {request.id}, not carried out as this copy has it") == 1
    assert listed.count(request.key) == 1


async def test_what_was_requested_on_the_copy_is_not_said_to_have_an_unknown_past(
    world: World, sqlite_files: SqliteFiles, tmp_path: Path
) -> None:
    before = await world.top_up("3")
    copy = await copied(world, tmp_path / "copy.db")
    await debit(world, 4)
    await world.advance(3600)
    await world.fault("status", status=500, times=1000, operation="GET /ledger")
    await start(world, copy, sqlite_files)
    since = await world.top_up("4", card=1)
    await world.control.delete("/_control/faults")
    await copy_detection.look_again(world.core, messages_in_slack.nothing_posted)

    assert await in_force(world)
    lost, made = await world.request(before.id), await world.request(since.id)
    assert (lost.state, made.state) == (State.CANCELLED, State.CANCELLED)
    assert "what happened to this request after" in lost.outcome_text
    assert "what happened to this request after" not in made.outcome_text
    assert "requested before Countersign found that its database is an older copy" in made.outcome_text


@pytest.mark.parametrize("began", ["nothing was recorded", "after the newest anchor"])
async def test_a_new_database_does_not_say_that_it_knows_every_debit(
    world: World, sqlite_files: SqliteFiles, began: str
) -> None:
    """It has another name than the one before, so it knows none of the keys of that one."""
    await world.top_up("10", approved=True)
    await world.run(60)
    at = world.clock.now()
    await restart_on(world, sqlite_files.migrated())
    await world.advance(60)
    is_empty = began == "nothing was recorded"
    if not is_empty:
        async with world.store.begin() as tx:
            await audit.append(tx, actor="test", action="something", subject="test")
    head = (0, None) if is_empty else (1, world.clock.now())
    await safe_mode.enter(world.core, head, (40, at))
    async with world.store.read() as tx:
        mode = await rows.current(tx)
        assert mode is not None
        said = safe_mode._said(mode, [], [], is_new=await safe_mode._is_new(tx, mode))
        summary = await safe_mode.summary(tx)
    assert "knows every debit" not in said.text
    assert "This database is a new one" in said.text
    assert "it is a new one" in summary
    assert "no debit" not in summary
