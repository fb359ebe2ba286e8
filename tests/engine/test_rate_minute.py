"""The minute of a key in PostgreSQL: two replicas at 120 a minute send 120 a minute in all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from bot.domain.time import SystemClock
from bot.partner.client import PartnerClient
from bot.partner.ratelimit import Lane, SharedRateLimiter
from bot.services.processes import StoredMinute
from storage.store import Store
from storage.vault import Keyring, Vault
from tests.support.databases import PostgresDatabases
from tests.support.waiting import eventually
from tests.support.world import MASTER, World, a_world

MOST_OF_PEOPLE = 108


@asynccontextmanager
async def replicas(world: World, url: str, count: int) -> AsyncIterator[list[PartnerClient]]:
    """Clients of one key, each with a budget that is in the database."""
    async with AsyncExitStack() as stack:
        made = []
        for number in range(count):
            store = await Store.open(url, vault=Vault(Keyring.parse(MASTER)), clock=world.clock)
            stack.push_async_callback(store.close)
            minute = StoredMinute(store, world.simulator.key[:16])
            limiter = SharedRateLimiter(SystemClock(), minute, owner=f"bot-{number}")
            stack.push_async_callback(limiter.aclose)
            client = PartnerClient(
                world.simulator.base_url, world.simulator.key, limiter=limiter, clock=SystemClock()
            )
            stack.push_async_callback(client.aclose)
            made.append(client)
        yield made


async def test_replicas_send_together_what_the_key_may(
    postgres_databases: PostgresDatabases, tmp_path: Path
) -> None:
    """H40. Counted where the calls arrive."""
    url = postgres_databases.migrated()
    async with a_world(tmp_path, url=url) as world, replicas(world, url, 2) as both:
        await world.advance(61)  # what the world itself has sent
        before = len(await world.sent("GET /me"))
        calls = [asyncio.create_task(client.me()) for client in both for _ in range(90)]

        async def sent() -> int:
            return len(await world.sent("GET /me")) - before

        async def is_used_up() -> bool:
            return await sent() >= MOST_OF_PEOPLE

        await eventually("the minute of people is used up", is_used_up, within_s=30, every_s=0.1)
        await asyncio.sleep(0.5)
        assert await sent() == MOST_OF_PEOPLE, "and no more than that"

        urgent = [client.in_lane(Lane.URGENT).me() for client in both for _ in range(6)]
        await asyncio.gather(*urgent)
        assert await sent() == 120

        refused = [call for call in await world.sent("GET /me") if call["status"] == 429]
        for call in calls:
            call.cancel()
        await asyncio.wait(calls)
    postgres_databases.drop(url)
    assert refused == []


async def test_nothing_left_for_one_is_nothing_left_for_the_other(
    postgres_databases: PostgresDatabases, tmp_path: Path
) -> None:
    url = postgres_databases.migrated()
    async with a_world(tmp_path, url=url) as world, replicas(world, url, 2) as (one, other):
        await world.advance(61)
        await one.me()
        limiter = one._limiter
        assert isinstance(limiter, SharedRateLimiter)
        limiter.observe(limit=120, remaining=0)
        await limiter.aclose()

        before = len(await world.sent("GET /me"))
        waiting = asyncio.create_task(other.me())
        await asyncio.sleep(0.5)

        assert len(await world.sent("GET /me")) == before
        waiting.cancel()
        await asyncio.wait([waiting])
    postgres_databases.drop(url)
