"""What the soak has proved so far: one line a turn, in a file that belongs to the repository.

No machine runs for as long as the goals take, so turns are added up over machines and commits; each line says on which
commit it was, and with which seed it can be run again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Final

from tests.simulation import soak as simulation
from tests.soak.parts import ROOT, SEEDS_A_TURN, Part

PROVED: Final = ROOT / "benchmarks" / "soak-proved.jsonl"


@dataclass(frozen=True)
class Turn:
    """One turn of a part: `size` of its units were done; not `held` where one of them broke a promise."""

    part: str
    commit: str
    seed: int
    size: int
    seconds: float
    held: bool
    at: str


def turns() -> list[Turn]:
    """All turns, the oldest first; the simulation's are in a file of its own."""
    lines = PROVED.read_text(encoding="utf-8").splitlines() if PROVED.exists() else []
    own = [Turn(**json.loads(line)) for line in lines]
    return [*own, *_of_the_simulation()]


def _of_the_simulation() -> Iterator[Turn]:
    """What kept every promise as one turn a run, and each seed that did not as one of its own."""
    for run in simulation.read():
        kept = run.schedules - len(run.broken)
        yield Turn("simulation", run.commit, run.first, kept, run.seconds, True, run.at)
        yield from (Turn("simulation", run.commit, seed, 1, 0, False, run.at) for seed in run.broken)


def note(part: Part, seed: int, seconds: float, *, held: bool) -> None:
    """Add a turn to the file. The simulation notes its own."""
    if part.name == "simulation":
        return
    at = datetime.now(UTC).isoformat(timespec="seconds")
    made = Turn(part.name, simulation.commit(), seed, part.turn, round(seconds, 1), held, at)
    with PROVED.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(asdict(made)) + "\n")


def done(part: Part, before: Sequence[Turn]) -> int:
    """How much of a part was done so far in turns that held."""
    return sum(one.size for one in before if one.part == part.name and one.held)


def next_part(parts: Sequence[Part], before: Sequence[Turn]) -> Part:
    """The one of which the least of its goal was tried; of several, the one that had its last turn longest ago."""
    last = {one.part: one.at for one in sorted(before, key=lambda one: one.at)}
    tried = {
        part.name: sum(one.size for one in before if one.part == part.name) / part.goal for part in parts
    }
    return min(parts, key=lambda part: (min(tried[part.name], 1), last.get(part.name, "")))


def next_seed(part: Part, before: Sequence[Turn]) -> int:
    """A seed from which the part never drew."""
    return max((one.seed for one in before if one.part == part.name), default=0) + SEEDS_A_TURN


def table(parts: Sequence[Part], before: Sequence[Turn], commit: str) -> str:
    """What is done of each part: so far, and on this commit; and what broke on it."""
    rows = [("part", "so far", "of", "", f"on {commit}", "broken on it")]
    for part in parts:
        now = [one for one in before if one.part == part.name and one.commit == commit]
        broken = ", ".join(f"seed {one.seed}" for one in now if not one.held)
        rows.append(
            (
                part.name,
                f"{done(part, before):,}",
                f"{part.goal:,}",
                part.unit,
                f"{done(part, now):,}",
                broken,
            )
        )
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    right = (1, 2, 4)
    return "\n".join(
        "  ".join(
            cell.rjust(w) if n in right else cell.ljust(w)
            for n, (cell, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
