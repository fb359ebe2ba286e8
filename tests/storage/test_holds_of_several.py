"""Two workers on one database, of which one could not look since its start: people read that sending waits only while
none of them may send, and it is never said and unsaid in turns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.metrics import exposition
from bot.metrics.sources import Sources
from bot.partner.client import PartnerClient
from bot.partner.ratelimit import RateLimiter
from bot.services.anchor_places import AnchorPlaces
from bot.services.core import Core
from bot.services.older_copies import copy_detection, messages_in_slack
from bot.services.operators import health
from bot.services.overview import status
from bot.services.processes import start_holds
from storage.messages import outbox
from storage.operators import replicas
from storage.store import Store
from tests.storage.restores import VAULT
from tests.storage.test_restores_at_odd_times import open_alerts, read_ledger
from tests.support.databases import PostgresDatabases
from tests.support.world import World, a_world

pytestmark = pytest.mark.by_turns(2)

AT = datetime(2026, 3, 2, 8, tzinfo=UTC)
STOOD_STILL = text("UPDATE replica SET beat_at = beat_at - :passed WHERE owner = :owner")


@pytest.fixture
def databases(postgres_databases: PostgresDatabases) -> PostgresDatabases:
    """On SQLite there is one process."""
    return postgres_databases


@dataclass
class Two:
    """Workers, each with a store and a client of its own. The faults of the simulator are those of who asks then."""

    world: World
    cores: list[Core]

    async def start(self, one: int, *, reads: bool) -> None:
        core = self.cores[one]
        core.unseen.clear()
        await self.answers(reads)
        async with core.store.begin() as tx:
            await replicas.begin(tx, core.owner, "worker")
        await copy_detection.hold_until_seen(core)
        await self.answers(True)

    async def answers(self, does: bool) -> None:
        await self.world.control.delete("/_control/faults")
        if not does:
            await self.world.fault("status", status=500, times=1000, operation="GET /ledger")

    async def pass_s(self, seconds: int, *, unread_by: frozenset[int] = frozenset()) -> None:
        """The timers of both, every ten seconds."""
        for _ in range(seconds // 10):
            await self.world.advance(10)
            for number, core in enumerate(self.cores):
                await self.answers(number not in unread_by)
                await copy_detection.look_again(core, messages_in_slack.nothing_posted)
                await start_holds.report(core)
        await self.answers(True)

    async def dies(self, one: int, *, silent_for_s: float) -> None:
        async with self.world.store.begin() as tx:
            passed = {"passed": timedelta(seconds=silent_for_s), "owner": self.cores[one].owner}
            await tx.run(STOOD_STILL, passed)

    async def said(self) -> list[bool]:
        """Whether each place says that sending waits: status, and /readyz and the metric of both."""
        found = ["could not read" in (await status.program_state(self.world.core, "main")).paused]
        for core in self.cores:
            shown = await exposition.text(Sources(core, _connected, "postgresql", AT), asyncio.Lock())
            found.append(b'countersign_held_since_start{program="main"} 1.0' in shown)
        found += [await health.looked_since_start(core) is not None for core in self.cores]
        return found

    async def redrawn(self) -> int:
        async with self.world.store.read() as tx:
            return len(await outbox.next_due(tx, limit=1000))

    async def titles(self) -> list[str]:
        return [one.title for one in await open_alerts(self.world, "ledger_unseen")]


async def _connected() -> bool:
    return True


@pytest.fixture
async def two(tmp_path: Path, own_url: str) -> AsyncIterator[Two]:
    async with a_world(tmp_path, url=own_url) as world, AsyncExitStack() as stack:
        world.rebuild(anchors=AnchorPlaces([]))
        await read_ledger(world)
        cores = []
        for name in ("host:1:a", "host:2:b"):
            store = await Store.open(own_url, vault=VAULT, clock=world.clock)
            stack.push_async_callback(store.close)
            simulator, limiter = world.simulator, RateLimiter(world.clock)
            client = PartnerClient(simulator.base_url, simulator.key, limiter=limiter, clock=world.clock)
            stack.push_async_callback(client.aclose)
            cores.append(replace(world.core, store=store, owner=name, partners={"main": client}, unseen={}))
        yield Two(world, cores)


@pytest.mark.parametrize("reads_first", [True, False])
async def test_while_one_worker_may_send_nobody_reads_that_sending_waits(two: Two, reads_first: bool) -> None:
    blind = 1 if reads_first else 0
    await two.start(0, reads=reads_first)
    await two.start(1, reads=not reads_first)
    request = await two.world.top_up("5")
    drawn = await two.redrawn()
    for _ in range(6):
        assert await two.said() == [False] * 5
        await two.pass_s(10, unread_by=frozenset({blind}))
    assert await two.redrawn() - drawn <= 1, "the request's messages are not drawn over and over"
    (title,) = await two.titles()
    assert "waits" not in title, "the other one sends"
    assert two.cores[blind].awaits_look(), "what it has not seen itself it does not send"
    assert not two.cores[1 - blind].awaits_look()
    assert request.program == "main"


async def test_while_no_worker_may_send_everybody_reads_why_and_it_ends_with_the_first_that_may(
    two: Two,
) -> None:
    await two.start(0, reads=False)
    await two.start(1, reads=False)
    await two.world.top_up("5")
    both = frozenset({0, 1})
    for _ in range(6):
        assert await two.said() == [True] * 5
        await two.pass_s(10, unread_by=both)
    (title,) = await two.titles()
    assert "waits" in title

    await two.pass_s(20, unread_by=frozenset({1}))
    assert await two.said() == [False] * 5
    (title,) = await two.titles()
    assert "waits" not in title
    await two.pass_s(20)
    assert await two.titles() == []


async def test_the_death_of_the_worker_that_may_send_is_noticed(two: Two) -> None:
    await two.start(0, reads=True)
    await two.start(1, reads=False)
    await two.world.top_up("5")
    await two.dies(0, silent_for_s=11)
    await two.world.advance(10)
    await two.answers(False)
    await start_holds.report(two.cores[1])
    assert await two.said() == [True, True, True, False, True], "the dead one's /readyz answers nobody"
    # What the dead worker left is of no process any more.
    async with two.world.store.begin() as tx:
        await replicas.end(tx, two.cores[0].owner)
    await two.start(0, reads=True)
    assert await two.said() == [False] * 5


async def test_an_alert_of_a_worker_that_is_gone_ends(two: Two) -> None:
    await two.start(0, reads=True)
    await two.start(1, reads=False)
    await two.pass_s(60, unread_by=frozenset({1}))
    assert len(await two.titles()) == 1
    async with two.world.store.begin() as tx:
        await replicas.end(tx, two.cores[1].owner)
    await start_holds.report(two.cores[0])
    assert await two.titles() == []


async def test_a_worker_that_starts_says_nothing_while_another_sends(two: Two) -> None:
    """Its start takes a moment in which it may not send."""
    await two.start(0, reads=True)
    async with two.world.store.begin() as tx:
        await replicas.begin(tx, two.cores[1].owner, "worker")
    start_holds.begin(two.cores[1], "main", error="It has not answered yet.")
    await start_holds.note(two.cores[1])
    assert await two.said() == [False] * 5
