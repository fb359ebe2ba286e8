"""A busy team on the simulated clock: people click in Slack, one or several processes work, and every rate is held.

The stand-in holds the bot to Slack's documented rates, the simulator to the key's calls a minute. Slack, the API and
the bot have one clock, which goes on by the second: what a second brings is carried out before the next one comes, but
for what waits for a later second itself.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_sdk.web.async_client import AsyncWebClient

import handlers
from bot import jobs
from bot.config.sections import Poll
from bot.domain.events import Retention
from bot.domain.requests import OPEN, Request, State
from bot.partner.client import PartnerClient
from bot.partner.ratelimit import Held, RateLimiter, SharedRateLimiter
from bot.services import execution
from bot.services.cards import card_sync
from bot.services.core import Core, never
from bot.services.events import Backfill, Intake, Poller, Webhooks, inbox
from bot.services.messages import Outbox, request_links
from bot.services.processes import StoredLooks, StoredMinute
from bot.services.shared_look import SharedLooks
from handlers.background_tasks import AfterAck
from handlers.slack_api import SlackDirectory, SlackPublisher
from sandbox.slack.control import workspace_admin
from storage.events import Ingest
from storage.requests import requests as request_rows
from storage.store import Store
from storage.transaction import Tx
from storage.vault import Keyring, Vault
from tests.crash.outside import issue_card
from tests.handlers.slack_driver import APPROVALS, OPS, SlackDriver, a_slack_driver, listening
from tests.services.bulk_requests import ask_bulk
from tests.support.clock import SteppedClock
from tests.support.world import MASTER

# Whose requests they are, and who approves them.
ASKERS, APPROVERS = ("U0ALICE", "U0DAVE"), ("U0BOB", "U0CAROL")
# Of one second: until everything that does not wait for a later one is done.
_IS_DONE_WITHIN_S = 30.0
# Who waits behind somebody that sleeps cannot be seen to sleep: so long nothing happens before the next second.
_STANDS_STILL_FOR_S = 0.05


class Sleepers:
    """Who sleeps on the clock, each until its second comes."""

    def __init__(self, clock: SteppedClock) -> None:
        self._clock = clock
        self._asleep: list[tuple[float, int, asyncio.Event]] = []
        self._number = itertools.count()

    def __len__(self) -> int:
        return len(self._asleep)

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.Event()
        heapq.heappush(self._asleep, (self._clock.monotonic() + max(seconds, 0), next(self._number), woken))
        await woken.wait()

    def wake(self) -> None:
        """Those whose time has come."""
        while self._asleep and self._asleep[0][0] <= self._clock.monotonic():
            heapq.heappop(self._asleep)[2].set()


class SteppedMinute(StoredMinute):
    """The minute of a key passes with the clock of the test, as it does at the simulator."""

    clock: SteppedClock

    @asynccontextmanager
    async def held(self) -> AsyncIterator[Held]:
        async with super().held() as held:
            held.at = self.clock.now().timestamp()
            yield held


class SteppedLooks(StoredLooks):
    """A look is as old as the clock of the test says."""

    async def _now(self, tx: Tx) -> datetime:
        return self._clock.now()


@dataclass
class Process:
    """One of those that share the work: it has a connection to Slack, and executes what is due."""

    core: Core
    after: AfterAck
    executing: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    async def take_up(self) -> None:
        """Begin what is due, as a carrier does: so many of a queue at once."""
        for queue in await execution.due(self.core, list(self.executing)):
            room = (queue.at_once or len(queue.ids)) - len(self.executing)
            for id_ in queue.ids[: max(room, 0)]:
                self.executing[id_] = asyncio.create_task(execution.execute(self.core, id_))

    def working(self) -> list[asyncio.Task[None]]:
        for id_, task in list(self.executing.items()):
            if task.done():
                task.result()
                del self.executing[id_]
        return [*self.executing.values(), *self.after._tasks]


@dataclass
class Person:
    """Does one thing after another."""

    at_work: asyncio.Task[None] | None = None
    acts: deque[Callable[[], Coroutine[Any, Any, None]]] = field(default_factory=deque)

    def go_on(self) -> None:
        if self.at_work is not None and self.at_work.done():
            self.at_work.result()
            self.at_work = None
        if self.at_work is None and self.acts:
            self.at_work = asyncio.create_task(self.acts.popleft()())

    @property
    def is_busy(self) -> bool:
        return self.at_work is not None and not self.at_work.done()


class Busy:
    """The team, the processes, and the time that they share."""

    def __init__(self, driver: SlackDriver, processes: list[Process], sleepers: Sleepers) -> None:
        self.driver, self.processes, self._sleepers = driver, processes, sleepers
        self.people = {who: Person() for who in (*ASKERS, *APPROVERS)}
        self.second = 0
        self.done = Counter[str]()
        self._leading: list[asyncio.Task[Any]] = []
        self._jobs: dict[str, asyncio.Task[None]] = {}
        self.table: list[jobs.Job] = []
        self.outbox: Outbox
        self.calls: list[tuple[int, str, str]] = []  # second, method, error
        self._approving = set[str]()

    # What happens in a second

    async def seconds(self, count: int, each: Callable[[], Awaitable[None]] | None = None) -> None:
        for _ in range(count):
            if each is not None:
                await each()
            await self._one_second()

    async def _one_second(self) -> None:
        began = time.monotonic()
        for process in self.processes:
            await process.take_up()
        self._lead()
        changed, was = began, (-1, -1, -1)
        while True:
            for person in self.people.values():
                person.go_on()
            working = self._working()
            now = time.monotonic()
            if len(working) <= len(self._sleepers) and not self.driver.slack.workspace.delivery._waiting:
                break
            state = (len(working), len(self._sleepers), self.driver.slack.workspace._seq)
            if state != was:
                changed, was = now, state
            if len(self._sleepers) and now - changed > _STANDS_STILL_FOR_S:
                break
            assert now - began < _IS_DONE_WITHIN_S, self._what_is_seen(working)
            await asyncio.sleep(0.002)
        self._count_calls()
        await self._go_on()

    def _what_is_seen(self, working: list[asyncio.Task[Any]]) -> str:
        """For the message of a second that does not end: who waits, their windows, and what Slack was asked last."""
        stack = self.driver.slack.workspace.views.stack
        windows = {
            who: [view.body for view in stack(who)] for who, person in self.people.items() if person.is_busy
        }
        asked = [call for call in self.driver.slack.workspace.calls if call["method"] != "users.info"]
        return f"second {self.second}: {working}\n{windows}\nlast asked of Slack: {asked[-10:]}"

    def _working(self) -> list[asyncio.Task[Any]]:
        working = [task for process in self.processes for task in process.working()]
        working += [person.at_work for person in self.people.values() if person.at_work is not None]
        for task in (*self._leading, *self._jobs.values()):
            if task.done():
                task.result()
        self._leading = [task for task in self._leading if not task.done()]
        self._jobs = {name: task for name, task in self._jobs.items() if not task.done()}
        return working + self._leading + [*self._jobs.values()]

    def _lead(self) -> None:
        """What the one process does that leads: messages, and what is on a timer."""
        if not self._leading:
            self._leading = [asyncio.create_task(self.outbox.deliver_due(), name="outbox")]
        for job in self.table:
            if job.name not in self._jobs and self.second % max(1, round(job.seconds)) == 0:
                self._jobs[job.name] = asyncio.ensure_future(job.run())

    async def _go_on(self) -> None:
        self.second += 1
        self.driver.world.clock.advance(1)
        await self.driver.tell("clock", {"advance_seconds": 1})
        await self.driver.world.tell("clock", {"advance_seconds": 1})
        self._sleepers.wake()

    def _count_calls(self) -> None:
        made = self.driver.slack.workspace.calls
        self.calls += [(self.second, call["method"], call["error"] or "") for call in made]
        made.clear()

    # What people do

    async def more_cards(self, count: int) -> list[str]:
        """Ids of cards that the bot knows, too."""
        issued = [issue_card(self.driver.world.simulator, f"BUSY {n}", f"busy-{n}") for n in range(count)]
        await card_sync.sync_cards(self.processes[0].core, "main")
        return issued

    def ask(self, who: str, card: str, amount: str) -> None:
        """By command, form and preview."""

        async def act() -> None:
            await self.driver.command(who, f"/card topup {card} {amount}", channel=OPS, settle=False)
            await self._window(who, "draft:form")
            await self.driver.submit(who, {"reason": "A busy day"}, settle=False)
            await self._window(who, "draft:preview")
            await self.driver.submit(who, settle=False)
            self.done["asked"] += 1

        self.people[who].acts.append(act)

    async def approved_batch(self, cards: list[str], *, by: str, approver: str) -> Request:
        """A dollar for each of these cards in one list, approved."""
        found: list[Request] = []
        text = "\n".join(["card,amount", *(f"{card},1" for card in cards)])

        async def act() -> None:
            batch = await ask_bulk(self.driver.world, text, by=by)
            found.append((await self.driver.world.approve(batch, by=approver))[0])

        self.people[by].acts.append(act)
        while not found:
            await self.seconds(1)
        return found[0]

    async def approve_what_is_posted(self) -> None:
        """Whoever of the approvers is free opens the next card that has a button, and approves it."""
        for message in list(self.driver.slack.workspace.store.messages[APPROVALS]):
            button = _approve_button(message)
            if button is None or message["ts"] in self._approving:
                continue
            free = [who for who in APPROVERS if not self.people[who].is_busy and not self.people[who].acts]
            if not free:
                return
            self._approving.add(message["ts"])
            self.people[free[0]].acts.append(partial(self._approve, free[0], message))

    async def _approve(self, who: str, message: dict[str, Any]) -> None:
        where = {"channel": APPROVALS, "ts": message["ts"], "action_id": "request:approve"}
        await self.driver.act("click", {"user": who, **where}, settle=False)
        await self._window(who, "request:approve")
        await self.driver.submit(who, settle=False)
        self.done["approved"] += 1

    async def _window(self, who: str, callback_id: str) -> None:
        """Until the topmost window is this one; seconds may pass, as a look-up may have to wait."""
        stack = self.driver.slack.workspace.views.stack
        for _ in range(20_000):
            views = stack(who)
            if views and views[-1].body["callback_id"] == callback_id and _is_whole(views[-1].body):
                return
            await asyncio.sleep(0.003)
        raise AssertionError(f"{who} waited for {callback_id} and saw {[v.body for v in stack(who)]}")

    # What came of it

    async def states(self) -> Counter[State]:
        return Counter(request.state for request in await self.requests())

    async def requests(self) -> list[Request]:
        async with self.driver.world.store.read() as tx:
            return await request_rows.find(tx, limit=1000)

    async def open_ones(self) -> int:
        return sum(request.state in OPEN for request in await self.requests())

    def in_the_busiest_minute(self) -> dict[str, int]:
        """Calls of each method in the sixty seconds in which there were most."""
        found: dict[str, int] = {}
        for method in {method for _, method, _ in self.calls}:
            at = [second for second, called, _ in self.calls if called == method]
            found[method] = max(sum(second <= other < second + 60 for other in at) for second in set(at))
        return dict(sorted(found.items()))

    def waited_s(self, requests: list[Request]) -> tuple[float, float]:
        """The longest from a request to its approval, and from there to its end, in seconds."""
        approved = [(r.created_at, r.approved_at, r.finished_at) for r in requests if r.finished_at]
        until = max((at - asked).total_seconds() for asked, at, _ in approved if at)
        then = max((ended - at).total_seconds() for _, at, ended in approved if at)
        return until, then

    def refused(self) -> Counter[str]:
        """What Slack refused for its rates, by method."""
        return Counter(method for _, method, error in self.calls if error == "ratelimited")

    async def figures(self) -> str:
        """What was seen, in a line."""
        asked, ended = self.waited_s(await self.requests())
        slack = ", ".join(f"{method} {most}" for method, most in self.in_the_busiest_minute().items())
        calls = sum((await self.api_answers()).values())
        return (
            f"until approved {asked:.0f} s, then {ended:.0f} s at most; {calls} calls of the API; refused by Slack"
            f" {dict(self.refused())}; calls in the busiest minute: {slack}"
        )

    async def api_answers(self) -> Counter[int]:
        """How the API answered, by status."""
        journal = (await self.driver.world.control.get("/_control/journal")).json()["requests"]
        return Counter(call["status"] for call in journal)


def _is_whole(body: dict[str, Any]) -> bool:
    """Not the window that is shown while something is looked up."""
    return bool(body.get("submit"))


def _approve_button(message: dict[str, Any]) -> str | None:
    for block in message.get("blocks") or ():
        for element in block.get("elements") or () if block["type"] == "actions" else ():
            if element.get("action_id") == "request:approve":
                return str(element["value"])
    return None


@asynccontextmanager
async def busy(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, count: int = 1, url: str = ""
) -> AsyncIterator[Busy]:
    """A team on `count` processes; several share the database at `url`."""
    async with a_slack_driver(folder, url=url) as driver, AsyncExitStack() as stack:
        clock = driver.world.clock
        sleepers = Sleepers(clock)
        monkeypatch.setattr(clock, "sleep", sleepers.sleep)
        slack_clock = driver.slack.workspace.clock
        began = slack_clock.now()
        monkeypatch.setattr(slack_clock, "_source", lambda: began)
        SteppedMinute.clock = clock
        workspace = driver.slack.workspace
        workspace_admin.change_person(workspace, {"id": "U0DAVE", "name": "dave", "real_name": "Dave Lind"})
        for channel in (OPS, APPROVALS):
            there = workspace.store.channels[channel].members
            workspace_admin.change_channel(workspace, {"id": channel, "members": [*there, "U0DAVE"]})
        first = driver.world.rebuild(**await _own(driver, driver.client, driver.core.store, 0, count, stack))
        others = [await _another(driver, url, number, count, stack) for number in range(1, count)]
        processes = [Process(first, driver.after), *others]
        found = Busy(driver, processes, sleepers)
        publisher = SlackPublisher(driver.client, partial(request_links.of, first))
        found.outbox = Outbox(first, publisher)
        ingest = await Ingest.open(first.store, clock)
        stack.push_async_callback(ingest.close)
        intake = Intake(ingest, first.codes, clock, first.inbox_bell.set, first.crash_point)
        watchers = jobs.Watchers(
            Poller(first, account_every=timedelta(minutes=1)),
            Webhooks(first, intake),
            Backfill(first, intake),
        )
        found.table = [
            *jobs.table(first, watchers, Poll(), Retention()),
            jobs.Job("inbox", 1, partial(_handled, first)),  # its loop, by the clock of the test
        ]
        yield found
        for task in found._working():
            task.cancel()


async def _handled(core: Core) -> None:
    while await inbox.process_next(core):
        pass


async def _own(
    driver: SlackDriver, client: AsyncWebClient, store: Store, number: int, count: int, stack: AsyncExitStack
) -> dict[str, Any]:
    """What each process has for itself."""
    clock, simulator = driver.world.clock, driver.world.simulator
    directory = SlackDirectory(client, home_team="T0SANDBOX", sleep=clock.sleep, clock=clock.monotonic)
    limiter: RateLimiter
    if count > 1:
        directory.shared = SteppedLooks(store, f"bot-{number}", clock)
        shared = SteppedMinute(store, simulator.key[:16])
        limiter = SharedRateLimiter(clock, shared, owner=f"bot-{number}")
        stack.push_async_callback(limiter.aclose)
    else:
        limiter = RateLimiter(clock)
    partner = PartnerClient(simulator.base_url, simulator.key, limiter=limiter, clock=clock)
    stack.push_async_callback(partner.aclose)
    return {
        "directory": directory,
        "partners": {"main": partner},
        "owner": f"bot-{number}",
        "people_seen": SharedLooks(),
        "accounts_seen": SharedLooks(),
        "people_kept": {},
        "roles_noted": {},
        "outbox_bell": asyncio.Event(),
        "inbox_bell": asyncio.Event(),
    }


async def _another(driver: SlackDriver, url: str, number: int, count: int, stack: AsyncExitStack) -> Process:
    store = await Store.open(url, vault=Vault(Keyring.parse(MASTER)), clock=driver.world.clock)
    stack.push_async_callback(store.close)
    client = AsyncWebClient(driver.slack.bot_token, base_url=driver.slack.api_url, retry_handlers=[])
    own = await _own(driver, client, store, number, count, stack)
    core = replace(driver.core, store=store, holds=never, **own)
    after = AfterAck()
    app = listening(driver.slack, client, handlers.Deps(core=core, after=after))
    socket = AsyncSocketModeHandler(app, driver.slack.app_token)
    await socket.connect_async()  # type: ignore[no-untyped-call]  # Bolt does not annotate it
    stack.push_async_callback(socket.close_async)
    stack.push_async_callback(after.drain, 5)
    return Process(core, after)
