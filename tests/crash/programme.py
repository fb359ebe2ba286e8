"""Killing a bot at work, again and again, and what the run has to tell of itself."""

import asyncio
import os
import random
import re
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.crash.invariants import violations
from tests.crash.outside import LEAP_EVERY_S, LEASE_S, Json, Outside
from tests.crash.people_at_work import Operators
from tests.crash.process import ROOT
from tests.support.posted_ids import dedupe_of
from tests.support.waiting import eventually

# What the API does now and then, so that kills meet lost answers, slow ones and refusals as well.
TOPUP, ORDER, FREEZE, FUNDING = (
    "POST /cards/{cardId}/topup",
    "POST /cards",
    "POST /cards/{cardId}/freeze",
    "POST /funding",
)
FAULTS: tuple[Json, ...] = (
    {"operation": TOPUP, "effect": "delay", "seconds": 0.2, "times": 3},
    {"operation": TOPUP, "effect": "drop_after_commit"},
    {"operation": TOPUP, "effect": "drop_before_commit"},
    {"operation": TOPUP, "effect": "drop_midway"},
    {"operation": TOPUP, "effect": "reset"},
    {"operation": TOPUP, "effect": "garbage"},
    {"operation": TOPUP, "effect": "processor", "processor": "timeout"},
    {"operation": TOPUP, "effect": "processor", "processor": "401"},
    {"operation": ORDER, "effect": "drop_after_commit"},
    {"operation": ORDER, "effect": "delay", "seconds": 0.2},
    {"operation": FREEZE, "effect": "drop_after_commit"},
    {"operation": FREEZE, "effect": "processor", "processor": "5xx"},
    {"operation": FUNDING, "effect": "drop_after_commit"},
    {"operation": FUNDING, "effect": "delay", "seconds": 0.2},
    # A budget that is used up, a key that may not call this for a while, calls that hang in all places there are.
    {"operation": TOPUP, "effect": "status", "status": 429, "code": "RATE_LIMITED"},
    {"operation": ORDER, "effect": "status", "status": 403, "code": "FORBIDDEN", "times": 2},
    {"operation": FREEZE, "effect": "status", "status": 403, "code": "FORBIDDEN", "times": 2},
    {"operation": TOPUP, "effect": "hang", "seconds": 20, "times": 3},
)
# What Slack does now and then: a post that is made and whose answer is lost must be found, not repeated.
SLACK_FAULTS: tuple[Json, ...] = (
    {"method": "chat.postMessage", "effect": "reset_after"},
    {"method": "chat.postMessage", "effect": "500"},
    {"method": "chat.postMessage", "effect": "429", "seconds": 1},
    {"method": "chat.update", "effect": "503"},
    {"method": "conversations.history", "effect": "500"},
    {"method": "usergroups.users.list", "effect": "429", "seconds": 5, "times": 2},
    # Refused for a while for what has nothing to do with the message.
    {"method": "chat.postMessage", "effect": "error", "error": "invalid_auth", "times": 6},
    {"method": "chat.postMessage", "effect": "error", "error": "not_in_channel", "times": 6},
    {"method": "chat.update", "effect": "error", "error": "missing_scope", "times": 6},
)
WORK_S, START_S = 0.7, 0.3
# On a machine where so many requests take so many seconds a life lasts so long; on a slower one longer, up to a limit.
REQUESTED, REQUESTS_S, SLOWEST = 3, 0.4, 3.0
CRASH_TIMEOUT_S, DRAIN_TIMEOUT_S = 15.0, 40.0
_DOUBTS = "SELECT id FROM attempt WHERE answered_at IS NULL AND purpose <> 'look'"


@dataclass
class Figures:
    """What happened; a run prints it whole, its seed first."""

    seed: int
    kills: int = 0
    troubles: dict[str, int] = field(default_factory=dict)
    requests: int = 0
    debits: int = 0
    states: dict[str, int] = field(default_factory=dict)
    doubts: int = 0
    half_sent: int = 0
    seconds: float = 0.0
    longest_unsent_s: float = 0.0
    broken: list[str] = field(default_factory=list)
    _doubtful: set[str] = field(default_factory=set, repr=False)

    def __str__(self) -> str:
        states = _listed(self.states)
        return (
            f"seed {self.seed}: {_listed(self.troubles) or f'{self.kills} kills'} in {self.seconds:.0f} s;"
            f" {self.requests} requests ({states}), {self.debits} debits;"
            f" {self.doubts} calls cut off without a recorded answer,"
            f" {self.half_sent} messages sent and not marked;"
            + (
                f" approved and unsent for {self.longest_unsent_s:.1f} s at most;"
                if self.longest_unsent_s
                else ""
            )
            + f" {len(self.broken)} promises broken"
            + "".join(f"\n  {promise}" for promise in self.broken)
        )

    def count_kill(self, world: Outside) -> None:
        """What this kill left half done."""
        self.kills += 1
        self.count_half_done(world)

    def count_trouble(self, name: str, world: Outside) -> None:
        """What went wrong, by its name, and what it left half done."""
        self.troubles[name] = self.troubles.get(name, 0) + 1
        self.count_half_done(world)

    def count_half_done(self, world: Outside) -> None:
        """Calls without an answer, and messages that Slack has and that are not marked as sent."""
        self._doubtful |= {row["id"] for row in world.rows(_DOUBTS)}
        self.doubts = len(self._doubtful)
        has = {*world.posted.all(), *map(dedupe_of, world.posts())}
        self.half_sent += sum(
            row["dedupe"] in has for row in world.rows("SELECT dedupe FROM outbox WHERE state = 'sending'")
        )

    async def close(self, world: Outside, began: float) -> None:
        """The final count, and the judgement."""
        self.seconds = time.monotonic() - began
        self.longest_unsent_s = world.longest_unsent_s
        rows = world.rows("SELECT state, count(*) AS times FROM request GROUP BY state")
        self.states = {row["state"]: row["times"] for row in rows}
        self.requests = sum(self.states.values())
        debits = [r for r in world.truth()["ledger"] if r["kind"] == "card_topup"]
        self.debits = len([r for r in debits if r["reference"] not in world.seeded])
        self.broken += await violations(world)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in sorted(counts.items()))


Run = Callable[[Path, int, int], Awaitable[Figures]]
"""One batch in a fresh world, by its folder, how many troubles, and its seed."""
# Chance decides what so few troubles meet: where they met nothing, as many more follow, so many times at most.
SAMPLES_MOST = 6


async def in_batches(run: Run, folder: Path, troubles: int, *, of: int, seed: int) -> list[Figures]:
    """So many troubles, `of` to a batch: a broken promise is reported with a seed that is quick to replay."""
    sizes = [min(of, troubles - number * of) for number in range(-(-troubles // of))]
    return [await _batch(run, folder / str(number), size, seed + number) for number, size in enumerate(sizes)]


async def sampled(run: Run, folder: Path, troubles: int, *met: Callable[[Figures], int]) -> None:
    """Batches of so many troubles, until each of `met` was found in some of them. No promise is broken in any."""
    first, batches = a_seed(), list[Figures]()
    while len(batches) < SAMPLES_MOST and not all(any(map(one, batches)) for one in met):
        number = len(batches)
        batches.append(await _batch(run, folder / str(number), troubles, first + number))
        assert batches[-1].broken == [], f"SEED={batches[-1].seed}"
    assert all(any(map(one, batches)) for one in met), "the programme has lost its teeth"


def a_seed() -> int:
    """Another one each time; SEED replays the choices of a run."""
    return int(os.environ.get("SEED") or secrets.randbelow(10**6))


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


async def _batch(run: Run, folder: Path, troubles: int, seed: int) -> Figures:
    figures = await run(_made(folder), troubles, seed)
    print(f"\n{figures}", flush=True)
    return figures


OF_EVENTS = ("inbox.", "backfill.", "relay.")


def crash_points(*, of_events: bool = False) -> list[str]:
    """Every point that production code names, read from its source: a new one is tried by itself.

    Those on the way of an event are passed when events come, not when people work.
    """
    found: set[str] = set()
    for path in (ROOT / "bot").rglob("*.py"):
        found |= set(re.findall(r'crash_point\("([a-z_.]+)"\)', path.read_text()))
    return sorted(point for point in found if point.startswith(OF_EVENTS) == of_events)


async def kill_at_points(
    world: Outside,
    points: Sequence[str],
    *,
    seed: int,
    by_turns: bool = False,
    drain_timeout_s: float = DRAIN_TIMEOUT_S,
) -> Figures:
    """Let the bot die at each of `points`, at its first and its second passing, with people at work.

    `by_turns`: once at each point, at the first and the second passing by turns.
    """
    figures, operators, began = Figures(seed), Operators(world, random.Random(seed)), time.monotonic()
    for nth in (1, 2):
        for point in points[nth - 1 :: 2] if by_turns else points:
            await world.bot.start(point=point, nth=nth, wait=False)
            if await world.bot.ready():
                async with people_at_work(world, operators):
                    died = await world.bot.died(CRASH_TIMEOUT_S)
            else:
                died = await world.bot.died(0)  # of what an earlier life had left to do
            if died is None:
                figures.broken.append(f"{point} was not passed {nth} times in {CRASH_TIMEOUT_S:g} s")
                await world.bot.kill()
            figures.count_kill(world)
    await finish(world, operators, figures, began, drain_timeout_s)
    return figures


async def kill_at_random(
    world: Outside,
    kills: int,
    *,
    seed: int,
    faults: Sequence[Json] = FAULTS,
    slack_faults: Sequence[Json] = SLACK_FAULTS,
    drain_timeout_s: float = DRAIN_TIMEOUT_S,
) -> Figures:
    """`kills` moments of `kill -9`: some while the bot starts, most while people and API keep it busy.

    People meet here, too: on the same few cards, for the same new card, and where somebody stops all sending.
    """
    rng = random.Random(seed)
    figures, operators = Figures(seed), Operators(world, random.Random(seed + 1), meets=True)
    began, slower = time.monotonic(), await _pace(world, operators)
    operators.patience_s *= slower
    for _ in range(kills):
        world.tell_partner("faults", rng.choice(faults))
        world.slack.workspace.faults.add(dict(rng.choice(slack_faults)))
        await world.bot.start(wait=False)
        if rng.random() < 0.15:
            await asyncio.sleep(rng.uniform(0, START_S) * slower)
        elif await world.bot.ready():
            async with people_at_work(world, operators, slower=slower):
                await asyncio.sleep(rng.uniform(0, WORK_S) * slower)
        await world.bot.kill()
        figures.count_kill(world)
        if rng.random() < 0.5:
            world.leap(LEASE_S + 1)  # else the next life finds the leases of this one
    await finish(world, operators, figures, began, drain_timeout_s * slower, slower=slower)
    return figures


async def _pace(world: Outside, operators: Operators) -> float:
    """How much slower this machine is just now than one on which a life is long enough for a few requests."""
    await world.bot.start()
    began = time.monotonic()
    async with people_at_work(world, operators, slower=SLOWEST):
        with suppress(AssertionError):  # as slow as can be taken account of
            await eventually(
                "people's wishes were taken",
                lambda: len(operators.promised) >= REQUESTED,
                within_s=REQUESTS_S * SLOWEST,
            )
    took_s = time.monotonic() - began
    await world.bot.kill()
    return min(max(1.0, took_s / REQUESTS_S), SLOWEST)


@asynccontextmanager
async def people_at_work(world: Outside, operators: Operators, *, slower: float = 1.0) -> AsyncIterator[None]:
    """People act and time flies, until the block is left; then they close their windows."""
    working = asyncio.create_task(operators.work())
    flying = asyncio.create_task(world.let_time_fly(pause_s=LEAP_EVERY_S * slower))
    try:
        yield
        assert not working.done(), f"people stopped acting: {working.exception()!r}"
    finally:
        operators.stop()
        for task in (working, flying):
            task.cancel()
        await asyncio.wait({working, flying})
        operators.go_home()


async def finish(
    world: Outside,
    operators: Operators,
    figures: Figures,
    began: float,
    timeout_s: float,
    *,
    slower: float = 1.0,
) -> None:
    """The faults stop, somebody approves what is pending, everything drains; then it is judged."""
    world.tell_partner("faults", method="DELETE")
    world.slack.workspace.faults.clear()
    if not world.bot.is_up:
        await world.bot.start()
    flying = asyncio.create_task(world.let_time_fly(pause_s=LEAP_EVERY_S * slower))
    try:
        await operators.resume(timeout_s)
        await operators.approve_everything(timeout_s)
    except TimeoutError:
        figures.broken.append("sending could not be resumed, or some request could not be approved")
    finally:
        flying.cancel()
    resuming = asyncio.create_task(operators.keep_sending())
    try:
        if not await world.until_drained(timeout_s):
            figures.broken.append(f"not drained after {timeout_s:g} s")
    finally:
        resuming.cancel()
        await asyncio.wait({resuming})
    kept = {row["reason"] for row in world.rows("SELECT reason FROM request")}
    figures.broken += [f"“{lost}” was taken and is not there" for lost in sorted(operators.promised - kept)]
    await figures.close(world, began)
