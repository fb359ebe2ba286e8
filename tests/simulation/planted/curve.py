"""The detection curve: in how many schedules each planted bug is found.

Every seed is run once as it is, with all bugs put in but held back: that says which of them the seed reaches at all,
and that it breaks nothing without them. Only the bugs that were reached are then run for real; the others would change
nothing. What was found is kept in a file, so that a curve which was interrupted goes on; processes share the seeds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.simulation import plan as plans
from tests.simulation import schedule
from tests.simulation.planted.bug import Bug
from tests.simulation.planted.catalogue import BUGS

Json = dict[str, Any]


@dataclass
class Curve:
    """For each bug the first seed that finds it; and the seeds that were looked at, without a gap from 1."""

    bugs: Mapping[str, Bug]
    found: dict[str, int] = field(default_factory=dict)
    looked_at: set[int] = field(default_factory=set)
    reached: dict[str, int] = field(
        default_factory=dict
    )  # in how many seeds a bug could have made a difference

    @property
    def left(self) -> list[str]:
        return [name for name in self.bugs if name not in self.found]

    @property
    def median(self) -> int:
        """Of all bugs; one that was not found counts as found after everything that was looked at."""
        ends = sorted(self.found.get(name, 10**9) for name in self.bugs)
        return ends[len(ends) // 2]

    def take(self, line: Json) -> None:
        """What became of one seed."""
        self.looked_at.add(line["seed"])
        for name in line["reached"]:
            self.reached[name] = self.reached.get(name, 0) + 1
        for name in line["found"]:
            self.found[name] = min(line["seed"], self.found.get(name, line["seed"]))

    def read(self, path: Path) -> None:
        """What an earlier run has found."""
        for line in path.read_text().splitlines() if path.exists() else ():
            self.take(json.loads(line))


def look(seed: int, bugs: Iterable[Bug], folder: Path) -> Json:
    """One seed: which of these bugs it reaches, and which of those it finds."""
    bugs = list(bugs)
    reached = set[str]()
    with ExitStack() as stack:
        for bug in bugs:
            bug.plant(stack, _held_back(bug.name, reached))
        honest = {one.rule for one in schedule.run(plans.draw(seed), folder).violations}
    found = []
    for bug in bugs:
        if bug.name not in reached:
            continue
        with ExitStack() as stack:
            bug.plant(stack, lambda: True)
            broken = {one.rule for one in schedule.run(plans.draw(seed), folder).violations}
        if broken & set(bug.rules) - honest:
            found.append(bug.name)
    return {"seed": seed, "reached": sorted(reached), "found": found, "honest": sorted(honest)}


def _held_back(name: str, reached: set[str]) -> Callable[[], bool]:
    def acts() -> bool:
        reached.add(name)
        return False

    return acts


def table(curve: Curve, *, commit: str, day: str) -> str:
    """The curve for people."""
    last = max(curve.looked_at, default=0)
    worst = max(curve.found.values(), default=0)
    head = [
        "# Detection curve of the simulation",
        "",
        "Written by `python -m tests.simulation --curve`. Each bug is planted in the bot on purpose; the figure is the"
        " number of schedules, from seed 1 on, until one breaks a promise that it must break and that the same schedule"
        " keeps without it.",
        "",
        f"Commit {commit}, {day}. Seeds 1 to {last}: {len(curve.found)} of {len(curve.bugs)} found, median"
        f" {curve.median if len(curve.found) * 2 > len(curve.bugs) else 'unknown'}, worst {worst}.",
        "",
        "| Planted bug | Defect of the money review | Promise broken | Found by schedule | Seeds that reached it |",
        "|---|---|---|---|---|",
    ]
    rows = [
        f"| {bug.name} | {bug.defect or '–'} | {', '.join(bug.rules)} | {curve.found.get(bug.name, 'not found')} |"
        f" {curve.reached.get(bug.name, 0)} |"
        for bug in sorted(curve.bugs.values(), key=lambda one: curve.found.get(one.name, 10**9))
    ]
    return "\n".join([*head, *rows, ""])


def keep(path: Path, line: Json) -> None:
    """Add what became of one seed to the file of a curve."""
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")


def look_for_left(kept: Path, seed: int, folder: Path) -> Json:
    """One seed, for those of all planted bugs that no seed before it has found, as far as the file says."""
    so_far = Curve(BUGS)
    so_far.read(kept)
    left = [BUGS[name] for name in BUGS if so_far.found.get(name, seed) >= seed]
    return look(seed, left, folder)
