"""A receiver as a process of its own, for load from another: `python -m benchmarks.receiver MODE FOLDER`.

MODE: `group` (as in the product), `handled` (the same, with the inbox handled meanwhile), `single` (a commit
for each delivery, all else alike), `nowhere` (no database). Prints its address.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

from benchmarks.deliveries import SECRET
from bot import web
from bot.domain.ids import Ids
from bot.domain.time import SystemClock
from bot.partner.client import PartnerClient
from bot.partner.ratelimit import RateLimiter
from bot.partner.secret import Secret
from bot.services.core import Channels, Core
from bot.services.events import Intake, Webhooks, inbox
from storage.events import MOST_IN_A_BATCH, Ingest, Row, webhook_secrets
from storage.migrate import migrate
from storage.store import Store
from storage.vault import Keyring, Vault
from tests.support.world import MASTER, ScriptedDirectory, Wakes, a_policy

_KEY = "svc_live_00000000" + "5f" * 16


class Nowhere:
    """The floor: everything but the database."""

    async def write(self, rows: Sequence[Row]) -> list[bool]:
        return [True] * len(rows)

    async def close(self) -> None:
        """Nothing was opened."""


async def serve(mode: str, folder: Path) -> None:
    """Until cancelled."""
    clock = SystemClock()
    database = f"sqlite:///{folder / mode}.db"
    await migrate(database)
    async with AsyncExitStack() as stack:
        store = await Store.open(database, vault=Vault(Keyring.parse(MASTER)), clock=clock)
        stack.push_async_callback(store.close)
        async with store.begin() as tx:
            await webhook_secrets.put(
                tx, "main", Secret(SECRET), previous_until=tx.now + timedelta(minutes=1)
            )
        core = _core(store, clock)
        stack.push_async_callback(core.partners["main"].aclose)
        ingest = await Ingest.open(store, clock, most=1 if mode == "single" else MOST_IN_A_BATCH)
        if mode == "nowhere":
            ingest = Ingest(store, Nowhere(), clock, most=MOST_IN_A_BATCH)
        intake = Intake(ingest, core.codes, clock, core.inbox_bell.set, core.crash_point)
        receive = Webhooks(core, intake).receive
        server = await web.serve(web.build({}, receive=receive), host="127.0.0.1", port=0)
        stack.push_async_callback(server.stop)
        print(server.url, flush=True)
        if mode == "handled":
            await inbox.run(core)
        await asyncio.Event().wait()


def _core(store: Store, clock: SystemClock) -> Core:
    address = "http://127.0.0.1:1/api/partner/v1"
    return Core(
        store=store,
        partners={"main": PartnerClient(address, _KEY, limiter=RateLimiter(clock), clock=clock)},
        kinds={},
        policy=a_policy(),
        channels=Channels("C0", "C0"),
        directory=ScriptedDirectory(),
        carrier=Wakes(),
        clock=clock,
        ids=Ids(store.instance, random.Random(1), clock.now),
        owner="benchmark",
    )


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], Path(sys.argv[2])))
