"""What was proved so far: schedules cumulated in a file, with their seeds and the commit they ran on."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Not part of the repository: each machine proves for itself.
PROVED = ROOT / "var" / "simulation-proved.jsonl"
GOAL = 1_000_000


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
    """The commit of the tree, with a + where it was changed since."""
    return _git("rev-parse", "--short", "HEAD") + ("+" if _git("status", "--porcelain", "-uno") else "")


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
    """Add a run to the file."""
    made = Proof(
        commit(),
        first,
        last,
        steps,
        tuple(broken),
        round(seconds, 1),
        datetime.now(UTC).isoformat(timespec="seconds"),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(asdict(made)) + "\n")
    return made


def next_seed(path: Path = PROVED) -> int:
    """Where to go on: after the last seed that was run on any commit."""
    return max((one.last for one in read(path)), default=0) + 1


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
    return "\n".join(lines)
