"""A process that sends what waits for Slack, to be killed or stopped.

`python -m tests.engine.sending_process URL OWNER MASTER_KEY`.

What it posts it writes to the table `posted` of the same database, in place of Slack: whoever posts, the number of the
row says in which order it arrived.
"""

from __future__ import annotations

import asyncio
import random
import sys
from datetime import datetime
from typing import Any

import psycopg

from bot.domain.ids import Ids
from bot.domain.time import SystemClock
from bot.services.core import Channels, Core
from bot.services.messages import Outbox, Posted
from bot.services.processes import Locks
from bot.view_models import AnchorView, MessageView
from storage.store import Store
from storage.vault import Keyring, Vault

SPACING_S = 0.05
# How long a post is under way.
TAKES_S = (0.01, 0.06)


class Table:
    """A `Publisher` that posts into a table."""

    def __init__(self, connection: psycopg.AsyncConnection, owner: str) -> None:
        self._connection, self._owner = connection, owner
        self._turn = asyncio.Lock()

    async def post(
        self, view: MessageView, *, channel: str, dedupe: str, thread_ts: str | None = None
    ) -> Posted:
        assert isinstance(view, AnchorView)
        await asyncio.sleep(random.uniform(*TAKES_S))
        asked = "INSERT INTO posted (channel, seq, dedupe, owner) VALUES (%s, %s, %s, %s) RETURNING id"
        async with self._turn:
            row = await (
                await self._connection.execute(asked, (channel, view.seq, dedupe, self._owner))
            ).fetchone()
        assert row is not None
        return Posted(channel, str(row[0]))

    async def find(
        self, *, channel: str, dedupe: str, since: datetime, thread_ts: str | None = None
    ) -> Posted | None:
        async with self._turn:
            found = await self._connection.execute("SELECT id FROM posted WHERE dedupe = %s", (dedupe,))
            row = await found.fetchone()
        return None if row is None else Posted(channel, str(row[0]))

    async def update(self, view: MessageView, *, channel: str, ts: str) -> Posted:
        raise AssertionError("nothing here is drawn again")

    async def open_direct(self, user: str) -> str:
        raise AssertionError("nothing here goes to one person")


async def main(url: str, owner: str, master: str) -> None:
    clock = SystemClock()
    store = await Store.open(url, vault=Vault(Keyring.parse(master)), clock=clock)
    not_used: Any = None
    locks = Locks(store, owner, clock)
    core = Core(
        store=store,
        partners={},
        kinds={},
        policy=not_used,
        channels=Channels("", ""),
        directory=not_used,
        carrier=not_used,
        clock=clock,
        ids=Ids(store.instance, random.Random(), clock.now),
        owner=owner,
        holds=locks.holds,
    )
    locks.when_gained = core.outbox_bell.set
    address = store.database.libpq
    async with await psycopg.AsyncConnection.connect(address, autocommit=True) as connection:
        outbox = Outbox(core, Table(connection, owner), spacing_s=SPACING_S)
        await asyncio.gather(locks.run(), outbox.run())


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
