"""The world of one seed: both sandboxes, the bot's processes and the database file that outlives them."""

from __future__ import annotations

import random
import sqlite3
from asyncio import events
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from sandbox.partner import http
from tests.simulation.loop import OWNER, Owner, SimulatedLoop
from tests.simulation.network import SLACK, Call, Network
from tests.simulation.world import furniture, stand_ins
from tests.simulation.world.api_side import ApiSide
from tests.simulation.world.names import Json
from tests.simulation.world.process import Killed, Process
from tests.simulation.world.slack_side import SlackSide

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
        self.commits = 0
        self.on_commit: Callable[[], None] = lambda: None
        self.on_departure: Callable[[http.Request, Call], None] = lambda _request, _call: None
        self.on_arrival: Callable[[http.Request, http.Answer | None], None] = lambda _request, _answer: None
        self.die_at: tuple[str, int] | None = None
        self.processes: list[Process] = []
        self.network = Network(self.loop, self.world, random.Random(f"network {seed}"), told=self._call_told)
        self.settings, self.config = furniture.settings(str(self.database)), furniture.config()
        self._copy_database()
        self.slack_side = SlackSide(self, seed)
        self.slack = self.slack_side.workspace
        self.api = ApiSide(self, seed)
        self.partner = self.api.partner
        stand_ins.follow(self)
        self.loop.spawn(self.world, self.api.tick(), "partner")

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

    def owner_of(self, who: Owner | None) -> str | None:
        """A process as the leases in the database name it; None for anybody else."""
        known = (p.core.owner for p in self.processes if p.owner is who and p.running is not None)
        return next(known, None)

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
        self.database.write_bytes(furniture.migrated())
        self._reader = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, isolation_level=None)
        self._reader.row_factory = sqlite3.Row

    # The API
    # The API

    def tell_partner(self, call: str, body: Json | None = None, method: str = "POST") -> Any:
        """A control call of the API's sandbox."""
        return self.api.tell(call, body, method)

    def close(self) -> None:
        self.kill_bot()
        self._reader.close()
        self.partner.store.close()
        self.loop.forget()
