"""How many approved top-ups a second one, two and three replicas carry out on PostgreSQL while each API call takes 2 s.

The replicas are executors with connections, a carrier, a client and slots of their own; they share one event loop, as
they mostly wait. What a call costs in processor time is in `bench_engine`.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path

from benchmarks import Row, wanted
from bot.domain.requests import State
from bot.engine.distributed import Distributed
from bot.partner.client import PartnerClient
from bot.partner.ratelimit import SharedRateLimiter
from bot.services import execution
from bot.services.cards import card_sync
from bot.services.core import Core
from bot.services.processes import StoredMinute
from storage.requests import requests
from storage.store import Store
from storage.vault import Keyring, Vault
from tests.crash.outside import PLENTY, issue_card
from tests.support.databases import PostgresDatabases, postgres_server
from tests.support.waiting import eventually
from tests.support.world import MASTER, World, a_world

REPLICAS = (1, 2, 3)
# Two rounds of three replicas, whose slots are then full.
REQUESTS = 2 * 3 * execution.AT_ONCE
CALL_S = 2.0
CALLED = ("GET /me", "GET /cards/{cardId}", "POST /cards/{cardId}/topup")
WITHIN_S = 300.0


@dataclass(frozen=True, slots=True)
class _Figures:
    per_s: float
    calls: int


def measure(size: int = REQUESTS) -> list[Row]:
    """Executions a second by the number of replicas, all on one database and one key; and the calls of each."""
    with tempfile.TemporaryDirectory() as folder, postgres_server() as url:
        databases = PostgresDatabases(url)
        found = asyncio.run(_measured(Path(folder), databases.migrated(), size))
        databases.close()
    alone = found[1].per_s
    return [_row(replicas, figures, figures.per_s / alone, size) for replicas, figures in found.items()]


def _row(replicas: int, figures: _Figures, times: float, size: int) -> Row:
    goal = f" {wanted(times, at_least=2.2)}" if replicas == max(REPLICAS) else ""
    more = f"{times:.2f} times one{goal}; " if replicas > 1 else ""
    return Row(
        f"{replicas} × {execution.AT_ONCE} slots",
        f"{figures.per_s:.2f}/s",
        f"{more}{figures.calls / size:.2f} calls an execution {wanted(figures.calls / size, at_most=3)}",
    )


async def _measured(folder: Path, url: str, size: int) -> dict[int, _Figures]:
    async with a_world(folder, url=url) as world:
        key = (await world.tell("keys", {"rate_limit_per_minute": PLENTY}))["key"]
        await world.tell("float", {"amount_usd": str(PLENTY)})
        numbers = count()
        found = {}
        for replicas in REPLICAS:
            ids = await _approved(world, [next(numbers) for _ in range(size)])
            before = len(await _calls(world))
            for call in CALLED:
                slow = {"operation": call, "effect": "delay", "seconds": CALL_S, "times": PLENTY}
                await world.tell("faults", slow)
            took_s = await _carried_out(world, url, key, replicas, ids)
            await world.control.delete("/_control/faults")
            found[replicas] = _Figures(size / took_s, len(await _calls(world)) - before)
        return found


async def _approved(world: World, numbers: list[int]) -> list[str]:
    """One top-up for each, on a card of its own; nothing is carried out yet."""
    cards = [issue_card(world.simulator, f"BENCH {number}", f"bench-{number}") for number in numbers]
    await card_sync.sync_cards(world.core, "main")
    ids = []
    for card in cards:
        request = await world.ask("card_topup", {"card": card, "amount_usd": "1"})
        ids.append((await world.approve(request))[0].id)
    return ids


async def _calls(world: World) -> list[str]:
    journal = (await world.control.get("/_control/journal")).json()["requests"]
    return [call["path"] for call in journal]


async def _carried_out(world: World, url: str, key: str, replicas: int, ids: list[str]) -> float:
    """Seconds until all of them have succeeded."""
    async with AsyncExitStack() as stack:
        cores = [await _replica(world, url, key, f"bot-{number}", stack) for number in range(replicas)]
        began = time.perf_counter()
        running = [
            asyncio.create_task(
                _carrier(core).run(partial(execution.due, core), partial(execution.execute, core))
            )
            for core in cores
        ]
        await eventually(
            "all have succeeded", partial(_succeeded, world, ids), within_s=WITHIN_S, every_s=0.05
        )
        took_s = time.perf_counter() - began
        for task in running:
            task.cancel()
        await asyncio.wait(running)
        await asyncio.gather(*(_carrier(core).drain(2) for core in cores))
    return took_s


async def _replica(world: World, url: str, key: str, owner: str, stack: AsyncExitStack) -> Core:
    store = await Store.open(url, vault=Vault(Keyring.parse(MASTER)), clock=world.clock)
    stack.push_async_callback(store.close)
    limiter = SharedRateLimiter(world.clock, StoredMinute(store, key[:16]), owner=owner, per_minute=PLENTY)
    stack.push_async_callback(limiter.aclose)
    client = PartnerClient(world.simulator.base_url, key, limiter=limiter, clock=world.clock)
    stack.push_async_callback(client.aclose)
    carrier = Distributed(store.database.libpq, execution.every_queue(["main"]))
    return replace(world.core, store=store, owner=owner, partners={"main": client}, carrier=carrier)


def _carrier(core: Core) -> Distributed:
    assert isinstance(core.carrier, Distributed)
    return core.carrier


async def _succeeded(world: World, ids: list[str]) -> bool:
    async with world.store.read() as tx:
        return all([(await requests.get(tx, id_)).state is State.SUCCEEDED for id_ in ids])  # type: ignore[union-attr]
