"""One process of the bot: its clock, its timers, its start, its end and its death."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

import handlers
from bot import app, slack_connection
from bot.services.conversation import Reader
from bot.services.core import Core
from bot.services.events import Webhooks
from bot.slack_names import SlackNames
from bot.startup import Overrides, Start
from handlers.background_tasks import AfterAck
from storage.store import Store
from storage.vault import Vault
from tests.simulation.inline_sqlite import Storage
from tests.simulation.loop import Owner, SimulatedLoop
from tests.simulation.network import ApiTransport, SlackSession
from tests.simulation.world.installation import DETAILS_URL
from tests.simulation.world.names import SLACK_URL, START

if TYPE_CHECKING:
    from tests.simulation.world.world import World


# What waited for the end of the trouble begins so soon after it.
FIRST_WITHIN_S = 20.0
WORKS_ALONE_FOR = timedelta(hours=3)


class Clock:
    """The clock of one process: the loop's seconds, and a wall clock that may be wrong."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self._loop = loop
        self.wrong_by_s = 0.0

    def now(self) -> datetime:
        return START + timedelta(seconds=self._loop.time() + self.wrong_by_s)

    def monotonic(self) -> float:
        return 1000.0 + self._loop.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))


class Timers:
    """In place of APScheduler, which reads the machine's clock: each job in turn, never two of one at once."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._jobs: list[tuple[str, float, Callable[[], Awaitable[None]]]] = []
        self._tasks: list[asyncio.Task[None]] = []

    def every(self, name: str, seconds: float, job: Callable[[], Awaitable[None]]) -> None:
        self._jobs.append((name, seconds, job))

    def start(self) -> None:
        self._tasks = [asyncio.create_task(self._run(*job), name=job[0]) for job in self._jobs]

    async def _run(self, name: str, seconds: float, job: Callable[[], Awaitable[None]]) -> None:
        if name in self._world.jobs_off:
            return
        pause_s = seconds
        if self._world.is_late(name):
            await self._world.all_jobs.wait()
            pause_s = min(seconds, FIRST_WITHIN_S)  # it is overdue
        while True:
            await asyncio.sleep(pause_s * self._world.timing.uniform(0.9, 1.1))
            pause_s = seconds
            try:
                await job()
            except Exception as error:  # noqa: BLE001 - as the real timers: logged, and the next run comes
                self._world.note_error(f"timer {name}", error)

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()


class Process:
    """One process of the bot, from its start to its end or its death."""

    def __init__(self, world: World, number: int) -> None:
        self.world = world
        self.owner = Owner(f"bot {number}")
        self.clock = Clock(world.loop)
        self.clock.wrong_by_s = world.wrong_by_s
        self.installation = world.installation
        self.storage = Storage(
            world.timing, interrupts=world.interrupts, after_commit=lambda: world.committed(self)
        )
        self.storage.after_lost_commit = lambda: world.on_lost_commit()  # noqa: PLW0108 - who hears of it comes later
        self.stores: list[Store] = []
        self.bolt: AsyncApp | None = None
        self.webhooks: Webhooks | None = None
        self.running: app.Running | None = None
        self.failed: BaseException | None = None
        self.died_at = 1e9
        self.task = world.loop.spawn(self.owner, self._start(), "start")

    @property
    def core(self) -> Core:
        assert self.running is not None
        return self.running.core

    @property
    def name(self) -> str | None:
        """What it calls itself in the database; None before it says so."""
        return None if self.running is None else self.running.core.owner

    @property
    def ready(self) -> bool:
        return self.owner.alive and self.bolt is not None

    @property
    def held(self) -> frozenset[str]:
        """What it alone does now, as far as it can know."""
        locks = self.running.parts.locks if self.running else None
        return frozenset() if locks is None else locks.held()

    def hold_for_longer(self, by_s: float) -> None:
        """What it alone does is its own for so much longer."""
        locks = self.running.parts.locks if self.running else None
        for lock in locks._locks.values() if locks is not None else ():
            lock.until += by_s

    def work_alone(self) -> None:
        """No other process is left, so that the clock may leap by more than a lease without taking anything away."""
        locks = self.running.parts.locks if self.running else None
        if locks is not None:
            locks.lease = WORKS_ALONE_FOR
            for lock in locks._locks.values():
                lock.until = float("inf")

    async def _start(self) -> None:
        world = self.world
        session: Any = SlackSession(world.network, world.slack_side.answer)
        slack = AsyncWebClient(
            token=world.slack.bot_token, base_url=f"{SLACK_URL}/api/", retry_handlers=[], session=session
        )
        sender: Any = world.relay.sender
        overrides = Overrides(
            clock=self.clock,
            random=random.Random(world.timing.getrandbits(64)),
            open_store=self._open_store,
            http=ApiTransport(world.network, world.api.answer, world.on_departure),
            slack=slack,
            timers=lambda: Timers(world),
            doors=self._open_doors,
            crash_point=world.crash_point,
            details_at=DETAILS_URL,
            sender=sender,
        )
        try:
            self.running = await app.start(
                self.installation.settings(str(world.database)), self.installation.config, overrides
            )
        except Exception as error:  # noqa: BLE001 - noted for the checks
            self.failed = error
            if world.may_start:
                world.note_error("start", error)

    async def _open_store(self, url: str, *, vault: Vault, clock: Any) -> Store:
        store = await Store.open(url, vault=vault, clock=clock, engines=self.storage.open)
        self.stores.append(store)
        return store

    async def _open_doors(
        self, start: Start, core: Core, slack: AsyncWebClient, names: SlackNames, webhooks: Webhooks
    ) -> str:
        bolt = slack_connection.bolt_app(start.settings, slack)
        after = AfterAck()
        start.stack.push_async_callback(after.drain, 3.0)
        handlers.register(bolt, handlers.Deps(core=core, after=after, reader=Reader(None)))
        self.bolt, self.webhooks = bolt, webhooks
        return "http://bot.invalid"

    def kill(self) -> None:
        """As `kill -9`: nothing of it runs any more, nothing is given back but what the system gives back."""
        self.owner.alive = False
        self.died_at = self.world.loop.time()
        self.storage.kill()

    def ask_to_end(self) -> asyncio.Task[None]:
        """As SIGTERM: it closes by itself, and is gone then."""

        async def end() -> None:
            if self.running is not None:
                await self.running.stop()
            self.kill()

        return self.world.loop.spawn(self.owner, end(), "stop")


class Killed(BaseException):
    """The process ends here; nothing after this point of it runs."""
