"""A backup from before the first passkey is restored: the steps of the runbook lead out of safe mode, and nothing else.

Who restores it has the machine. Who has Slack sessions alone, or writes to the database, is not let in by the copy.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.domain.errors import CountersignError, NotAllowed, PasskeyNeeded
from bot.services import audit_anchors
from bot.services.anchor_places import AnchorPlaces
from bot.services.events import Poller
from bot.services.operators import pausing, safe_mode
from bot.services.passkeys import enrolment, links
from storage import audit
from storage.maintenance import back_up
from storage.operators import safe_mode as rows
from tests.services.test_passkeys_on_record import confirm_by_click, reset
from tests.storage.restores import VAULT, put_in_place, restart_on
from tests.support.databases import Databases
from tests.support.passkeys import SITE, Devices, with_passkeys
from tests.support.world import BOB, CAROL, World, a_world

#: Long stories, which are the same on either database.
pytestmark = [pytest.mark.walk(turns="databases"), pytest.mark.by_turns(2)]


@pytest.fixture
async def world(tmp_path: Path, own_url: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=own_url) as world:
        world.rebuild(policy=with_passkeys(), passkeys=SITE, anchors=AnchorPlaces([tmp_path / "anchors"]))
        yield world
        await world.store.close()


async def _restored_from_before_the_first(
    world: World, databases: Databases, folder: Path, own_url: str
) -> str:
    """Where the copy is that was put in place, as Bob and Carol had passkeys; it has just been started."""
    async with world.store.begin() as tx:  # a database in which nothing was recorded is no backup
        await audit.append(tx, actor="system:test", action="test.began", subject="test")
    await audit_anchors.drop(world.core)
    await back_up(own_url, folder / "copy.db", vault=VAULT, clock=world.clock)
    await world.advance(60)
    before = Devices(world)
    await before.add(BOB, CAROL)
    await before.add(CAROL, BOB)
    await audit_anchors.drop(world.core)
    url = await put_in_place(folder / "copy.db", databases)
    assert await _restarted(world, url, folder)
    return url


async def _restarted(world: World, url: str, folder: Path) -> bool:
    """Was it an older copy?"""
    world.rebuild(
        anchors=AnchorPlaces([folder / "anchors"])
    )  # as another process, which remembers nothing of them
    return await restart_on(world, url) is not None


async def _is_safe_mode(world: World) -> bool:
    async with world.store.read() as tx:
        return await rows.current(tx) is not None


async def _resume(world: World, devices: Devices) -> None:
    await Poller(world.core, account_every=timedelta(seconds=60)).first_ledger()
    await safe_mode.review(world.core)
    await pausing.resume(world.core, BOB, ["main"])
    with pytest.raises(PasskeyNeeded) as needed:
        await pausing.resume(world.core, CAROL, ["main"])
    await devices.use(await links.for_needed(world.core, needed.value, CAROL), CAROL)


@pytest.mark.parametrize("starts", [False, True], ids=["in one process", "with a start after each step"])
async def test_after_a_reset_at_the_machine_two_people_add_passkeys_and_resume_with_them(
    world: World, databases: Databases, tmp_path: Path, own_url: str, starts: bool
) -> None:
    url = await _restored_from_before_the_first(world, databases, tmp_path, own_url)
    devices = Devices(world)

    with pytest.raises(NotAllowed, match="countersign keys reset-passkeys"):
        await enrolment.begin(world.core, BOB, "Mac")
    await reset(world)
    for person, other in ((BOB, CAROL), (CAROL, BOB)):
        if starts:
            assert not await _restarted(world, url, tmp_path), "an anchor of before counts as of another copy"
        await devices.add(person, other)
    await world.advance(60)
    await _resume(world, devices)

    assert not await _is_safe_mode(world)
    assert not await _restarted(world, url, tmp_path)
    request = await world.top_up("5", approved=False)
    assert "approved" in (await devices.approve(request)).text


async def test_a_second_person_still_needs_a_passkey_after_the_first_was_added(
    world: World, databases: Databases, tmp_path: Path, own_url: str
) -> None:
    await _restored_from_before_the_first(world, databases, tmp_path, own_url)
    await reset(world)
    devices = Devices(world)
    await devices.add(BOB, CAROL)

    made = await devices.make(CAROL)

    with pytest.raises(PasskeyNeeded):
        await confirm_by_click(world, made, BOB)


async def test_no_reset_of_the_copy_or_of_before_counts_after_another_restore(
    world: World, databases: Databases, tmp_path: Path, own_url: str
) -> None:
    """A copy that was itself made after a reset: nobody at the machine has said yet that this one goes on."""
    await reset(world)
    await _restored_from_before_the_first(world, databases, tmp_path, own_url)

    with pytest.raises(CountersignError, match="countersign keys reset-passkeys"):
        await enrolment.begin(world.core, BOB, "Mac")
