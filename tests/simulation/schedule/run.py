"""A plan carried out: steps, what goes on between them, then calm, and the checks."""

from __future__ import annotations

import gc
import random
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bot.services import audit_anchors
from tests.simulation import story
from tests.simulation.invariants import Violation
from tests.simulation.loop import Stuck
from tests.simulation.passkeys import add_passkeys
from tests.simulation.plan import Plan, Step
from tests.simulation.schedule.calm import Calm
from tests.simulation.schedule.installation import InstallationSteps
from tests.simulation.schedule.requests import RequestSteps
from tests.simulation.world import World

# In a plan of these steps alone nothing holds up a call but calls that are not answered.
_CROWD = frozenset({"ask", "ask many", "decide", "network", "look", "time passes"})
_NO_FAULT = _CROWD - {"network"} | {"ask by name"}
# A process that died is missed after so long.
STARTED_AGAIN_S = 1.0
_NOT_POSTED = (
    "SELECT 1 FROM request r WHERE r.state = 'pending' AND r.parent_id IS NULL AND NOT EXISTS"
    " (SELECT 1 FROM message m WHERE m.kind = 'card' AND m.subject = 'request:' || r.id)"
)
# After so many times of throwing away what is left, hardly anything is built for the first time.
_BUILDS_FOR = 3
_collected = 0


@dataclass
class Result:
    """How a plan ended. `steps` is the number of callbacks the loop ran."""

    plan: Plan
    violations: list[Violation]
    steps: int
    seconds: float
    errors: list[str] = field(default_factory=list)
    requests: dict[str, int] = field(default_factory=dict)
    contents: dict[str, int] = field(default_factory=dict)  # how much of what happened in it

    @property
    def seen(self) -> tuple[object, ...]:
        """Everything of it that must be the same when the plan is run again."""
        return self.steps, self.seconds, self.requests, self.errors, self.violations


def run(plan: Plan, folder: Path, *, tell: Callable[[float, str], None] | None = None) -> Result:
    """Carry out a plan in a world of its own; the first broken promise ends it."""
    gc.disable()  # what a run leaves is thrown away after it, at once
    world = World(
        plan.seed,
        folder,
        replicas=plan.replicas,
        jobs=plan.jobs,
        relays=plan.relays,
        passkeys=plan.passkeys,
        cool_off_s=plan.cool_off_s,
        tell=tell,
    )
    try:
        return Schedule(plan, world).run()
    finally:
        world.close()
        _throw_away(plan.seed)


def _throw_away(seed: int) -> None:
    """What the last runs left, now and then. What was built meanwhile for all of them is no garbage, and not looked
    through again."""
    global _collected  # noqa: PLW0603 - one of each process
    if seed % 16 == 0:
        gc.collect()
        _collected += 1
        if _collected <= _BUILDS_FOR:
            gc.freeze()


class Schedule(RequestSteps, InstallationSteps, Calm):
    """One plan in one world, from its first step to the last check."""

    def _keep_end_of_log(self) -> None:
        """Outside the database, as when a passkey is added: from then on it counts."""
        bot = self.world.bot
        if bot is not None and bot.running is not None:
            self.world.loop.spawn(bot.owner, audit_anchors.drop(bot.core), "anchor")

    def run(self) -> Result:
        world = self.world
        try:
            world.start_bots()
            self.drive(5.0, leap_s=1.0)
            if not world.rows("SELECT 1 FROM card"):
                self.drive(10.0, leap_s=1.0)  # until the cards are known by their names
            if self.plan.passkeys:
                world.run_tool(
                    "adding everybody's passkey", partial(add_passkeys, world.devices, self.plan.seed)
                )
                self.drive(3.0, leap_s=1.0)  # until they are added
                self._keep_end_of_log()
                self.drive(1.0)
            for step in self.plan.steps:
                self._between(step)
                self._seen_first(step)
                self._take(step)
                self.watch.after_step()
                self.watch.emergencies_first(self.harmless)
                if self.watch.found:
                    break
            if not self.watch.found:
                self.calm()
                self.watch.emergencies_first(self.harmless)
        except Stuck as stuck:
            self.watch.broken("no loop spins", str(stuck)[:160])
        except Exception as error:  # noqa: BLE001 - what could not be carried out has proved nothing
            where = traceback.extract_tb(error.__traceback__)[-1]
            text = f"the simulation itself: {type(error).__name__}: {str(error)[:160]} ({where.name}, {where.lineno})"
            self.watch.broken("no unforeseen error", text)
        for line in world.unforeseen({step.what for step in self.plan.steps} | set(self.plan.settings or ())):
            self.watch.broken("no unforeseen error", line)
        states: dict[str, int] = {}
        for row in world.rows("SELECT kind, state FROM request"):
            states[f"{row['kind']} {row['state']}"] = states.get(f"{row['kind']} {row['state']}", 0) + 1
        return Result(
            self.plan,
            self.watch.found,
            world.loop.handled,
            world.loop.time(),
            world.errors,
            states,
            self._contents(),
        )

    def _contents(self) -> dict[str, int]:
        """Whether a schedule is worth its time: what people did, what was carried out, what went wrong."""
        world, steps = self.world, [step.what for step in self.plan.steps]
        known = self.watch
        return {
            "steps": len(steps),
            "requests": len(known.seen),
            "calls that change something": len(known.sent),
            "executions": world.rows("SELECT count(*) AS n FROM attempt")[0]["n"],
            "messages": world.rows("SELECT count(*) AS n FROM outbox")[0]["n"],
            "faults": sum(what not in _NO_FAULT for what in steps),
            "processes ended": sum(not process.owner.alive for process in world.processes),
        }

    @property
    def harmless(self) -> bool:
        """Nothing in this plan may hold up a call but calls that are not answered."""
        steps = self.plan.steps
        return {step.what for step in steps} <= _CROWD and all(
            step.given["effect"] == "no answer" for step in steps if step.what == "network"
        )

    def _between(self, step: Step) -> None:
        if step.wait == 0:
            rng = random.Random(f"{self.plan.seed}/{step.number}/between")
            self.drive(0.5, most=rng.randrange(120))
        elif step.wait < 2:
            self.drive(step.wait)
        else:
            self.drive(step.wait, leap_s=max(1.0, step.wait / self.world.leaps))
        if step.wait >= STARTED_AGAIN_S:
            self._start_what_died()

    def _seen_first(self, step: Step) -> None:
        """Who decides has mostly seen the request's message in Slack, which nobody posts while the clock leaps."""
        rng = random.Random(f"{self.plan.seed}/{step.number}/seen")
        if step.what == "decide" and rng.random() < 0.8:
            self.drive_until(lambda: not self.world.rows(_NOT_POSTED), 3.0)

    def _start_what_died(self) -> None:
        """Whoever runs Countersign starts a process again that died by itself."""
        world = self.world
        if sum(process.owner.alive for process in world.processes) < world.wanted:
            self.people.close_windows()
            world.start_bots()

    def _take(self, step: Step) -> None:
        self.world.say(f"— {story.sentence(step)}")
        name = "do_" + step.what.replace(" ", "_")
        act = getattr(self, name)
        self.world.inside(lambda: act(random.Random(f"{self.plan.seed}/{step.number}"), **step.given))
