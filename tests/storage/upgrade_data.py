"""Writes `data/schema-NNNN.db.gz`: a database of the newest schema with a request in every state, and their ids.

`python -m tests.storage.upgrade_data`, once before a revision is added: from then on
`test_upgrade_in_flight` shows that requests of every state outlive its upgrade.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from bot.domain.requests import Request, State
from bot.services.requests import approvals, cancel, lifecycle
from storage.migrate import newest
from tests.support.world import BOB, World, a_world

DATA = Path(__file__).parent / "data"


async def _every_state(world: World) -> dict[str, Request]:
    """A request in each, by the word for it."""
    await world.tell("float", {"amount_usd": "5000"})
    made = {"expired": await world.top_up("11", approved=False)}
    await world.advance(9 * 3600)
    await lifecycle.expire_due(world.core)
    await world.fault("processor", processor="timeout")
    made["unresolved"] = await world.top_up("16", card=2)
    await world.run(3600, step=60)  # so that it is looked at four times an hour
    made["succeeded"] = await world.top_up("12")
    await world.run_due()
    await world.fault("status", status=402, code="INSUFFICIENT_FUNDS")
    made["failed"] = await world.top_up("13", card=1)
    await world.run_due()
    made["rejected"] = await world.top_up("14", approved=False)
    await approvals.reject(world.core, made["rejected"].id, BOB, reason="wrong card")
    made["cancelled"] = await world.top_up("15", approved=False)
    await cancel(world.core, made["cancelled"].id, made["cancelled"].requester)
    await world.fault("drop_after_commit")
    made["executing"] = await world.top_up("17", card=1)
    await world.run_due()
    made["approved"] = await world.top_up("18")
    made["pending"] = await world.top_up("19", approved=False)
    half = await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "600"})
    await world.approve(half)
    made["pending half approved"] = half
    return made


async def write() -> str:
    """The name of what was written."""
    with tempfile.TemporaryDirectory() as folder:
        async with a_world(Path(folder)) as world:
            made = await _every_state(world)
            for word, request in made.items():
                state = (await world.request(request.id)).state
                assert state is State(word.split()[0]), f"{word}: {state}"
            ids = {word: request.id for word, request in made.items()}
            at = world.clock.now().isoformat()
        database = Path(folder) / "bot.db"
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("VACUUM")
        name = f"schema-{newest()}"
        (DATA / f"{name}.db.gz").write_bytes(gzip.compress(database.read_bytes(), mtime=0))
        (DATA / f"{name}.json").write_text(json.dumps({**ids, "at": at}, indent=1) + "\n")
    return name


if __name__ == "__main__":
    sys.stdout.write(f"{asyncio.run(write())}\n")
