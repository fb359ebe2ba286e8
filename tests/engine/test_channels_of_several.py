"""Several processes send what waits for Slack: each message once, each channel in its order, whoever dies meanwhile."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
import pytest

from bot.domain.time import SystemClock
from bot.services.core import Core
from bot.services.messages import Posted, delivery, view_model_loader
from storage.messages import OutboxRow, outbox
from storage.operators import leases
from storage.store import Store
from storage.transaction import Tx
from storage.vault import Keyring, Vault
from tests.engine.sending_process import CHANNELS
from tests.support.databases import PostgresDatabases
from tests.support.waiting import eventually
from tests.support.world import MASTER, a_world

ROOT = Path(__file__).parents[2]
GOES_ON_WITHIN_S = 10
WRITTEN_EVERY_S, LOOK_EVERY_S = 0.2, 0.2
# Standing still for longer than a lease.
STANDS_STILL_S = 9.0
_LASTS = timedelta(seconds=7)
_POSTED = """CREATE TABLE posted (id bigserial PRIMARY KEY, channel text, seq int, dedupe text, owner text,
             at timestamptz DEFAULT clock_timestamp())"""


@dataclass
class Senders:
    """The processes, and what they have to send."""

    url: str
    store: Store
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    written: Counter[str] = field(default_factory=Counter)
    is_over: bool = False

    def start(self, owner: str) -> None:
        command = [sys.executable, "-m", "tests.engine.sending_process", self.url, owner, MASTER]
        self.running[owner] = subprocess.Popen(command, cwd=ROOT)

    def kill(self, owner: str) -> None:
        process = self.running.pop(owner)
        process.kill()
        process.wait()

    def signal(self, owner: str, number: signal.Signals) -> None:
        os.kill(self.running[owner].pid, number)

    async def write(self) -> None:
        """A message into each channel, again and again."""
        while not self.is_over:
            for channel in CHANNELS:
                await self.put(channel)
            await asyncio.sleep(WRITTEN_EVERY_S)

    async def put(self, channel: str) -> None:
        seq = self.written[channel] = self.written[channel] + 1
        async with self.store.begin() as tx:
            await outbox.put(
                tx,
                channel=channel,
                kind="direct",
                subject=f"anchor:{channel}-{seq}",
                body={"line": "an anchor", "seq": seq},
                dedupe=f"anchor:{channel}-{seq}",
            )

    async def rows(self, sql: str) -> list[Any]:
        async with await psycopg.AsyncConnection.connect(self.store.database.libpq) as connection:
            return await (await connection.execute(sql)).fetchall()

    async def run(self, sql: str) -> None:
        async with await psycopg.AsyncConnection.connect(self.store.database.libpq) as connection:
            await connection.execute(sql)

    async def are_sent(self) -> bool:
        left = await self.rows("SELECT count(*) FROM outbox WHERE state <> 'sent'")
        return bool(left[0][0] == 0)

    async def holders(self) -> dict[str, str]:
        """By channel, who sends there."""
        held = "SELECT name, owner FROM lease WHERE name LIKE 'channel:%' AND until > clock_timestamp()"
        return {name.removeprefix("channel:"): owner for name, owner in await self.rows(held)}

    async def longest_pause_s(self) -> float:
        """Between two posts in one channel."""
        asked = """SELECT max(pause) FROM (
                   SELECT extract(epoch FROM at - lag(at) OVER (PARTITION BY channel ORDER BY id)) AS pause FROM posted
                   ) AS pauses"""
        return float((await self.rows(asked))[0][0])


@asynccontextmanager
async def senders(postgres_databases: PostgresDatabases) -> AsyncIterator[Senders]:
    url = postgres_databases.migrated()
    store = await Store.open(url, vault=Vault(Keyring.parse(MASTER)), clock=SystemClock())
    found = Senders(url, store)
    async with await psycopg.AsyncConnection.connect(store.database.libpq, autocommit=True) as connection:
        await connection.execute(_POSTED)
    try:
        yield found
    finally:
        for owner in list(found.running):
            found.kill(owner)
        await store.close()
        postgres_databases.drop(url)


async def all_arrived_once_in_their_order(found: Senders) -> None:
    posted = await found.rows("SELECT channel, seq FROM posted ORDER BY id")
    twice = """SELECT p.channel, p.seq, p.owner, p.at, o.attempts, o.last_error, o.due_at, o.sent_at
               FROM posted p JOIN outbox o USING (dedupe) WHERE dedupe IN
               (SELECT dedupe FROM posted GROUP BY dedupe HAVING count(*) > 1) ORDER BY p.id"""
    assert [str(row) for row in await found.rows(twice)] == []
    for channel in CHANNELS:
        arrived = [seq for where, seq in posted if where == channel]
        assert Counter(arrived) == Counter(range(1, found.written[channel] + 1)), channel
        late = [(one, other) for one, other in pairwise(arrived) if other < one]
        assert late == [], f"{channel}: out of their order"


@pytest.mark.timeout(180)
async def test_when_one_is_killed_and_one_stands_still_the_others_send_what_they_would_have(
    postgres_databases: PostgresDatabases,
) -> None:
    async with senders(postgres_databases) as found:
        for owner in ("a", "b", "c"):
            found.start(owner)
        writing = asyncio.create_task(found.write())
        await eventually(
            "every channel is sent in", partial(_all_held, found), within_s=60, every_s=LOOK_EVERY_S
        )
        first = (await found.holders())["C0ONE"]

        found.kill(first)
        await eventually(
            "its channels are others'",
            partial(_none_of, found, first),
            within_s=GOES_ON_WITHIN_S,
            every_s=LOOK_EVERY_S,
        )
        await asyncio.sleep(1)
        second = (await found.holders())["C0ONE"]
        found.signal(second, signal.SIGSTOP)
        await eventually(
            "so are these", partial(_none_of, found, second), within_s=GOES_ON_WITHIN_S, every_s=LOOK_EVERY_S
        )
        await asyncio.sleep(1)
        found.signal(second, signal.SIGCONT)
        await asyncio.sleep(1)
        found.is_over = True
        await writing
        await eventually("all are sent", found.are_sent, within_s=60, every_s=0.2)

        await all_arrived_once_in_their_order(found)
        assert await found.longest_pause_s() <= GOES_ON_WITHIN_S
        print(
            f"\n{sum(found.written.values())} messages, longest pause {await found.longest_pause_s():.1f} s"
        )


async def _all_held(found: Senders) -> bool:
    return set(await found.holders()) == set(CHANNELS)


async def _none_of(found: Senders, owner: str) -> bool:
    holders = await found.holders()
    return set(holders) == set(CHANNELS) and owner not in holders.values()


@pytest.mark.timeout(60)
async def test_who_stands_still_in_the_middle_of_a_transaction_holds_nobody_up(
    postgres_databases: PostgresDatabases,
) -> None:
    async with senders(postgres_databases) as found:
        other = await Store.open(found.url, vault=Vault(Keyring.parse(MASTER)), clock=SystemClock())
        frozen = found.store.begin()
        tx = await frozen.__aenter__()
        assert await leases.take(tx, ["channel:C0ONE"], "frozen", lasts=_LASTS)

        async with asyncio.timeout(GOES_ON_WITHIN_S):
            async with other.begin() as free:
                assert await leases.take(free, ["channel:C0ONE"], "free", lasts=_LASTS)
        with pytest.raises(Exception, match="idle-in-transaction"):
            await leases.take(tx, ["channel:C0ONE"], "frozen", lasts=_LASTS)
        with suppress(Exception):  # its connection is gone
            await frozen.__aexit__(None, None, None)
        await other.close()


class Posting:
    """A `Publisher` that says what it posted."""

    def __init__(self) -> None:
        self.posted: list[str] = []

    async def post(
        self, view: object, *, channel: str, dedupe: str, log_end: str = "", thread_ts: str | None = None
    ) -> Posted:
        await self._connect()
        self.posted.append(dedupe)
        return Posted(channel, "1.0")

    async def _connect(self) -> None: ...


class Connecting(Posting):
    """The process stands still before a post leaves."""

    async def _connect(self) -> None:
        asyncio.get_running_loop().call_soon(time.sleep, 0.8)
        await asyncio.sleep(0.05)


async def test_who_stood_still_before_a_post_has_left_does_not_post_it_any_more(
    postgres_databases: PostgresDatabases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "STANDS_STILL_S", 0.4)
    url = postgres_databases.migrated()
    publisher: Any = Connecting()
    async with a_world(tmp_path, url=url) as world:
        found = Senders(url, world.store)
        await found.put("C0ONE")
        await delivery.Outbox(world.core, publisher).deliver_due()
        states = await found.rows("SELECT state FROM outbox WHERE dedupe LIKE 'anchor:%'")
    postgres_databases.drop(url)

    assert publisher.posted == []
    assert states == [("sending",)], "to be read back"


async def test_who_stood_still_while_a_message_was_taken_asks_whose_it_is_before_posting(
    postgres_databases: PostgresDatabases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres_databases.migrated()
    honest, publisher = outbox.sending, Posting()
    async with a_world(tmp_path, url=url) as world:
        found = Senders(url, world.store)
        await found.put("C0ONE")

        async def sending(tx: Tx, row_id: int) -> bool:
            taken = await honest(tx, row_id)
            tx.after_commit(partial(time.sleep, 1.2))  # the process stands still
            tx.after_commit(taken_over.set)
            return taken

        async def take_over() -> None:
            await taken_over.wait()
            await found.run("UPDATE outbox SET attempts = attempts + 1 WHERE dedupe LIKE 'anchor:%'")

        taken_over = asyncio.Event()
        monkeypatch.setattr(outbox, "sending", sending)
        loader = view_model_loader.row

        async def drawn(core: Core, row: OutboxRow) -> Any:
            await take_over()
            return await loader(core, row)

        monkeypatch.setattr(view_model_loader, "row", drawn)
        not_used: Any = publisher
        await delivery.Outbox(world.core, not_used).deliver_due()
    postgres_databases.drop(url)

    assert publisher.posted == []


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [2, 3])
async def test_whoever_dies_or_stands_still_each_message_arrives_once_and_in_order(
    postgres_databases: PostgresDatabases, count: int
) -> None:
    seed = int(os.environ.get("SEED") or random.randrange(10**6))
    rng, troubles = random.Random(seed), int(os.environ.get("SOAK_TROUBLES") or 20)
    async with senders(postgres_databases) as found:
        for number in range(count):
            found.start(f"sender-{number}")
        writing = asyncio.create_task(found.write())
        for _ in range(troubles):
            await asyncio.sleep(rng.uniform(0.5, 6))
            owner = rng.choice(sorted(found.running))
            if rng.random() < 0.5:
                found.kill(owner)
                found.start(owner)
            else:
                found.signal(owner, signal.SIGSTOP)
                await asyncio.sleep(rng.uniform(0.5, STANDS_STILL_S))
                found.signal(owner, signal.SIGCONT)
        found.is_over = True
        await writing
        await eventually("all are sent", found.are_sent, within_s=120, every_s=0.5)
        total, pause_s = sum(found.written.values()), await found.longest_pause_s()
        print(
            f"\nseed {seed}: {count} processes, {troubles} troubles, {total} messages, longest pause {pause_s:.1f} s"
        )

        await all_arrived_once_in_their_order(found)
