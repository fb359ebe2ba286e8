"""`python -m tests.mutants`: run the mutants that have no result yet, and say what survived."""

from __future__ import annotations

import argparse
import hashlib
import importlib
import os
import sys
import time
from importlib.metadata import entry_points
from itertools import product
from pathlib import Path

from tests.mutants import results
from tests.mutants.operators import Mutant
from tests.mutants.rooms import CORE, HELD
from tests.mutants.runner import Unsound, all_of, run


def _read_once() -> None:
    """What the tests need and the project does not own is imported before the first fork."""
    for plugin in entry_points(group="pytest11"):
        plugin.load()
    for library in (
        "aiohttp",
        "alembic",
        "cryptography.hazmat.primitives.ciphers.aead",
        "sqlmodel",
        "webauthn",
    ):
        importlib.import_module(library)


def main(words: list[str]) -> int:
    """Exit code 1 where a mutant survives that is not listed, or a listed one is noticed after all."""
    options = _options().parse_args(words)
    # Every test of a room is there for each mutant, whatever turn a run of all tests around this one has.
    os.environ.pop("WALK_TURN", None)
    _read_once()
    modules = [path for path in CORE if not options.module or any(m in path for m in options.module)]
    every = {path: all_of(path) for path in modules}
    if options.sample:
        every = sample({path: every[path] for path in HELD if path in every}, options.sample)
    kept = Path(options.results) if options.results else results.KEPT
    known = {} if options.again else results.read(kept)
    ends = time.monotonic() + options.seconds if options.seconds else None
    ran = 0
    try:
        # Those in functions first: a room's tests are read once for all of them.
        for in_function, (path, found) in product((True, False), every.items()):
            if options.survivors:
                break
            waiting = [m for m in found if m.key not in known and m.in_function is in_function]
            for one in run(path, waiting) if waiting else ():
                results.note([one], kept)
                known[one.mutant.key] = results.Line(path, "", one.mutant.key, one.outcome, one.seconds)
                ran += 1
                if one.outcome != "killed":
                    print(f"{one.outcome} {one.mutant.key}  (line {one.mutant.line})", flush=True)
                if ends and time.monotonic() > ends:
                    print(f"The time is over after {ran} mutants; the next run goes on from here.")
                    return _said(every, known)
    except KeyboardInterrupt:
        print("interrupted; the next run goes on from here")
    except Unsound as unsound:
        print(unsound)
        return 2
    return _said(every, known)


def sample(every: dict[str, list[Mutant]], count: int) -> dict[str, list[Mutant]]:
    """So many of all, the same ones for the same code, and spread over all modules."""
    ranked = sorted(
        (hashlib.sha256(m.key.encode()).hexdigest(), path, m)
        for path, found in every.items()
        for m in found
        if m.in_function
    )
    chosen: dict[str, list[Mutant]] = {}
    for _, path, mutant in ranked[:count]:
        chosen.setdefault(path, []).append(mutant)
    return chosen


def _said(every: dict[str, list[Mutant]], known: dict[str, results.Line]) -> int:
    listed = results.may_survive()
    print(f"{'module':40} {'mutants':>8} {'killed':>7} {'equivalent':>11} {'survived':>9} {'not run':>8}")
    lines = []
    for path, found in every.items():
        mine = [known[m.key] for m in found if m.key in known]
        killed = sum(line.outcome in results.NOTICED for line in mine)
        fine = sum(line.outcome not in results.NOTICED and line.key in listed for line in mine)
        print(
            f"{path:40} {len(found):8} {killed:7} {fine:11} {len(mine) - killed - fine:9} {len(found) - len(mine):8}"
        )
        lines += mine
    survived, stale = results.unexplained(lines), results.stale(lines)
    for line in survived:
        print(f"{line.outcome}: {line.key}")
    for key in stale:
        print(f"listed as equivalent, but a test notices it: {key}")
    return 1 if survived or stale else 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--module", action="append", help="only modules with this in their path")
    parser.add_argument(
        "--sample", type=int, help="so many of the modules that are held, the same for the same code"
    )
    parser.add_argument("--seconds", type=float, help="stop after so long; the next run goes on")
    parser.add_argument("--again", action="store_true", help="run those with a result, too")
    parser.add_argument("--results", help="keep them in this file instead of build/mutants.jsonl")
    parser.add_argument("--survivors", action="store_true", help="run nothing, print what is known")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
