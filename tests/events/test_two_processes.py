"""Two processes on one PostgreSQL database: each thing is done by one of them, reported once and counted truly."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import text

from bot import jobs
from bot.config import Poll
from bot.domain import shared_work
from bot.domain.events import Retention
from bot.domain.time import SystemClock
from bot.partner.secret import Secret
from bot.services.cards import card_sync
from bot.services.core import Core
from bot.services.events import Backfill, Intake, Poller, Webhooks, inbox
from bot.services.otp_store import Codes
from bot.services.processes import Locks, locks
from storage.cards import otp_recipients
from storage.events import InboxEvent, Ingest
from storage.messages import Alert, alerts
from storage.operators import programs
from storage.store import Store
from storage.transaction import Tx
from storage.vault import Keyring, Vault
from tests.crash.outside import Outside, outside
from tests.events.deliverer import Deliverer, keep_secret, learns_of
from tests.support.databases import PostgresDatabases
from tests.support.waiting import eventually
from tests.support.world import BOB, MASTER, World, a_world

pytestmark = pytest.mark.by_turns(4)

MINUTE = timedelta(minutes=1)


@dataclass
class Process:
    """One of them, with all that is its own."""

    core: Core
    locks: Locks
    intake: Intake
    jobs: dict[str, jobs.Job]

    async def ask(self) -> bool:
        """For all that one of the processes always does; whether this one has it all now."""
        work = {*shared_work.ALWAYS, *shared_work.of_programs(["main"])}
        work |= {job.lock for job in self.jobs.values() if job.lock}
        await self.locks.keep(work)
        return work <= self.locks.held()

    async def run(self, *names: str) -> None:
        for name in names:
            await self.jobs[name].run()

    async def handle(self) -> None:
        while await inbox.process_next(self.core):
            pass


@dataclass
class Two:
    world: World
    one: Process
    other: Process

    async def both(self, *names: str) -> None:
        """Time passes, then the jobs are due in both at once."""
        await self.world.advance(60)
        await asyncio.gather(self.one.run(*names), self.other.run(*names))

    async def alerts(self) -> list[Alert]:
        async with self.one.core.store.read() as tx:
            return await alerts.open_ones(tx)

    async def rows(self, sql: str) -> list[Any]:
        async with self.one.core.store.read() as tx:
            return list((await tx.run(text(sql))).all())


@pytest.fixture
def lease() -> timedelta:
    """How long a term lasts; a test of takeovers wants it short."""
    return timedelta(seconds=30)


@pytest.fixture
async def two(postgres_databases: PostgresDatabases, tmp_path: Path, lease: timedelta) -> AsyncIterator[Two]:
    url = postgres_databases.migrated()
    async with a_world(tmp_path) as world, AsyncExitStack() as stack:
        made = []
        for number in range(2):
            store = await Store.open(url, vault=Vault(Keyring.parse(MASTER)), clock=world.clock)
            stack.push_async_callback(store.close)
            made.append(await _process(world, store, f"bot-{number}", lease, stack))
        yield Two(world, *made)
    postgres_databases.drop(url)


async def _process(
    world: World, store: Store, owner: str, lease: timedelta, stack: AsyncExitStack
) -> Process:
    own = Locks(store, owner, SystemClock(), lease=lease)
    async with store.begin() as tx:
        simulator = world.simulator
        await programs.put(tx, "main", base_url=simulator.base_url, key=Secret(simulator.key))
    core = replace(world.core, store=store, owner=owner, holds=own.holds, codes=Codes())
    await card_sync.sync_cards(core, "main")
    ingest = await Ingest.open(store, core.clock)
    stack.push_async_callback(ingest.close)
    intake = Intake(ingest, core.codes, core.clock, core.inbox_bell.set, core.crash_point)
    poll = Poll.model_validate(dict.fromkeys(Poll.model_fields, "1m"))
    watchers = jobs.Watchers(
        Poller(core, account_every=MINUTE), Webhooks(core, intake), Backfill(core, intake)
    )
    table = jobs.table(core, watchers, poll, Retention())
    return Process(core, own, intake, {job.name: job for job in table})


@pytest.mark.parametrize("lease", [timedelta(seconds=3)])
async def test_two_pollers_are_one_and_another_takes_over_when_it_dies(two: Two) -> None:
    assert [await two.one.ask(), await two.other.ask()] == [True, False]
    balance_usd = Decimal((await two.world.state())["float"]["balance_usd"])
    await two.world.tell("float", {"amount_usd": str(Decimal(900) - balance_usd)})
    before = len(await two.world.sent("GET /me"))
    for _ in range(3):
        await two.both("account", "watch", "alerts")

    (alert,) = await two.alerts()
    assert (alert.kind, alert.count) == ("float_low", 1)
    assert len(await two.world.sent("GET /me")) - before == 3, "one reads, not both"
    queued = await two.rows("SELECT dedupe FROM outbox WHERE kind = 'alert'")
    assert len(queued) == 1

    # It renews no more: it is dead.
    await eventually("its leases are over", lambda: not two.one.locks.held(), every_s=0.05)
    await eventually("the other takes over", two.other.ask, every_s=0.05)
    await two.world.tell("float", {"amount_usd": "5000"})
    for _ in range(2):
        await two.both("account", "watch", "alerts")
    assert await two.alerts() == []
    assert not await two.one.ask(), "who comes back leaves it to the other"


async def test_a_storm_that_both_receive_is_counted_truly(two: Two) -> None:
    await two.one.ask()
    await two.other.ask()
    await two.both("events")
    card = two.world.cards[0]["id"]
    for _ in range(40):
        await two.world.tell(
            "purchases", {"card_id": card, "amount_usd": "1", "decline_code": "processing_error"}
        )
    await two.both("events")

    await asyncio.gather(two.one.handle(), two.other.handle())

    (alert,) = [found for found in await two.alerts() if found.kind == "decline"]
    assert alert.count == 40
    assert "Declined 40 times" in alert.title


async def test_a_code_goes_out_from_whichever_process_received_it(two: Two) -> None:
    await two.one.ask()
    await two.other.ask()
    card = next(c for c in two.world.cards if c["partner_ref"])
    async with two.one.core.store.begin() as tx:
        await otp_recipients.put(tx, card["partner_ref"], BOB)
    await two.both("events")
    await two.world.tell("account", {"threeds_webhook_enabled": True})
    url = b'{"url":"https://hooks.example.com/webhooks/main"}'
    await two.one.core.partners["main"].set_webhook(url)
    await two.one.core.partners["main"].set_3ds(card["id"], b'{"method":"webhook"}')
    await two.world.tell(f"cards/{card['id']}/3ds", {"amount_usd": "5", "merchant": "WEB SHOP"})
    (event,) = [e async for e in two.one.core.partners["main"].events(event_type="card.3ds_challenge")]
    await two.other.intake.accept("main", event, "webhook")

    await two.one.handle()
    assert two.one.core.codes.outgoing.empty()
    assert await two.alerts() == [], "whoever handles the others leaves it to the one that has the code"

    await two.other.handle()
    assert two.other.core.codes.outgoing.qsize() == 1
    assert [alert.kind for alert in await two.alerts()] == ["3ds"]


async def test_each_program_channel_and_job_has_a_lock_of_its_own(two: Two) -> None:
    mine, yours = shared_work.channel("C0ONE"), shared_work.channel("C0OTHER")
    await two.one.locks.keep([mine])
    await two.other.locks.keep([yours])
    for process in (two.one, two.other):
        process.core.holds(mine)
        process.core.holds(yours)
        await process.locks.ask()

    assert two.one.locks.held() == {mine}
    assert two.other.locks.held() == {yours}

    await two.one.locks.resign()
    assert two.one.locks.held() == frozenset()
    assert not two.one.core.holds(mine)
    await two.other.locks.keep([shared_work.reads("main"), mine])
    assert two.other.locks.held() >= {shared_work.reads("main"), yours}


@pytest.mark.parametrize("lease", [timedelta(seconds=0.4)])
async def test_what_nobody_asks_about_for_a_while_is_free_for_others(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = shared_work.channel("@U0ALICE")
    monkeypatch.setattr(locks, "_IDLE_S", 0.2)
    renewing = asyncio.create_task(two.one.locks.run())
    await eventually("it has it", lambda: two.one.core.holds(channel), every_s=0.02)
    await asyncio.sleep(0.5)

    async with two.one.core.store.read() as tx:
        kept = (await tx.run(text("SELECT count(*) FROM lease"))).scalar_one()
    renewing.cancel()
    await asyncio.wait({renewing})

    assert kept == 0


async def test_events_of_one_program_are_handled_by_one_process_in_their_order(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    await two.one.ask()
    await two.other.ask()
    await two.both("events")
    card = two.world.cards[0]["id"]
    for _ in range(12):
        await two.world.tell("purchases", {"card_id": card, "amount_usd": "1"})
    await two.both("events")
    waiting = "SELECT event_id FROM inbox WHERE state = 'received' ORDER BY received_at, event_id"
    written = [row.event_id for row in await two.rows(waiting)]
    honest, handled = inbox._one, list[tuple[str, str]]()

    async def noted(tx: Tx, core: Core, event: InboxEvent) -> None:
        handled.append((core.owner, event.event_id))
        await honest(tx, core, event)

    monkeypatch.setattr(inbox, "_one", noted)
    await asyncio.gather(two.one.handle(), two.other.handle())

    assert handled == [("bot-0", event_id) for event_id in written]
    assert len(written) >= 12


async def fraud_reported(world: Outside, times: int) -> list[str]:
    """What the channel says of fraud, once it says it so often."""

    def shown() -> list[str]:
        found = [m["text"] for m in world.posts() if "looked like fraud" in m["text"]]
        return found if len(found) >= times else []

    return await eventually(f"fraud is reported {times} times", shown, within_s=30, every_s=0.1)


async def _reads(url: str, *, not_this: str = "", within_s: float) -> str:
    """Who reads the program, as the database has it, once it is another."""

    async def reader() -> str:
        async with await psycopg.AsyncConnection.connect(url) as connection:
            asked = "SELECT owner FROM lease WHERE name = 'reads:main' AND until > clock_timestamp()"
            row = await (await connection.execute(asked)).fetchone()
        return row[0] if row and row[0] != not_this else ""

    found: str = await eventually("another reads it", reader, within_s=within_s, every_s=0.1)
    return found


@pytest.mark.timed
@pytest.mark.timeout(120)
async def test_when_a_process_ends_or_dies_another_goes_on_within_seconds(
    postgres_databases: PostgresDatabases, tmp_path: Path
) -> None:
    url = postgres_databases.migrated()
    async with outside(tmp_path) as world:
        world.env["COUNTERSIGN_DATABASE_URL"] = url
        await keep_secret(world)
        await world.bot.start()
        first = await _reads(url, within_s=5)
        other = await world.bot.sibling()
        try:
            await other.start()
            assert await world.bot.terminate() == 0, world.last_words()
            second = await _reads(url, not_this=first, within_s=4)
            await world.bot.start()
            await other.kill()
            third = await _reads(url, not_this=second, within_s=10)
        finally:
            await other.close()
    assert len({first, second, third}) == 3
    postgres_databases.drop(url)


@pytest.mark.soak
async def test_of_two_whole_bots_one_reports_and_when_it_is_killed_the_other_goes_on(
    postgres_databases: PostgresDatabases, tmp_path: Path
) -> None:
    """Real processes; the first reads and reports as long as it lives."""
    url = postgres_databases.migrated()
    async with outside(tmp_path) as world:
        world.env["COUNTERSIGN_DATABASE_URL"] = url
        await keep_secret(world)
        deliverer = Deliverer(world, random.Random(1))
        await world.bot.start()
        other = await world.bot.sibling()
        try:
            await other.start()
            await learns_of(deliverer, other.url, "first")
            await fraud_reported(world, 1)
            await world.bot.kill()
            await learns_of(deliverer, other.url, "second")
            shown = await fraud_reported(world, 2)
        finally:
            await other.close()
    assert len(shown) == 2, shown
    postgres_databases.drop(url)
