"""The audit log is read in the background from a start on, also where it isn't whole at first."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from bot import startup
from bot.services.anchor_places import EVERY_ENTRIES, AnchorPlaces
from bot.services.passkeys import readiness
from storage import audit
from storage.transaction import Tx
from tests.services.test_passkeys_on_record import next_start
from tests.support.waiting import eventually
from tests.support.world import World


async def _entries(world: World, count: int) -> None:
    async with world.store.begin() as tx:
        for number in range(count):
            await audit.append(tx, actor="x", action="alert.raised", subject=f"alert:{number}")


async def _end(world: World) -> int:
    async with world.store.read() as tx:
        return (await audit.head(tx)).seq


async def _until_read(world: World) -> None:
    end = await _end(world)
    await eventually("all of the log was read", lambda: world.store._chain.passkeys.seq >= end, within_s=20)


async def test_all_of_the_log_is_read_in_the_background_and_the_loop_ends_with_the_bot(world: World) -> None:
    await _entries(world, 2_500)
    next_start(world)

    learning = asyncio.create_task(readiness.learn(world.core))
    await _until_read(world)
    assert not learning.done()
    world.core.closing.set()
    await asyncio.wait_for(learning, 20)


async def test_a_log_that_is_not_whole_is_logged_and_read_once_it_is_repaired(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(readiness, "_AGAIN_S", 0.01)
    await _entries(world, 5)
    next_start(world)
    head = await _end(world)
    real, is_damaged = audit.Walk.to, True

    async def damaged(self: audit.Walk, tx: Tx, seq: int) -> None:
        await real(self, tx, seq)
        if is_damaged:
            self.fault = (2, "hash")

    monkeypatch.setattr(audit.Walk, "to", damaged)
    caplog.set_level(logging.ERROR, logger="countersign.passkeys")
    learning = asyncio.create_task(readiness.learn(world.core))
    await eventually("it was logged", lambda: "passkeys.log_not_whole" in caplog.messages, within_s=20)
    assert world.store._chain.passkeys.seq == 0
    is_damaged = False
    await _until_read(world)
    world.core.closing.set()
    await asyncio.wait_for(learning, 20)
    assert world.store._chain.passkeys.seq == head


@pytest.mark.parametrize(("more", "is_said"), [(0, False), (EVERY_ENTRIES + 1, True)])
async def test_a_start_says_that_a_place_holds_no_anchors(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture, more: int, is_said: bool
) -> None:
    """Its file is missing, and the log was cut off before it said that the place keeps any."""
    await _entries(world, more)
    caplog.set_level(logging.ERROR, logger="countersign.app")

    await startup.check_audit(world.store, AnchorPlaces([tmp_path / "gone"]))

    said = [one for one in caplog.records if one.message == "audit.no_anchors_kept"]
    assert bool(said) is is_said
    assert not said or "gone, although the audit log has" in vars(said[0])["fault"]
