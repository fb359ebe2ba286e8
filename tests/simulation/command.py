"""The command line of the simulation."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections import Counter

from tests.simulation import plan as plans
from tests.simulation import schedule
from tests.simulation.world import folder_in_memory, quiet


def main(words: list[str]) -> int:
    """Run what was asked for; 1 when a promise was broken, 0 otherwise."""
    asked = _parsed(words)
    quiet()
    folder = folder_in_memory()
    try:
        if asked.seed is not None:
            return _one(asked, folder)
        return _many(asked, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _parsed(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation")
    parser.add_argument("--seed", type=int, help="run this one seed")
    parser.add_argument("--explain", action="store_true", help="write its story in sentences")
    parser.add_argument("--seeds", default="1-100", help="run these, such as 1-200")
    parser.add_argument("--keep-on", action="store_true", help="do not end at the first violation")
    return parser.parse_args(words)


def _one(asked: argparse.Namespace, folder) -> int:
    def tell(at: float, text: str) -> None:
        print(f"{at:10.3f}  {text}")

    result = schedule.run(plans.draw(asked.seed), folder, tell=tell if asked.explain else None)
    for violation in result.violations:
        print(f"seed {asked.seed}: {violation}")
    print(f"schedules 1, steps {result.steps}, violations {len(result.violations)}")
    return 1 if result.violations else 0


def _many(asked: argparse.Namespace, folder) -> int:
    first, _, last = asked.seeds.partition("-")
    steps = broken = done = 0
    rules: Counter[str] = Counter()
    began, cpu = time.monotonic(), time.process_time()
    for seed in range(int(first), int(last or first) + 1):
        result = schedule.run(plans.draw(seed), folder)
        done += 1
        steps += result.steps
        if result.violations:
            broken += 1
            rules[result.violations[0].rule] += 1
            print(f"seed {seed}: {result.violations[0]}", flush=True)
            if not asked.keep_on:
                break
    spent = time.process_time() - cpu
    pace = done / max(0.001, time.monotonic() - began) * 60
    print(f"{pace:.0f} schedules a minute, {spent / max(1, done):.2f} s of CPU each", file=sys.stderr)
    for rule, count in rules.most_common():
        print(f"  {count} x {rule}")
    print(f"schedules {done}, steps {steps}, violations {broken}")
    return 1 if broken else 0
