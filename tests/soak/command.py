"""The command line of the soak: turns of its parts one after another, until the time is over."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Final

from tests.simulation.soak import commit
from tests.soak import proved
from tests.soak.parts import ROOT, Part, all_parts

MINUTES: Final = 60
LOGS: Final = ROOT / "build" / "soak"
PROGRESS_EVERY_S: Final = 30.0
LINES_OF_A_BROKEN_TURN: Final = 60
BROKEN_IN_A_ROW: Final = 3


def main(words: list[str]) -> int:
    """Run parts until the time is over; 1 where a promise was broken, 0 otherwise."""
    options = _options(words)
    parts = all_parts()
    if options.only:
        parts = [part for part in parts if options.only in part.name]
        if not parts:
            print(f"No part is named like {options.only!r}. They are:")
            print("\n".join(part.name for part in all_parts()))
            return 2
    broken = 0 if options.proved else _turns(parts, options.minutes * 60)
    print(proved.table(parts, proved.turns(), commit()))
    return 1 if broken else 0


def _options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument(
        "--minutes", type=float, default=MINUTES, help="begin no turn after so many; %(default)s otherwise"
    )
    parser.add_argument("--only", metavar="NAME", help="only the parts with this in their name")
    parser.add_argument("--proved", action="store_true", help="run nothing, print what was proved so far")
    return parser.parse_args(words)


def _turns(parts: list[Part], seconds: float) -> int:
    """How many turns broke a promise. An interrupt ends the one under way, which is not noted.

    A part that breaks time after time cannot run on this machine, or is broken whatever the seed: it is left.
    """
    until, going, in_a_row, broken = _now() + seconds, list(parts), Counter[str](), 0
    try:
        while going and _now() < until:
            before = proved.turns()
            part = proved.next_part(going, before)
            held = _turn(part, proved.next_seed(part, before))
            broken += not held
            in_a_row[part.name] = 0 if held else in_a_row[part.name] + 1
            if in_a_row[part.name] == BROKEN_IN_A_ROW:
                print(f"{part.name} broke {BROKEN_IN_A_ROW} times one after another: left for this run.")
                going.remove(part)
    except KeyboardInterrupt:
        print("\nInterrupted. The next soak goes on from here.")
    return broken


def _now() -> float:
    return time.monotonic()


def _turn(part: Part, seed: int) -> bool:
    """Whether all of it held; its output is in a file, and its last line is shown now and then."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{part.name.replace('/', '-').replace(' ', '-')}-{seed}.log"
    print(f"{part.name}: {part.turn:,} {part.unit}, seed {seed}", flush=True)
    began = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            (sys.executable, *part.words),
            cwd=ROOT,
            env={**os.environ, **part.environment(seed)},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            while _still_running(process):
                print(f"  {time.monotonic() - began:.0f} s: {_last_line(log)}", flush=True)
        finally:
            process.kill()
            process.wait()
    held = process.returncode == 0
    proved.note(part, seed, time.monotonic() - began, held=held)
    if held:
        print(f"  held, in {time.monotonic() - began:.0f} s", flush=True)
    else:
        print(_how_it_broke(part, seed, log), flush=True)
    return held


def _still_running(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(PROGRESS_EVERY_S)
    except subprocess.TimeoutExpired:
        return True
    return False


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "")[:160]


def _how_it_broke(part: Part, seed: int, log: Path) -> str:
    variables = " ".join(f"{name}={value}" for name, value in part.environment(seed).items())
    again = " ".join(f"'{word}'" if " " in word or "[" in word else word for word in part.words)
    end = log.read_text(encoding="utf-8", errors="replace").splitlines()[-LINES_OF_A_BROKEN_TURN:]
    return "\n".join([*end, f"  BROKEN. Again: {variables} python {again}", f"  All of its output: {log}"])
