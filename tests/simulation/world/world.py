"""The world of one seed: both sandboxes, the bot's processes and the database file that outlives them."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from asyncio import events
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sandbox.partner import http
from storage.columns import time_text
from storage.store import Store
from storage.vault import Keyring, Vault
from tests.simulation.inline_sqlite import Storage, connect
from tests.simulation.loop import OWNER, Owner, SimulatedLoop
from tests.simulation.network import SLACK, Call, Network
from tests.simulation.world import furniture, stand_ins
from tests.simulation.world.api_side import ApiSide
from tests.simulation.world.installation import Installation, Policy
from tests.simulation.world.names import START, Json
from tests.simulation.world.process import Clock, Killed, Process
from tests.simulation.world.relay_side import RelaySide
from tests.simulation.world.slack_side import SlackSide
from tests.support.authenticator import Authenticator

# Timers that cost time and matter seldom: most worlds do without them.
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
# Timers that put in order what goes on without them: many worlds have them only once the trouble has ended.
LATE = (
    *("account", "funding", "first-cards", "first-ledger", "moved", "purge", "remind"),
    *("watch", "consents", "alerts", "deliveries", "messages", "names"),
)
# Calls that a story is not about, unless something goes wrong with them.
_QUIET = ("GET ", "users.info", "usergroups.list", "conversations.", "chat.getPermalink", "views.publish")
# What errors say that were brought about on purpose.
_DISK_FULL = "disk is full"
FORESEEN = (
    _DISK_FULL,
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
    "NotDelivered",
)
# Steps that make no trouble.
_HARMLESS = frozenset({"ask", "ask many", "ask by name", "decide", "look", "click twice", "time passes"})


class World:
    """Everything of one seed. `tell` gets each thing that happens, for the story."""

    def __init__(
        self,
        seed: int,
        folder: Path,
        *,
        replicas: int = 1,
        jobs: frozenset[str] = frozenset(),
        relays: bool = False,
        passkeys: bool = False,
        cool_off_s: int = 0,
        tell: Callable[[float, str], None] | None = None,
    ) -> None:
        self.replicas = replicas
        self.wanted = replicas  # so many are started again; fewer once the trouble is over
        self._chance = random.Random(f"chance {seed}")
        # Streams of their own, so that one more draw in one place does not change all the others.
        self.timing = random.Random(f"timing {seed}")
        order = random.Random(f"order {seed}")
        manner = order.randrange(4)
        self.loop = SimulatedLoop(None if manner == 0 else random.Random(f"loop {seed}"))
        # `jobs` are those that matter to this plan.
        self.jobs_off = {job for job in SELDOM if order.random() < 0.75} - jobs
        self.jobs_late = {job for job in LATE if order.random() < 0.7} - jobs
        self.all_jobs = asyncio.Event()  # set once those come into use as well
        # In so many leaps time passes where nothing is under way: now and then everybody has many turns.
        self.leaps = order.choice((1, 1, 2, 3, 8))
        # Home is drawn again so often; each round reads all that it shows.
        self.home_round_s = order.choice((10.0, 60.0, 60.0, 60.0))
        self.interrupts = (0.0, 0.05, 0.2, 0.5)[manner]
        self.world = Owner("world")
        self.folder = folder
        self.database = folder / "bot.db"
        self._tell = tell
        self.errors: list[str] = []
        self.wrong_by_s = 0.0
        self.clocks_never_wrong = True
        self.commits = 0
        self.may_start = True  # False while somebody starts it in a way that it has to refuse
        self.copy: bytes | None = None  # of the database, as it once was
        self.on_commit: Callable[[Process], None] = lambda _process: None
        self.on_lost_commit: Callable[[], None] = lambda: None
        self.on_departure: Callable[[http.Request, Call], None] = lambda _request, _call: None
        self.on_arrival: Callable[[http.Request, http.Answer | None], None] = lambda _request, _answer: None
        self.die_at: tuple[str, int] | None = None
        self.processes: list[Process] = []
        self.network = Network(self.loop, self.world, random.Random(f"network {seed}"), told=self._call_told)
        self._copy_database()
        self.slack_side = SlackSide(self, seed)
        self.slack = self.slack_side.workspace
        self.api = ApiSide(self, seed)
        self.partner = self.api.partner
        self.installation = Installation(
            self.api.key, Policy(relays=relays, passkeys=passkeys, cool_off_s=cool_off_s)
        )
        self.devices: dict[str, Authenticator] = {}  # of people with a passkey
        self.relay = RelaySide(self)
        stand_ins.follow(self)
        self.loop.spawn(self.world, self.api.tick(), "partner")

    def is_late(self, job: str) -> bool:
        """Whether this timer waits for the end of the trouble."""
        return job in self.jobs_late and not self.all_jobs.is_set()

    # The story

    def say(self, text: str) -> None:
        if self._tell is not None:
            self._tell(self.loop.time(), self._with_names(text))

    def _with_names(self, text: str) -> str:
        """Cards by their holders and last digits instead of their ids."""
        for card in self.partner.store.all("SELECT id, card_holder_name, last4 FROM cards"):
            if card["id"] in text:
                text = text.replace(card["id"], f"{card['card_holder_name'].title()} ••{card['last4']}")
        return text

    @property
    def explaining(self) -> bool:
        return self._tell is not None

    def note_error(self, where: str, error: BaseException) -> None:
        self.errors.append(f"{where}: {type(error).__name__}: {error}")
        self.say(f"[{where}] {type(error).__name__}: {str(error)[:200]}")

    def _call_told(self, call: Call) -> None:
        if self._tell is None or (not call.effect and call.what.startswith(_QUIET)):
            return
        about = f" for {call.about}" if call.about else ""
        trouble = f" ({call.effect})" if call.effect else ""
        answer = f"the answer is {call.result}" if call.result else "there is no answer"
        self.say(f"{call.by} calls {call.side}: {call.what}{about}{trouble}; {answer}.")

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
        self.say(f"{process.owner.name} starts.")
        return process

    def owner_of(self, who: Owner | None) -> str | None:
        """A process as the leases in the database name it; None for anybody else."""
        known = (p.core.owner for p in self.processes if p.owner is who and p.running is not None)
        return next(known, None)

    def start_bots(self) -> None:
        """As many as there should be."""
        while sum(process.owner.alive for process in self.processes) < self.wanted:
            self.start_bot()

    def kill_bot(self, which: Process | None = None) -> None:
        """All that are alive, or this one."""
        for process in self.processes:
            if process.owner.alive and which in (None, process):
                self.say(f"{process.owner.name} is killed.")
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
                self.say(f"{process.owner.name} dies at the point {name}.")
                process.kill()
        raise Killed

    @property
    def leases_are_right(self) -> bool:
        """They last as long as they say: the clock they run on is the one process's own, or that of the database."""
        return self.replicas > 1 or self.clocks_never_wrong

    def renew_leases(self, by_s: float) -> bool:
        """The clock is about to leap by so much: what the processes that run hold is theirs for as much longer, as if
        they had renewed it meanwhile. False where one stands still, or the database is held by somebody."""
        now = self.loop.time()
        alive = [one for one in self.processes if one.owner.alive]
        if any(one.running is None or one.owner.stands_still_until > now for one in alive):
            return False
        held = self.rows("SELECT name, owner, until FROM lease")
        owners, by = {one.name for one in alive}, timedelta(seconds=by_s)
        ends = {row["name"]: datetime.fromisoformat(row["until"]) for row in held if row["owner"] in owners}
        later = [
            (time_text(end + by), name) for name, end in ends.items() if end > START + timedelta(seconds=now)
        ]
        try:
            with closing(connect(self.database)) as connection, connection:
                connection.executemany("UPDATE lease SET until = ? WHERE name = ?", later)
        except sqlite3.OperationalError:
            return False
        for process in alive:
            process.hold_for_longer(by_s)
        return True

    def set_clocks(self, wrong_by_s: float, which: Process | None = None) -> None:
        """The wall clock of every process, now and later, is wrong by so much; or of this one alone."""
        self.clocks_never_wrong = self.clocks_never_wrong and not wrong_by_s
        if which is None:
            self.wrong_by_s = wrong_by_s
        for process in self.processes:
            if which in (None, process):
                process.clock.wrong_by_s = wrong_by_s

    def able_to_approve(self) -> set[str]:
        """Who is in the group of approvers, or decides for one of it, and is a full member of the workspace."""
        people = self.slack.store.people
        return {one for one in self.seats(self.installation.policy) if _is_full_member(people[one])}

    def seats(self, policy: Policy) -> dict[str, frozenset[str]]:
        """Those who may approve, each with the approvers whose word theirs is."""
        group = next(g for g in self.slack.store.groups.values() if g.handle == "card-approvers")
        seats = {one: frozenset({one}) for one in group.users}
        if policy.stands_for is not None:
            away, delegate = policy.stands_for
            if away in seats and delegate not in seats:
                seats[delegate] = frozenset({away, delegate})
        return seats

    @property
    def slack_away_since(self) -> float | None:
        """Since when Slack answers nothing at all; None while it may."""
        now = self.loop.time()
        outages = [t for t in self.network.troubles if t.side == SLACK and not t.what and t.ends is not None]
        return min((t.began for t in outages if (t.ends or 0) > now), default=None)

    def unforeseen(self, steps: set[str]) -> list[str]:
        """Errors that nobody foresaw: what was logged as such or met a person. `steps` are those of the plan: where
        none of them makes trouble nothing is foreseen, and a full disk only where one fills it."""
        if steps <= _HARMLESS:
            # Where three calls in a row take their second each, Slack has closed the window meanwhile.
            return [line for line in self.errors if "expired_trigger_id" not in line]
        words = [word for word in FORESEEN if word != _DISK_FULL or "disk full" in steps]
        return [line for line in self.errors if not any(word in line for word in words)]

    def committed(self, process: Process) -> None:
        self.commits += 1
        self.on_commit(process)

    def rows(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        """What the bot's database holds now."""
        return self._reader.execute(sql, values).fetchall()

    def write(self, sql: str, *values: Any) -> None:
        """Change the bot's database behind its back."""
        with closing(connect(self.database, isolation_level=None)) as connection:
            connection.execute(sql, values)

    def _copy_database(self) -> None:
        for old in self.folder.iterdir():
            old.unlink()
        self.database.write_bytes(furniture.migrated())
        self._open_reader()

    def _open_reader(self) -> None:
        self._reader = connect(self.database, isolation_level=None)
        self._reader.execute("PRAGMA query_only = ON")
        self._reader.row_factory = sqlite3.Row

    def back_up(self) -> bytes:
        """A copy of the whole database, kept as `copy`."""
        with closing(sqlite3.connect(":memory:")) as kept:
            self._reader.backup(kept)
            self.copy = kept.serialize()
        return self.copy

    def put_in_place(self, copy: bytes) -> bytes:
        """This copy is the database from now on, while no process runs; returns what was there."""
        older, replaced = self.copy, self.back_up()
        self.copy = older
        self._reader.close()
        for name in ("", "-wal", "-shm"):
            self.database.with_name(self.database.name + name).unlink(missing_ok=True)
        self.database.write_bytes(copy)
        self._open_reader()
        return replaced

    def run_tool(self, name: str, work: Callable[[Store], Awaitable[None]]) -> None:
        """Run a command of the command line beside the bot, on the same database and with the same keys."""
        owner, installation = Owner(name), self.installation

        async def run() -> None:
            storage = Storage(self.timing, interrupts=self.interrupts, after_commit=lambda: None)
            url, key = f"sqlite:///{self.database}", installation.settings(str(self.database)).master_key
            assert key is not None
            vault = Vault(Keyring.parse(key.read().reveal()))
            store = await Store.open(url, vault=vault, clock=Clock(self.loop), engines=storage.open)
            try:
                await work(store)
            finally:
                await store.close()

        self.say(f"{name} runs")
        self.loop.spawn(owner, run(), name)

    # The API
    # The API

    def tell_partner(self, call: str, body: Json | None = None, method: str = "POST") -> Any:
        """A control call of the API's sandbox."""
        return self.api.tell(call, body, method)

    def close(self) -> None:
        self.database.unlink()  # or SQLite would fold the log into it before it closes
        self.kill_bot()
        self._reader.close()
        self.partner.store.close()
        self.loop.forget()


def _is_full_member(person: Any) -> bool:
    barred = person.is_restricted or person.is_ultra_restricted or person.is_bot or person.is_stranger
    return not (person.deleted or barred)
