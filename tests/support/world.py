"""The bot's core in a small world: real database, real client, real simulator; people and clock by script."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx

from bot import operations
from bot.domain.card_details import Reveals, origins
from bot.domain.errors import LookupFailed
from bot.domain.ids import Ids
from bot.domain.money import exact_sum
from bot.domain.people import Actor, KindPolicy, Limits, Policy
from bot.domain.people.policy import People, Tier
from bot.domain.requests import Request, Verdict
from bot.domain.slack_faults import NOT_THERE
from bot.partner.client import PartnerClient
from bot.partner.loopback import is_loopback
from bot.partner.ratelimit import RateLimiter
from bot.partner.secret import Secret
from bot.services import execution, people, requests
from bot.services.anchor_places import AnchorPlaces
from bot.services.cards import card_sync
from bot.services.core import Channels, Core
from bot.services.requests import approvals, drafts
from sandbox.partner.server import Running as Simulator
from sandbox.partner.server import serve
from sandbox.partner.state import Snapshot
from storage.operators import programs
from storage.requests import attempts as attempt_rows
from storage.requests import requests as request_rows
from storage.store import Store
from storage.transaction import Tx
from storage.vault import Keyring, Vault
from tests.support import posting
from tests.support.clock import SteppedClock
from tests.support.databases import Content, content_of, fill, is_fresh, migrated_file

MASTER = "lyRuFlrH8Ycz2eWVpYVS0eFBW1vKlmFXZBQuQ0ZkHbg="
HOME = "T0SANDBOX"
_WAL = b"\x02\x02"  # in the header of a file with a log beside it
ALICE, BOB, CAROL = "U0ALICE", "U0BOB", "U0CAROL"
OWN = "U0BOT"  # the bot's account


class ScriptedDirectory:
    """Slack's answer to who people are; `broken` makes every look-up fail.

    `codes`: with which code Slack refuses to say who an account is, by its id; `code_of_unknown`: of all that are not
    among `actors`. `asked`: what answers instead, for a test that counts or holds up what is asked.
    """

    home_team = HOME
    workspace_url = ""

    def __init__(self) -> None:
        self.actors = {u: Actor(u, u[2:].title(), team_id=HOME) for u in (ALICE, BOB, CAROL, OWN)}
        self.groups = {"@card-approvers": {BOB, CAROL}, "@card-admins": {CAROL}}
        self.broken = False
        self.codes: dict[str, str] = {}
        self.code_of_unknown = ""
        self.asked: Callable[[str], Awaitable[Actor]] = self.answer

    async def actor(self, slack_id: str) -> Actor:
        return await self.asked(slack_id)

    async def answer(self, slack_id: str) -> Actor:
        code = self.codes.get(slack_id)
        if code is None and slack_id not in self.actors:
            code = self.code_of_unknown or None
        if code is not None:
            raise LookupFailed(f"Slack could not say who this is ({code}).", code)
        if self.broken or slack_id not in self.actors:
            raise LookupFailed("Slack does not answer, so nothing was decided. Try again.")
        return self.actors[slack_id]

    async def knows_itself(self) -> bool:
        try:
            await self.actor(OWN)
        except LookupFailed as error:
            if error.code in NOT_THERE:
                return False
            raise
        return True

    async def members(self, names: Sequence[str]) -> frozenset[str]:
        if self.broken:
            raise LookupFailed("Slack does not answer, so nothing was decided. Try again.")
        return frozenset(m for name in names for m in self.groups.get(name, {name}))

    async def each(self, lists: Sequence[Sequence[str]]) -> Sequence[frozenset[str]]:
        return [await self.members(names) for names in lists]

    async def members_lately(self, names: Sequence[str]) -> frozenset[str]:
        return await self.members(names)

    async def called(self, names: Sequence[str], among: Collection[str] | None = None) -> Sequence[str]:
        return sorted(await self.members(names) if among is None else among)

    def change(self, slack_id: str, **flags: Any) -> None:
        self.actors[slack_id] = replace(self.actors[slack_id], **flags)


class Wakes:
    """A carrier that only remembers; the test executes."""

    def __init__(self) -> None:
        self.woken: list[str] = []

    async def enqueue(self, tx: Tx, request_id: str, _queue: str) -> None:
        tx.after_commit(lambda: self.woken.append(request_id))

    def wake(self) -> None:
        self.woken.append("")


class Died(BaseException):
    """The process ends here; nothing after this point runs."""


@dataclass
class World:
    """The parts of the small world. `core` is replaced by `rebuild` alone."""

    store: Store
    simulator: Simulator
    control: httpx.AsyncClient
    clock: SteppedClock
    people: ScriptedDirectory
    core: Core
    database: Path
    limiter: RateLimiter  # of the key, as every call of the bot waits for it
    cards: list[dict[str, Any]] = field(default_factory=list)
    _builders: list[Callable[[], None]] = field(default_factory=list)

    def rebuild(self, **parts: Any) -> Core:
        """Start again with other parts of the core, as `world.rebuild(policy=...)`; the database stays.

        Whatever was made by `built` is built again around the new core, so it forgets what it had in memory.
        A core that was read before this call keeps its old parts.
        """
        self.core = replace(self.core, **parts)
        for build in self._builders:
            build()
        return self.core

    def goes_on_as(self, process: Core) -> None:
        """From now on another process of the installation does what is done here; whatever was `built` is its own."""
        self.core = process
        for build in self._builders:
            build()

    def built(self, build: Callable[[], None]) -> None:
        """Call `build`, which makes what holds the core: now, and after every `rebuild`, in this order."""
        build()
        self._builders.append(build)

    @contextmanager
    def dies_at(self, crash_point: str) -> Iterator[None]:
        """The process dies when it reaches this crash point, which it must; afterwards another one runs."""

        def die(reached: str) -> None:
            if reached == crash_point:
                raise Died

        before = self.core.crash_point
        self.rebuild(crash_point=die)
        try:
            yield
        except Died:
            pass
        else:
            raise AssertionError(f"{crash_point} was not reached")
        finally:
            self.rebuild(crash_point=before)

    async def ask(
        self, kind: str, texts: dict[str, str], *, by: str = ALICE, reason: str = "because", now: bool = False
    ) -> Request:
        """Fill the form, read the preview, submit: as the modals do."""
        await people.require_member(self.core, by, action="test")
        draft = await drafts.begin(self.core, owner=by, kind=kind, texts=texts, reason=reason, run_now=now)
        await drafts.preview(self.core, draft)
        return await requests.submit(self.core, draft.id, by)

    async def approve(self, request: Request, *, by: str = BOB) -> tuple[Request, Verdict]:
        """Its message is in Slack by then, as nobody approves it before."""
        await posting.post(self.core, request.id)
        return await approvals.approve(self.core, request.id, by, shown_digest=request.digest)

    async def top_up(self, amount: str = "50", *, card: int = 0, approved: bool = True) -> Request:
        """A top-up by Alice, approved by Bob."""
        request = await self.ask("card_topup", {"card": self.cards[card]["id"], "amount_usd": amount})
        return (await self.approve(request))[0] if approved else request

    async def run_due(self) -> None:
        """Execute whatever is due now, once."""
        for queue in await execution.due(self.core):
            for request_id in queue.ids:
                await execution.execute(self.core, request_id)

    async def run(self, seconds: float, *, step: float = 5.0) -> None:
        """Let time pass, here and at the simulator, executing what falls due."""
        passed = 0.0
        await self.run_due()
        while passed < seconds:
            await self.advance(step)
            passed += step
            await self.run_due()

    async def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)
        await self.tell("clock", {"advance_seconds": seconds})

    async def request(self, request_id: str) -> Request:
        async with self.store.read() as tx:
            found = await request_rows.get(tx, request_id)
        assert found is not None
        return found

    async def attempts(self, request_id: str) -> list[Any]:
        async with self.store.read() as tx:
            return await attempt_rows.of(tx, request_id)

    async def tell(self, call: str, body: dict[str, Any]) -> Any:
        """A control call of the simulator."""
        answer = await self.control.post(f"/_control/{call}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def fault(self, effect: str, operation: str = "POST /cards/{cardId}/topup", **more: Any) -> None:
        await self.tell("faults", {"operation": operation, "effect": effect, **more})

    async def state(self) -> Any:
        answer = await self.control.get("/_control/state")
        return answer.json()

    async def sent(self, operation: str) -> list[Any]:
        """The journal's calls of one method and path ending, for example `POST /topup`."""
        method, ending = operation.split(" ")
        journal = (await self.control.get("/_control/journal")).json()["requests"]
        return [r for r in journal if r["method"] == method and r["path"].endswith(ending)]

    async def debits(self, key: str) -> Decimal:
        """What the simulator's ledger took for this key and gave back, together."""
        rows = [e async for e in self.core.partners["main"].ledger_entries()]
        mine = [
            e
            for e in rows
            if e.reference == f"topup:{key}" or (e.reference or "").startswith(f"topup:{key}:")
        ]
        return exact_sum(e.amount_usd for e in mine)


def a_policy() -> Policy:
    return Policy(
        people=People(approvers=("@card-approvers",), admins=("@card-admins",)),
        kinds={"card_topup": KindPolicy(tiers=(Tier(Decimal(500), 2),))},
        limits=Limits(per_requester_usd=Decimal(5000), total_usd=Decimal(20000)),
        version="test-policy",
    )


@dataclass(frozen=True)
class Begun:
    """A small world to begin from: what the simulator and the bot hold, the cards as they are known, the time."""

    simulator: Snapshot
    database: bytes | Content
    cards: str
    seconds: float


#: By the kind of database and `an_hour_later`: made once for the whole process, and copied for every test.
_begun: dict[tuple[str, bool], Begun] = {}


async def _give_key(store: Store, simulator: Simulator) -> None:
    async with store.begin() as tx:
        await programs.put(tx, "main", base_url=simulator.base_url, key=Secret(simulator.key))


async def _begin(world: World, *, an_hour_later: bool) -> None:
    """The simulator's clock stands still, its happy day is played, the bot knows the cards."""
    await world.tell("clock", {"mode": "frozen", "set": world.clock.now().isoformat()})
    await world.tell("scenarios/happy-day", {})
    await card_sync.sync_cards(world.core, "main")
    if an_hour_later:
        # Again by the frozen clock: the cards that the simulator started with are from its future.
        await world.tell("scenarios/happy-day", {})
        await world.advance(3600)
        await card_sync.sync_cards(world.core, "main")
    world.cards = [c for c in (await world.state())["cards"] if c["status"] == "ACTIVE"]


def kept(world: World, url: str, seconds: float) -> Begun:
    """All of it, to begin from again. Read while nothing is written."""
    simulator = world.simulator.world
    snapshot = Snapshot(simulator.store.copy(), dict(simulator.bodies))
    return Begun(snapshot, _database_of(url), json.dumps(world.cards), seconds)


def _database_of(url: str) -> bytes | Content:
    if not url.startswith("sqlite"):
        return content_of(url)
    file_path = url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(file_path)) as file, closing(sqlite3.connect(":memory:")) as copy:
        file.backup(copy)
        database = copy.serialize()
    return database[:18] + _WAL + database[20:]


def _go_on_from(begun: Begun, url: str) -> None:
    """The database is as it was when the world began."""
    if isinstance(begun.database, Content):
        fill(url, begun.database)
    else:
        Path(url.removeprefix("sqlite:///")).write_bytes(begun.database)


@asynccontextmanager
async def a_world(
    folder: Path,
    *,
    policy: Policy | None = None,
    url: str = "",
    an_hour_later: bool = False,
    begun: Begun | None = None,
    **core_options: Any,
) -> AsyncIterator[World]:
    """Everything started, the simulator's clock frozen, its happy day played; `url` is of another migrated database.

    `an_hour_later`: the happy day was played by the frozen clock, and an hour has passed since. `begun`: go on from
    there instead.
    """
    clock = SteppedClock()
    database = folder / "bot.db"
    of_this_kind = url.partition(":")[0] or "sqlite", an_hour_later
    if not url:
        url = f"sqlite:///{database}"
        await migrated_file(database)
    fresh = is_fresh(url)
    begun = begun or (_begun.get(of_this_kind) if fresh else None)
    if begun is not None:
        _go_on_from(begun, url)
    async with AsyncExitStack() as stack:
        store = await Store.open(url, vault=Vault(Keyring.parse(MASTER)), clock=clock)
        stack.push_async_callback(store.close)
        simulator = await serve(port=0)
        stack.push_async_callback(simulator.close)
        control = await stack.enter_async_context(
            httpx.AsyncClient(base_url=simulator.url, trust_env=False, verify=False)
        )
        limiter = RateLimiter(clock)
        client = PartnerClient(simulator.base_url, simulator.key, limiter=limiter, clock=clock)
        stack.push_async_callback(client.aclose)
        await _give_key(store, simulator)
        directory = ScriptedDirectory()
        served = origins([simulator.base_url], (), is_loopback)
        core_options.setdefault("anchors", AnchorPlaces(files=(folder / "anchors",)))
        core_options.setdefault("reveals", Reveals("https://countersign.example.com", served))
        core = Core(
            store=store,
            partners={"main": client},
            kinds=operations.kinds(),
            policy=policy or a_policy(),
            channels=Channels("C0APPROVALS", "C0ALERTS"),
            directory=directory,
            carrier=Wakes(),
            clock=clock,
            ids=Ids(store.instance, random.Random(7), clock.now),
            owner="test",
            live={"main": False},
            **core_options,
        )
        world = World(store, simulator, control, clock, directory, core, database, limiter)
        if begun is None:
            before = clock.monotonic()
            await _begin(world, an_hour_later=an_hour_later)
            if fresh:
                _begun[of_this_kind] = kept(world, url, clock.monotonic() - before)
                # As in each world that goes on from there, so that it is no other in the first one.
                await _give_key(store, simulator)
        else:
            clock.advance(begun.seconds)
            simulator.world.restore(begun.simulator)
            world.cards = json.loads(begun.cards)
        yield world
