"""The world of one seed: both sandboxes, the bot's processes and the database file that outlives them."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import shutil
import sqlite3
import sys
import warnings
from asyncio import events
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from multidict import CIMultiDict
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook import WebhookResponse
from slack_sdk.webhook.async_client import AsyncWebhookClient

import handlers
from bot import app, slack_connection
from bot.config import Config, Settings
from bot.partner.webhooks import DeliveryRefused
from bot.services.conversation import Reader
from bot.services.core import Core
from bot.services.events import Webhooks
from bot.services.messages import delivery
from bot.services.operators import Leader
from bot.slack_names import SlackNames
from bot.startup import Overrides, Start
from handlers import home
from handlers.background_tasks import AfterAck
from sandbox.partner import http
from sandbox.partner.accounts import accounts
from sandbox.partner.background import deliveries
from sandbox.partner.calls import idempotency
from sandbox.partner.cards import cards as card_records
from sandbox.partner.cards import topups
from sandbox.partner.control import dispatch
from sandbox.partner.server import answering, build_world, standing_key
from sandbox.partner.state import Clock as PartnerClock
from sandbox.partner.state import Ids as PartnerIds
from sandbox.partner.state import Store as PartnerStore
from sandbox.partner.state import World as PartnerWorld
from sandbox.slack.clock import Clock as SlackClock
from sandbox.slack.control import workspace_admin
from sandbox.slack.state import manifest
from sandbox.slack.web_api import METHODS, WebApi, files, response_url
from sandbox.slack.workspace import Options, Workspace
from storage import store as stores
from storage.database import Database
from storage.events import ingest
from storage.migrate import _migrate
from storage.store import Store
from storage.vault import Vault
from tests.simulation.inline_sqlite import Storage
from tests.simulation.loop import OWNER, Owner, SimulatedLoop
from tests.simulation.network import (
    SLACK,
    ApiTransport,
    Call,
    CutOff,
    Network,
    SlackRequest,
    SlackSession,
    Unreachable,
)

Json = dict[str, Any]
ROOT = Path(__file__).parents[2]
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
MASTER = "lyRuFlrH8Ycz2eWVpYVS0eFBW1vKlmFXZBQuQ0ZkHbg="
APPROVALS, ALERTS, OPS = "C0APPROVALS", "C0ALERTS", "C0OPS"
ALICE, BOB, CAROL, DAVE = "U0ALICE", "U0BOB", "U0CAROL", "U0DAVE"
SLACK_URL = "http://slack.invalid"
API_URL = "http://127.0.0.1:8401"
CARDS = (
    ("MARTA KOWALSKA", "p-1"),
    ("JONAS BERG", "p-2"),
    ("MARTA KOWALSKA", "3205"),
    ("SOFIA MARCHETTI", "p-4"),
)
FLOAT_USD = "4000"
SELDOM = (
    "digest",
    "policy",
    "retention",
    "delegations",
    "anchor",
    "codes",
    "reveals",
    "runway",
    "webhook",
    "declines",
)
# Longer than in production, so that the clock may leap within it.
LEADS_FOR = timedelta(seconds=120)
# Alerts about something that goes on at the end of a run.
LASTING_ALERTS = frozenset(
    (
        *("float_low", "runway", "decline", "funding", "funding_unverified", "3ds", "card_status"),
        *(
            "card_blocked",
            "landed_late",
            "allowance",
            "consent",
            "handover",
            "message_failed",  # stays until somebody has read it
            "scope",
            "delegation",
            "webhook_secret",
            "unexplained_movement",
        ),
    )
)
# What errors say that were brought about on purpose.
FORESEEN = (
    "disk is full",
    "LookupFailed",
    "PartnerError",
    "Killed",
    "SlackApiError",
    "SlackTrouble",
    "CannotStart",
    "simulated:",
    "TimeoutError: ",
    "simulated",
    "database is locked",
)
# Clocks begin at this many seconds, so that a caller's own early times are never below zero.
CONFIG = b"""
[slack]
approvals_channel = "#card-approvals"
alerts_channel = "#card-alerts"

[people]
approvers = ["@card-approvers"]
admins = ["@card-admins"]

[policy.default]
approvals = 1
expires = "8h"

[policy.card_topup]
tiers = [{ above_usd = "500", approvals = 2 }]

[limits]
per_requester_usd = "2500"
total_usd = "3500"
"""


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
        while True:
            await asyncio.sleep(seconds * self._world.timing.uniform(0.9, 1.1))
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
        self.storage = Storage(world.timing, interrupts=world.interrupts, after_commit=world.committed)
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
    def ready(self) -> bool:
        return self.owner.alive and self.bolt is not None

    async def _start(self) -> None:
        world = self.world
        session: Any = SlackSession(world.network, world.slack_answer)
        slack = AsyncWebClient(
            token=world.slack.bot_token, base_url=f"{SLACK_URL}/api/", retry_handlers=[], session=session
        )
        overrides = Overrides(
            clock=self.clock,
            random=random.Random(world.timing.getrandbits(64)),
            open_store=self._open_store,
            http=ApiTransport(world.network, world.api_answer, world.on_departure),
            slack=slack,
            timers=lambda: Timers(world),
            doors=self._open_doors,
            crash_point=world.crash_point,
        )
        try:
            self.running = await app.start(world.settings, world.config, overrides)
        except Exception as error:  # noqa: BLE001 - noted for the checks
            self.failed = error
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


class World:
    """Everything of one seed. `tell` gets each thing that happens, for the story."""

    def __init__(
        self,
        seed: int,
        folder: Path,
        *,
        replicas: int = 1,
        tell: Callable[[float, str], None] | None = None,
    ) -> None:
        self.replicas = replicas
        self._chance = random.Random(f"chance {seed}")
        # Streams of their own, so that one more draw in one place does not change all the others.
        self.timing = random.Random(f"timing {seed}")
        order = random.Random(f"order {seed}")
        manner = order.randrange(4)
        self.loop = SimulatedLoop(None if manner == 0 else random.Random(f"loop {seed}"))
        self.jobs_off = {job for job in SELDOM if order.random() < 0.75}  # they cost time, and matter seldom
        self.interrupts = (0.0, 0.05, 0.2, 0.5)[manner]
        self.world = Owner("world")
        self.folder = folder
        self.database = folder / "bot.db"
        self._tell = tell
        self.errors: list[str] = []
        self.wrong_by_s = 0.0
        self.clocks_never_wrong = True
        self.lasting_alerts = LASTING_ALERTS
        self.commits = 0
        self.on_commit: Callable[[], None] = lambda: None
        self.on_departure: Callable[[http.Request, Call], None] = lambda _request, _call: None
        self.on_arrival: Callable[[http.Request, http.Answer | None], None] = lambda _request, _answer: None
        self.die_at: tuple[str, int] | None = None
        self.processes: list[Process] = []
        self.network = Network(self.loop, self.world, random.Random(f"network {seed}"), told=self._call_told)
        self.settings, self.config = _settings(str(self.database)), _config()
        self._copy_database()
        self.slack = self._slack(seed)
        self.partner, self.key = self._partner(seed)
        self.web_api = WebApi(self.slack, METHODS)
        self._watch_webhook_answers()
        self.loop.spawn(self.world, self._tick(), "partner")

    # The story

    def say(self, text: str) -> None:
        if self._tell is not None:
            self._tell(self.loop.time(), text)

    @property
    def explaining(self) -> bool:
        return self._tell is not None

    def note_error(self, where: str, error: BaseException) -> None:
        self.errors.append(f"{where}: {type(error).__name__}: {error}")
        self.say(f"[{where}] {type(error).__name__}: {str(error)[:200]}")

    def _call_told(self, call: Call) -> None:
        if self._tell is not None and (call.effect or not call.what.startswith("GET")):
            effect = f" [{call.effect}]" if call.effect else ""
            about = f" for {call.about}" if call.about else ""
            self.say(f"{call.by} → {call.side}: {call.what}{about}{effect} = {call.result or 'nothing'}")

    def inside(self, act: Callable[[], Any]) -> Any:
        """Call something of the sandboxes that starts tasks, as one of the world's own."""
        before = events._get_running_loop()
        events._set_running_loop(self.loop)
        try:
            return self.world.context.copy().run(act)
        finally:
            events._set_running_loop(before)

    # The bot

    @property
    def bot(self) -> Process | None:
        """The process that is up, if one is; of several one or the other."""
        alive = [one for one in self.processes if one.owner.alive]
        ready = [one for one in alive if one.ready] or alive
        return self._chance.choice(ready) if len(ready) > 1 else ready[0] if ready else None

    def start_bot(self) -> Process:
        process = Process(self, len(self.processes) + 1)
        self.processes.append(process)
        self.say(f"{process.owner.name} starts")
        return process

    def start_bots(self) -> None:
        """As many as there should be."""
        while sum(process.owner.alive for process in self.processes) < self.replicas:
            self.start_bot()

    def kill_bot(self, which: Process | None = None) -> None:
        """All that are alive, or this one."""
        for process in self.processes:
            if process.owner.alive and which in (None, process):
                self.say(f"{process.owner.name} is killed")
                process.kill()

    def crash_point(self, name: str) -> None:
        """Called in a process of the bot: the seed may have it die here."""
        if self.die_at is None or self.die_at[0] != name:
            return
        wanted, left = self.die_at
        if left > 1:
            self.die_at = (wanted, left - 1)
            return
        self.die_at = None
        owner = OWNER.get()
        for process in self.processes:
            if process.owner is owner:
                self.say(f"{process.owner.name} dies at {name}")
                process.kill()
        raise Killed

    def set_clocks(self, wrong_by_s: float) -> None:
        """The wall clock of every process, now and later, is wrong by so much."""
        self.wrong_by_s = wrong_by_s
        self.clocks_never_wrong = self.clocks_never_wrong and not wrong_by_s
        for process in self.processes:
            process.clock.wrong_by_s = wrong_by_s

    def able_to_approve(self) -> set[str]:
        """Who is in the group of approvers, and a full member of the workspace."""
        group = next(g for g in self.slack.store.groups.values() if g.handle == "card-approvers")
        people = (self.slack.store.people[user] for user in group.users)
        return {p.id for p in people if not (p.deleted or p.is_restricted or p.is_bot or p.is_stranger)}

    @property
    def slack_away_since(self) -> float | None:
        """Since when Slack answers nothing at all; None while it may."""
        now = self.loop.time()
        outages = [t for t in self.network.troubles if t.side == SLACK and not t.what and t.ends is not None]
        return min((t.began for t in outages if (t.ends or 0) > now), default=None)

    def unforeseen(self) -> list[str]:
        """Errors that nobody foresaw: what was logged as such or met a person, but for a disk that is full."""
        return [line for line in self.errors if not any(word in line for word in FORESEEN)]

    def committed(self) -> None:
        self.commits += 1
        self.on_commit()

    def rows(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        """What the bot's database holds now."""
        return self._reader.execute(sql, values).fetchall()

    def write(self, sql: str, *values: Any) -> None:
        """Change the bot's database behind its back."""
        with closing(sqlite3.connect(self.database, isolation_level=None, timeout=0)) as connection:
            connection.execute(sql, values)

    def _copy_database(self) -> None:
        for old in self.folder.iterdir():
            old.unlink()
        self.database.write_bytes(_migrated())
        self._reader = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, isolation_level=None)
        self._reader.row_factory = sqlite3.Row

    # The API

    async def api_answer(self, request: http.Request) -> http.Answer:
        self.on_arrival(request, None)
        answer = await answering.handle(self.partner, request)
        self.on_arrival(request, answer)
        return answer

    def tell_partner(self, call: str, body: Json | None = None, method: str = "POST") -> Any:
        """A control call of the API's sandbox."""
        data = json.dumps(body).encode() if body is not None else b""
        status, answer = dispatch.handle(self.partner, method, call, data)
        assert status == 200, (call, answer)
        return json.loads(answer)

    def _partner(self, seed: int) -> tuple[PartnerWorld, str]:
        content, key = _furnished_partner()
        store = PartnerStore(":memory:")
        store.put_back(content)
        name = f"sim-{seed}"
        clock = PartnerClock(store, real_now=lambda: START + timedelta(seconds=self.loop.time()))
        partner = PartnerWorld(store, clock, PartnerIds(store, name), name, random.Random(name))
        partner.origin = API_URL
        partner.post = self.deliver
        return partner, key

    async def _tick(self) -> None:
        while True:
            try:
                async with asyncio.timeout(5):
                    await self.partner.stirred.wait()
            except TimeoutError:
                pass
            self.partner.stirred.clear()
            await deliveries.catch_up(self.partner)

    async def deliver(self, method: str, address: str, headers: dict[str, str], body: bytes) -> Any:
        """A webhook delivery of the API to the bot's receiver."""
        program = address.rpartition("/")[2]

        async def arrive() -> int:
            bot = self.bot
            if bot is None or bot.webhooks is None:
                raise Unreachable
            done = self.loop.spawn(bot.owner, _received(bot.webhooks, program, body, CIMultiDict(headers)))
            status: int = await self._outlived(done, bot.owner)
            return status

        try:
            return await self.network.carry("the receiver", headers["X-SVC-Event"], arrive, str), None
        except (Unreachable, CutOff) as error:
            raise ConnectionError(str(error)) from None

    async def _outlived(self, task: asyncio.Task[Any], owner: Owner) -> Any:
        """What a task of the bot returned. Raises CutOff once its process is gone."""
        done = self.loop.create_future()

        def tell(_task: object) -> None:
            if not done.done():
                done.set_result(None)

        task.add_done_callback(tell, context=self.world.context)
        while not done.done():
            if not owner.alive:
                raise CutOff
            try:
                async with asyncio.timeout(0.5):
                    await asyncio.shield(done)
            except TimeoutError:
                continue
        return task.result()

    # Slack

    async def slack_answer(self, request: SlackRequest, path: str) -> Any:
        sent: Any = request
        if path.startswith("/upload/"):
            sent.match_info = {"file_id": path.rpartition("/")[2]}
            return await files.upload(self.slack, sent)
        return await self.web_api.handle(sent)

    def _slack(self, seed: int) -> Workspace:
        clock = SlackClock(lambda: START.timestamp() + self.loop.time())
        workspace = Workspace(Options(seed=1), clock, _manifest(), random.Random(f"slack {seed}"))
        workspace.base_url = SLACK_URL
        workspace.delivery.transport = SlackDoor(self)
        workspace_admin.change_person(workspace, {"id": DAVE, "name": "dave", "real_name": "Dave Lindqvist"})
        for channel in (OPS, APPROVALS):
            there = workspace.store.channels[channel].members
            workspace_admin.change_channel(workspace, {"id": channel, "members": [*there, DAVE]})
        return workspace

    def _watch_webhook_answers(self) -> None:
        global _current  # noqa: PLW0603 - the SDK makes its client for response URLs itself, from the URL alone
        _current = self

    async def respond(self, url: str, body: Json) -> WebhookResponse:
        """An answer of the bot to a response URL of Slack's."""
        content = ("application/json", json.dumps(body))
        request: Any = SlackRequest("POST", {"secret": url.rpartition("/")[2]}, {}, content)

        async def arrive() -> Any:
            return await response_url.handle(self.slack, request)

        answer = await self.network.carry("Slack", "response_url", arrive, lambda a: str(a.status))
        return WebhookResponse(url=url, status_code=answer.status, body=answer.text or "", headers={})

    def close(self) -> None:
        self.kill_bot()
        self._reader.close()
        self.partner.store.close()
        self.loop.forget()


class Killed(BaseException):
    """The process ends here; nothing after this point of it runs."""


_current: World | None = None


class _Errors(logging.Handler):
    """What the bot logs as an error goes into the world's notes; what dead processes log is not theirs any more."""

    def emit(self, record: logging.LogRecord) -> None:
        owner = OWNER.get()
        if _current is None or owner is None or not owner.alive or record.exc_info is None:
            return
        error = record.exc_info[1]
        if error is not None:
            _current.note_error(record.getMessage(), error)


def quiet() -> None:
    """Once in a run: logs go to the world, and coroutines of killed processes are thrown away in silence."""
    logging.basicConfig(level=logging.ERROR, handlers=[_Errors()], force=True)
    sys.unraisablehook = lambda _unraisable: None
    warnings.simplefilter("ignore")


async def _perform(self: AsyncWebhookClient, *, body: Json, headers: Json) -> WebhookResponse:
    assert _current is not None
    return await _current.respond(self.url, {k: v for k, v in body.items() if v is not None})


AsyncWebhookClient._perform_http_request = _perform  # type: ignore[method-assign]


class _SimulatedTime:
    """`time` for the sandbox's deliveries: in the simulation their work takes no time."""

    @staticmethod
    def monotonic() -> float:
        return _current.loop.time() if _current is not None else 0.0


class _NoLock:
    """In place of the lock on the database file: here the seed says how many processes there are."""

    def __init__(self, path: Path) -> None: ...

    def release(self) -> None: ...


_alone = app._leader


async def _leader(begun: Start, store: Store, owner: str) -> Any:
    """One of several leads, as on a database that several may use."""
    if _current is None or _current.replicas == 1:
        return await _alone(begun, store, owner)
    leader = Leader(store, owner, begun.overrides.clock, lease=LEADS_FOR)
    await leader.ask()
    begun.stack.push_async_callback(leader.resign)
    app._keep_running(begun.stack, "leader", leader.run)
    return leader


app._leader = _leader
stores.FileLock = _NoLock  # type: ignore[assignment, attr-defined]
ingest.BUSY_MS = 0  # type: ignore[attr-defined] # nobody else could go on while it waits


async def _is_current(url: str) -> None: ...


delivery.IDLE_S = 2.0  # the bell wakes it; each idle round costs the simulation two readings
home.ROUND_S = 10.0
# The file is a copy of one that was just migrated.
stores.require_current = _is_current  # type: ignore[attr-defined]
deliveries.time = _SimulatedTime  # type: ignore[attr-defined, assignment]


async def _received(webhooks: Webhooks, program: str, body: bytes, headers: Mapping[str, str]) -> int:
    """The answer of the bot's web server to a delivery, as `bot.web` gives it."""
    try:
        await webhooks.receive(program, body, headers)
    except DeliveryRefused as refusal:
        return refusal.status
    except Exception:  # noqa: BLE001 - the web server says 500, and the API delivers again
        return 500
    return 200


@dataclass
class SlackDoor:
    """How Slack reaches the bot: envelopes into the Bolt app of the process that is up, as in Socket Mode."""

    world: World
    effects: frozenset[str] = frozenset({"delay", "lost_ack", "duplicate"})
    lost: set[str] = field(default_factory=set)

    @property
    def connections(self) -> int:
        bot = self.world.bot
        return 1 if bot is not None and bot.ready else 0

    async def deliver(self, envelope: Json, fault: Any) -> bool:
        bot = self.world.bot
        if bot is None or bot.bolt is None:
            return False
        self.world.loop.spawn(bot.owner, self._dispatch(bot.bolt, deepcopy(envelope)))
        return True

    async def _dispatch(self, bolt: AsyncApp, envelope: Json) -> None:
        request = AsyncBoltRequest(mode="socket_mode", body=envelope["payload"], headers={})
        answer = await bolt.async_dispatch(request)
        if answer.status != 200:
            return
        payload = None
        if answer.body:
            json_body = answer.headers.get("content-type", [""])[0].startswith("application/json")
            payload = json.loads(answer.body) if json_body else {"text": answer.body}
        self.world.slack.delivery.acknowledge(envelope["envelope_id"], payload)

    async def fall_silent(self, seconds: float) -> None: ...

    async def disconnect(self, reason: str) -> None: ...

    async def close(self) -> None: ...


# What is the same for every seed, made once.


@cache
def _migrated() -> bytes:
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"countersign-simulation-{os.getpid()}.db"
    path.unlink(missing_ok=True)
    try:
        _migrate(Database.parse(f"sqlite:///{path}"), lambda letters: letters[0])
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        return path.read_bytes()
    finally:
        for left in path.parent.glob(path.name + "*"):
            left.unlink()


@cache
def _settings(database: str) -> Settings:
    return Settings.from_env(
        {
            "SLACK_API_URL": f"{API_URL}/api/",
            "SLACK_BOT_TOKEN": "xoxb-simulated",
            "SLACK_APP_TOKEN": "xapp-simulated",
            "COUNTERSIGN_DATABASE_URL": f"sqlite:///{database}",
            "COUNTERSIGN_MASTER_KEYS": MASTER,
            "COUNTERSIGN_PARTNER_URL": f"{API_URL}/api/partner/v1",
            "COUNTERSIGN_PARTNER_KEY": _furnished_partner()[1],
        }
    )


@cache
def _config() -> Config:
    return Config.parse(CONFIG)


@cache
def _manifest() -> Any:
    return manifest.load(ROOT / "manifest.yml")


@cache
def _furnished_partner() -> tuple[sqlite3.Connection, str]:
    """The API's sandbox with its cards and money, and its key."""
    world = build_world(":memory:", "simulation")
    world.clock = PartnerClock(world.store, real_now=lambda: START)
    key = standing_key(world)
    owner = accounts.first_account(world)
    for number, (name, reference) in enumerate(CARDS):
        claimed = idempotency.claim_for(world, owner, "create", f"seed-{number}")
        card = card_records.issue(world, owner, name, reference, claimed)
        idempotency.settle(world, claimed, "done", {"card": card_records.shown(world, card)})
        world.store.update("cards", "id", card.id, synced_at=card.created_at)
        if number == 0:  # the last four digits of one card are the reference of another
            world.store.update("cards", "id", card.id, last4="3205")
    status, answer = dispatch.handle(world, "POST", "float", json.dumps({"amount_usd": FLOAT_USD}).encode())
    assert status == 200, answer
    for place, card in enumerate(card_records.all_cards(world)[:3]):
        topups.credit_top_up(world, topups.debit_for_top_up(world, card, Decimal(100), f"seed-topup-{place}"))
    status, answer = dispatch.handle(
        world, "POST", "account", json.dumps({"accept_any_wallet": True}).encode()
    )
    assert status == 200, answer
    return world.store.copy(), key


def folder_in_memory(name: str = "") -> Path:
    """A folder for one run's database; in memory where the system has such a place."""
    root = Path("/dev/shm") if Path("/dev/shm").is_dir() else Path(os.environ.get("TMPDIR", "/tmp"))
    folder = root / f"countersign-simulation-{os.getpid()}{name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder
