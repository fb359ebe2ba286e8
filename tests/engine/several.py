"""Several executors on one PostgreSQL database, each with connections, a carrier and a client of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from bot.domain.requests import State
from bot.engine.embedded import Embedded
from bot.partner.client import PartnerClient
from bot.partner.ratelimit import RateLimiter
from bot.services import execution
from bot.services.core import Core
from storage.store import Store
from storage.vault import Keyring, Vault
from tests.support.waiting import eventually
from tests.support.world import MASTER, World, a_world

#: Enough that several executors have something to do at once.
REQUESTS = 6
LOOK_EVERY_S = 0.05
AGAIN_S = 1.0


@dataclass
class Several:
    """The small world, and the cores of as many executors."""

    world: World
    cores: list[Core]

    async def calls_of(self, requests: int) -> dict[str, int]:
        """Approve so many top-ups, let all executors at them, and count the calls to the API until all are done."""
        ids = [(await self.world.top_up("5", card=number % 3)).id for number in range(requests)]
        before = await self._journal()
        async with _running(self.cores):
            await eventually("all are done", lambda: self._are_done(ids), within_s=45, every_s=LOOK_EVERY_S)
        sent = (await self._journal())[len(before) :]
        return {call: sent.count(call) for call in sorted(set(sent))}

    async def _are_done(self, ids: list[str]) -> bool:
        states = [(await self.world.request(id_)).state for id_ in ids]
        if State.EXECUTING not in states:
            # Who met another on the same card tries again later: that time has to come. Not while one of them works,
            # which on a slow machine would seem to take too long.
            await self.world.advance(AGAIN_S)
        return set(states) == {State.SUCCEEDED}

    async def _journal(self) -> list[str]:
        journal = (await self.world.control.get("/_control/journal")).json()["requests"]
        return [f"{call['method']} {call['path'].rsplit('/', 1)[-1][:5]}" for call in journal]


@asynccontextmanager
async def _running(cores: list[Core]) -> AsyncIterator[None]:
    running: list[asyncio.Task[None]] = []
    for core in cores:
        carrier = core.carrier
        assert isinstance(carrier, Embedded)
        due, execute = partial(execution.due, core), partial(execution.execute, core)
        running.append(asyncio.create_task(carrier.run(due, execute)))
    try:
        yield
    finally:
        for task in running:
            task.cancel()
        await asyncio.wait(running)
        for core in cores:
            assert isinstance(core.carrier, Embedded)
            await core.carrier.drain(5)


@asynccontextmanager
async def several(url: str, folder: Path, count: int) -> AsyncIterator[Several]:
    """`count` executors on the database at `url`."""
    async with a_world(folder, url=url) as world, AsyncExitStack() as stack:
        cores = []
        for number in range(count):
            store = await Store.open(url, vault=Vault(Keyring.parse(MASTER)), clock=world.clock)
            stack.push_async_callback(store.close)
            simulator = world.simulator
            client = PartnerClient(
                simulator.base_url, simulator.key, limiter=RateLimiter(world.clock), clock=world.clock
            )
            stack.push_async_callback(client.aclose)
            carrier = Embedded(sweep_every_s=0.2)
            cores.append(
                replace(
                    world.core,
                    store=store,
                    owner=f"bot-{number}",
                    partners={"main": client},
                    carrier=carrier,
                )
            )
        yield Several(world, cores)
