"""What became of each mutant, kept in a file, and which may survive."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.rooms import CORE, ROOT, fingerprint
from tests.mutants.runner import ENDLESS, KILLED, Result

KEPT = ROOT / "build" / "mutants.jsonl"
#: A test that does not end is ended by its time-out, and fails.
NOTICED = (KILLED, ENDLESS)
EQUIVALENT = Path(__file__).with_name("equivalent.toml")


@dataclass(frozen=True)
class Line:
    """One result in the file. `of` is the module and its tests as they were: another one asks for another run."""

    module: str
    of: str
    key: str
    outcome: str
    seconds: float


def read(file: Path = KEPT) -> dict[str, Line]:
    """Key of a mutant -> its newest result that still holds."""
    if not file.exists():
        return {}
    now = {path: fingerprint(path) for path in CORE}
    lines = (Line(**json.loads(line)) for line in file.read_text().splitlines())
    return {line.key: line for line in lines if now.get(line.module) == line.of}


def note(results: Iterable[Result], file: Path = KEPT) -> None:
    """Add to the file at once: a run that is interrupted loses nothing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as lines:
        for one in results:
            line = Line(
                one.mutant.module,
                fingerprint(one.mutant.module),
                one.mutant.key,
                one.outcome,
                round(one.seconds, 2),
            )
            lines.write(json.dumps(line.__dict__, ensure_ascii=False) + "\n")


def may_survive(file: Path = EQUIVALENT) -> Mapping[str, str]:
    """Key of a mutant -> why no test can tell it from the code."""
    return {one["mutant"]: one["because"] for one in tomllib.loads(file.read_text()).get("equivalent", [])}


def unexplained(lines: Iterable[Line]) -> list[Line]:
    """Those that were not noticed by a test and are not listed."""
    listed = may_survive()
    return [line for line in lines if line.outcome not in NOTICED and line.key not in listed]


def stale(lines: Iterable[Line]) -> list[str]:
    """Listed as equivalent, and yet a test notices: the reason given is wrong."""
    listed = may_survive()
    return [line.key for line in lines if line.outcome in NOTICED and line.key in listed]
