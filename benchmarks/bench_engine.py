"""How many approved top-ups a second the embedded carrier carries out; the floor is the same calls alone."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Coroutine
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import Row, wanted
from bot.domain.time import SystemClock
from bot.engine.embedded import Embedded
from bot.partner.client import PartnerClient
from bot.partner.codec import encode
from bot.partner.ratelimit import RateLimiter
from bot.services import execution
from bot.services.cards import card_sync
from tests.crash.outside import PLENTY, issue_card
from tests.support.world import World, a_world

REQUESTS = 120


def measure() -> list[Row]:
    """Requests a second, approved to succeeded, on SQLite; each on a card of its own."""
    with tempfile.TemporaryDirectory() as folder:
        ours, calls, bare = asyncio.run(_measured(Path(folder)))
    return [
        Row("top-ups called one for one, nothing recorded", f"{bare:.0f}/s"),
        Row("the same with the reads of an execution", f"{calls:.0f}/s"),
        Row(
            "executions, checked, recorded and audited",
            f"{ours:.0f}/s",
            f"{ours / calls:.2f} of its bare calls {wanted(ours / calls, at_least=0.5)},"
            f" {ours / bare:.2f} of the top-up alone; the API allows 2/s",
        ),
    ]


async def _measured(folder: Path) -> tuple[float, float, float]:
    async with a_world(folder) as world:
        key = (await world.tell("keys", {"rate_limit_per_minute": PLENTY}))["key"]
        clock = SystemClock()
        client = PartnerClient(
            world.simulator.base_url, key, limiter=RateLimiter(clock, per_minute=PLENTY), clock=clock
        )
        world.rebuild(partners={"main": client})
        await world.tell("float", {"amount_usd": str(PLENTY)})
        cards = [issue_card(world.simulator, f"BENCH {n}", f"bench-{n}") for n in range(REQUESTS)]
        await card_sync.sync_cards(world.core, "main")
        try:
            ours = await _executions(world, cards)
            calls = await _rate([_execution_calls(client, card, n) for n, card in enumerate(cards)])
            bare = await _rate([_top_up(client, card, f"bare-{n}") for n, card in enumerate(cards)])
        finally:
            await client.aclose()
        return ours, calls, bare


async def _executions(world: World, cards: list[str]) -> float:
    for card in cards:
        request = await world.ask("card_topup", {"card": card, "amount_usd": "1"})
        await world.approve(request)
    carrier = Embedded()
    before = time.perf_counter()
    running = asyncio.create_task(
        carrier.run(partial(execution.due, world.core), partial(execution.execute, world.core))
    )
    while any(queue.ids for queue in await execution.due(world.core)):
        await asyncio.sleep(0.05)
    await carrier.drain(10)
    took_s = time.perf_counter() - before
    running.cancel()
    return len(cards) / took_s


async def _execution_calls(client: PartnerClient, card: str, number: int) -> None:
    await client.me()
    await client.card(card)
    await _top_up(client, card, f"calls-{number}")
    await client.card(card)


async def _top_up(client: PartnerClient, card: str, key: str) -> None:
    await client.top_up(card, encode({"amount_usd": Decimal(1)}), key=key)


async def _rate(work: list[Coroutine[Any, Any, None]]) -> float:
    """How many a second, as many at once as the carrier has."""
    gate = asyncio.Semaphore(execution.AT_ONCE)

    async def one(call: Coroutine[Any, Any, None]) -> None:
        async with gate:
            await call

    before = time.perf_counter()
    await asyncio.gather(*map(one, work))
    return len(work) / (time.perf_counter() - before)
