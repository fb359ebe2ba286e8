"""A process that sends what waits for Slack, to be killed or stopped.

`python -m tests.engine.sending_process URL OWNER MASTER_KEY`.

What it posts it writes to the table `posted` of the same database, in place of Slack: whoever posts, the number of the
row says in which order it arrived.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections import defaultdict
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

CHANNELS = ("C0ONE", "C0TWO", "C0THREE", "C0FOUR")
SPACING_S = 0.05
# How long a post is under way.
TAKES_S = (0.01, 0.06)


_POST = """INSERT INTO posted (channel, seq, dedupe, owner)
           SELECT %s, %s, %s, %s FROM pg_sleep(%s) RETURNING id"""


class Table:
    """A `Publisher` that posts into a table.

    What it has sent arrives whatever becomes of this process: it is the server that takes its time.
    """

    def __init__(self, address: str, owner: str) -> None:
        self._address, self._owner = address, owner
        self._connections: dict[str, psycopg.AsyncConnection] = {}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def connect(self) -> None:
        """Before the first post, so that nothing is left to be done between the last look and the bytes."""
        for channel in CHANNELS:
            connection = await psycopg.AsyncConnection.connect(self._address, autocommit=True)
            self._connections[channel] = connection

    async def _asked(self, channel: str, sql: str, *values: object) -> tuple[Any, ...] | None:
        async with self._turns[channel]:
            return await (await self._connections[channel].execute(sql, values)).fetchone()

    async def post(
        self, view: MessageView, *, channel: str, dedupe: str, log_end: str = "", thread_ts: str | None = None
    ) -> Posted:
        assert isinstance(view, AnchorView)
        values = (channel, view.seq, dedupe, self._owner, random.uniform(*TAKES_S))
        row = await self._asked(channel, _POST, *values)
        assert row is not None
        return Posted(channel, str(row[0]))

    async def find(
        self, *, channel: str, dedupe: str, since: datetime, thread_ts: str | None = None
    ) -> Posted | None:
        row = await self._asked(channel, "SELECT id FROM posted WHERE dedupe = %s", dedupe)
        return None if row is None else Posted(channel, str(row[0]))

    async def update(
        self, view: MessageView, *, channel: str, ts: str, dedupe: str, log_end: str = ""
    ) -> Posted:
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
    table = Table(store.database.libpq, owner)
    await table.connect()
    outbox = Outbox(core, table, spacing_s=SPACING_S)
    await asyncio.gather(locks.run(), outbox.run())


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
