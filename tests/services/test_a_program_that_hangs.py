"""Two programs, of which the API of one does not answer: what is read for the other does not wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any, cast

import pytest

from bot.partner.client import PartnerClient
from bot.partner.secret import Secret
from bot.services.cards import card_sync
from bot.services.events import Poller
from bot.services.events.backfill import CURSOR, Backfill
from bot.services.events.intake import Intake
from bot.services.events.polling import POLLED
from bot.services.operators import programs
from storage.cards import api_snapshots
from storage.events import cursors
from storage.operators import programs as program_rows
from tests.support.waiting import eventually
from tests.support.world import World

OTHER = "other"
Look = Callable[[World], Awaitable[Any]]


class Hangs:
    """A client whose calls are not answered."""

    def __getattr__(self, name: str) -> Any:
        async def call(*_: Any, **__: Any) -> Any:
            await asyncio.sleep(60)

        async def rows(*_: Any, **__: Any) -> AsyncIterator[Any]:
            await asyncio.sleep(60)
            yield

        return rows if name in ("cards", "fleet_balances", "ledger_entries", "events") else call


async def moved(world: World) -> None:
    await Poller(world.core, account_every=timedelta(seconds=60)).moved()


async def is_read(world: World) -> bool:
    async with world.store.read() as tx:
        return not await card_sync.queued_readings(tx, OTHER)


async def probed(world: World) -> None:
    await programs.probe_paused(world.core)


async def goes_on(world: World) -> bool:
    return not await programs.is_paused(world.core, OTHER)


async def first_cards(world: World) -> None:
    await Poller(world.core, account_every=timedelta(seconds=60)).first_cards()


async def first_ledger(world: World) -> None:
    await Poller(world.core, account_every=timedelta(seconds=60)).first_ledger()


async def is_polled(world: World) -> bool:
    async with world.store.read() as tx:
        return bool(await api_snapshots.named(tx, OTHER, POLLED))


async def event_log(world: World) -> None:
    await Backfill(world.core, cast(Intake, None)).run_once()


async def log_is_read(world: World) -> bool:
    async with world.store.read() as tx:
        return await cursors.get(tx, OTHER, CURSOR) is not None


@pytest.mark.parametrize(
    ("job", "is_done"),
    [
        (moved, is_read),
        (probed, goes_on),
        (first_cards, is_polled),
        (first_ledger, is_polled),
        (event_log, log_is_read),
    ],
)
async def test_the_other_program_is_read_all_the_same(world: World, job: Look, is_done: Look) -> None:
    real = world.core.partners["main"]
    async with world.store.begin() as tx:
        await program_rows.put(tx, OTHER, base_url=world.simulator.base_url, key=Secret(world.simulator.key))
        for program in ("main", OTHER):
            await program_rows.pause(tx, program, "UNAUTHORIZED")
            await card_sync.queue_reading_of_change(tx, program, world.cards[0]["id"])
    world.rebuild(partners={"main": cast(PartnerClient, Hangs()), OTHER: real})
    running = asyncio.create_task(cast(Any, job(world)))
    try:
        await eventually("the other is read", lambda: is_done(world), within_s=5)
    finally:
        running.cancel()
        await asyncio.wait({running})
