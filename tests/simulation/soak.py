"""The soak: schedules one after another, for as long as it is let, and what was proved so far.

It goes on where it ended, however it ended: what was run is cumulated in a file, with the seeds and the commit.
"""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path

from tests.simulation import many, schedule
from tests.simulation import plan as plans

ROOT = Path(__file__).parents[2]
# Part of the repository: no single machine runs for as long as it takes.
PROVED = ROOT / "benchmarks" / "simulation-proved.jsonl"
GOAL = 1_000_000
# So many schedules are noted at a time: what is lost when the machine goes down.
NOTED_EACH = 50
TOLD_EVERY_S = 20.0


@dataclass(frozen=True)
class Proof:
    """One run: seeds from `first` to `last`, how many of them broke a promise, and where."""

    commit: str
    first: int
    last: int
    steps: int
    broken: tuple[int, ...]
    seconds: float
    at: str

    @property
    def schedules(self) -> int:
        return self.last - self.first + 1


def commit() -> str:
    """The commit of the tree, with a + where anything but what was proved was changed since."""
    changed = _git("status", "--porcelain", "-uno", "--", ".", ":!benchmarks/*-proved.jsonl")
    return _git("rev-parse", "--short=8", "HEAD") + ("+" if changed else "")


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def read(path: Path = PROVED) -> list[Proof]:
    """Every run that was noted, the oldest first."""
    if not path.exists():
        return []
    lines = (json.loads(line) for line in path.read_text().splitlines() if line)
    return [Proof(**{**line, "broken": tuple(line["broken"])}) for line in lines]


def note(first: int, last: int, steps: int, broken: list[int], seconds: float, path: Path = PROVED) -> Proof:
    """Add a run to the file; what goes on from the one before, on the same commit, becomes one with it."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    made = Proof(commit(), first, last, steps, tuple(broken), round(seconds, 1), at)
    known = read(path)
    if known and (known[-1].commit, known[-1].last) == (made.commit, first - 1):
        before = known.pop()
        made = replace(
            made,
            first=before.first,
            steps=before.steps + steps,
            broken=before.broken + made.broken,
            seconds=round(before.seconds + seconds, 1),
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_suffix(".new")
    written.write_text("".join(json.dumps(asdict(one)) + "\n" for one in [*known, made]))
    written.replace(path)
    return made


def next_seed(path: Path = PROVED) -> int:
    """Where to go on: after the last seed that was run on any commit."""
    return max((one.last for one in read(path)), default=0) + 1


def broken_before(path: Path = PROVED) -> list[int]:
    """Every seed that broke a promise in some run, in order: each of them stays a test."""
    return sorted({seed for one in read(path) for seed in one.broken})


def summary(path: Path = PROVED) -> str:
    """What has been proved so far, in a few sentences: by commit, and on the last one."""
    proofs = read(path)
    if not proofs:
        return "Nothing has been proved yet."
    by_commit: dict[str, int] = {}
    for one in proofs:
        by_commit[one.commit] = by_commit.get(one.commit, 0) + one.schedules
    total = sum(by_commit.values())
    last = proofs[-1].commit
    broken = [seed for one in proofs if one.commit == last for seed in one.broken]
    lines = [f"{total} schedules so far, of {GOAL}; {by_commit[last]} of them on {last}."]
    lines.append(f"Broken on {last}: {broken or 'none'}.")
    lines.append(f"{_since_the_last_broken(proofs)} schedules since the last broken promise.")
    return "\n".join(lines)


def _since_the_last_broken(proofs: list[Proof]) -> int:
    """How many schedules kept every promise, on the commits after the one on which one did not."""
    clean = takewhile(lambda one: not one.broken, reversed(proofs))
    return sum(one.schedules for one in clean)


def _run(seed: int, folder: Path) -> tuple[int, int, str]:
    """One seed: the steps it took, and the first promise it broke."""
    result = schedule.run(plans.draw(seed), folder)
    return seed, result.steps, str(result.violations[0]) if result.violations else ""


def go_on(schedules: int | None, processes: int, path: Path = PROVED) -> int:
    """Run so many more, or all until the goal; an interrupt ends it, and loses nothing that was done.

    Returns 1 when a promise was broken, 0 otherwise.
    """
    first = next_seed(path)
    seeds = range(first, first + schedules if schedules is not None else GOAL + 1)
    print(f"Seeds {seeds.start} to {seeds.stop - 1} in {processes} processes, on {commit()}.", flush=True)
    progress = _Progress(first, path)
    try:
        with many.done_by(processes, _run, seeds) as results:
            for seed, steps, violation in results:
                progress.take(seed, steps, violation)
    except KeyboardInterrupt:
        print("interrupted; the next soak goes on from here")
    progress.note()
    print(summary(path))
    print(f"schedules {progress.done}, steps {progress.all_steps}, violations {len(progress.all_broken)}")
    return 1 if progress.all_broken else 0


class _Progress:
    """What a soak has done so far: noted in the file now and then, and printed."""

    def __init__(self, first: int, path: Path) -> None:
        self.done = self.all_steps = self._steps = 0
        self.all_broken: list[int] = []
        self._broken: list[int] = []
        self._first = self._next = first
        self._path = path
        self._began = self._noted = self._told = time.monotonic()

    def take(self, seed: int, steps: int, violation: str) -> None:
        """The next seed is done."""
        self.done, self._next = self.done + 1, seed + 1
        self._steps += steps
        self.all_steps += steps
        if violation:
            self._broken.append(seed)
            self.all_broken.append(seed)
            print(f"seed {seed}: {violation}", flush=True)
        if self._next - self._first >= NOTED_EACH:
            self.note()
        if time.monotonic() - self._told >= TOLD_EVERY_S:
            self._tell(seed)

    def note(self) -> None:
        """What was done since the last time is kept."""
        now = time.monotonic()
        if self._next > self._first:
            note(self._first, self._next - 1, self._steps, self._broken, now - self._noted, self._path)
        self._first, self._steps, self._broken, self._noted = self._next, 0, [], now

    def _tell(self, seed: int) -> None:
        self._told = time.monotonic()
        pace = self.done / (self._told - self._began) * 60
        total = sum(proof.schedules for proof in read(self._path)) + self._next - self._first
        print(
            f"seed {seed}: {pace:.0f} schedules a minute, {len(self.all_broken)} violations;"
            f" {total} of {GOAL} schedules so far",
            flush=True,
        )
