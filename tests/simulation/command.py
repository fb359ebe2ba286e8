"""The command line of the simulation."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from tests.simulation import known, planted_bugs, planted_violations, schedule, shrink, soak, story
from tests.simulation import plan as plans
from tests.simulation.world import folder_in_memory, quiet

MOST_FOR_A_BUG = 5000


def main(words: list[str]) -> int:
    """Run what was asked for; 1 when a promise was broken, 0 otherwise."""
    asked = _parsed(words)
    quiet()
    folder = folder_in_memory()
    try:
        if asked.violations:
            return _violations(folder)
        if asked.curve:
            return _curve(asked, folder)
        with ExitStack() as stack:
            if asked.plant:
                planted_bugs.BUGS[asked.plant].plant(stack)
            return _one(asked, folder) if asked.seed is not None else _many(asked, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _violations(folder: Path) -> int:
    seen = planted_violations.found(folder)
    for rule, was_seen in seen.items():
        print(f"{rule}: {'seen' if was_seen else 'NOT seen'}")
    return 0 if all(seen.values()) else 1


def _parsed(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, help="run this one seed")
    parser.add_argument("--explain", action="store_true", help="write its story in sentences")
    parser.add_argument("--shrink", action="store_true", help="find the fewest steps of it that still fail")
    parser.add_argument("--only", default="", help="of its steps take these alone, such as 1,4,7")
    parser.add_argument("--seeds", default="1-100", help="run these, such as 1-200")
    parser.add_argument("--keep-on", action="store_true", help="do not end at the first violation")
    parser.add_argument(
        "--new", action="store_true", help="count what is known already, and end at nothing but news"
    )
    parser.add_argument("--twice", action="store_true", help="run each seed twice, and compare")
    parser.add_argument("--soak", type=int, metavar="SCHEDULES", help="go on where the last soak ended")
    parser.add_argument("--proved", action="store_true", help="print what was proved so far, and end")
    parser.add_argument("--plant", choices=sorted(planted_bugs.BUGS), help="with this bug in the bot")
    parser.add_argument(
        "--violations", action="store_true", help="break each promise by hand, and see that its check sees it"
    )
    parser.add_argument("--curve", action="store_true", help="plant each bug, and see how soon it is found")
    parser.add_argument(
        "--most", type=int, default=MOST_FOR_A_BUG, help="schedules for each bug of the curve"
    )
    return parser.parse_args(words)


def _one(asked: argparse.Namespace, folder: Path) -> int:
    plan = plans.draw(asked.seed)
    if asked.only:
        plan = plan.only(frozenset(map(int, asked.only.split(","))))
    if asked.shrink:
        return _shrunk(plan, folder, explain=asked.explain)
    return _told(plan, folder, explain=asked.explain)


def _told(plan: plans.Plan, folder: Path, *, explain: bool) -> int:
    if explain:
        print(story.heading(plan))
    result = schedule.run(plan, folder, tell=story.tell if explain else None)
    for violation in result.violations:
        defect = known.defect_of(violation)
        print(f"seed {plan.seed}: {violation}" + (f" [known as {defect}]" if defect else ""))
    print(f"schedules 1, steps {result.steps}, violations {len(result.violations)}")
    return 1 if result.violations else 0


def _shrunk(plan: plans.Plan, folder: Path, *, explain: bool) -> int:
    found = schedule.run(plan, folder).violations
    if not found:
        print(f"seed {plan.seed} breaks nothing")
        print("schedules 1, steps 0, violations 0")
        return 0
    smallest = shrink.shrink(plan, found[0].rule, folder, told=lambda text: print(text, file=sys.stderr))
    numbers = ",".join(str(step.number) for step in smallest.steps)
    print(f"again with: python -m tests.simulation --seed {plan.seed} --only {numbers or '-'} --explain")
    return _told(smallest, folder, explain=explain)


def _seeds(asked: argparse.Namespace) -> range:
    if asked.soak is not None:
        first = soak.next_seed()
        return range(first, first + asked.soak)
    first, _, last = asked.seeds.partition("-")
    return range(int(first), int(last or first) + 1)


def _many(asked: argparse.Namespace, folder: Path) -> int:
    if asked.proved:
        print(soak.summary())
        return 0
    seeds = _seeds(asked)
    steps = done = 0
    broken: list[int] = []
    rules: Counter[str] = Counter()
    first_of: dict[str, int] = {}
    began, cpu = time.monotonic(), time.process_time()
    for seed in seeds:
        result = schedule.run(plans.draw(seed), folder)
        done, steps = done + 1, steps + result.steps
        if asked.twice and schedule.run(plans.draw(seed), folder).seen != result.seen:
            print(f"seed {seed} does not repeat")
            return 1
        if not result.violations:
            continue
        first = result.violations[0]
        defect = known.defect_of(first)
        name = f"{defect or 'NEW'} {first.rule}"
        rules[name] += 1
        first_of.setdefault(name, seed)
        if defect and asked.new:
            continue
        broken.append(seed)
        print(f"seed {seed}: {first}" + (f" [known as {defect}]" if defect else ""), flush=True)
        if not asked.keep_on:
            break
    spent = time.monotonic() - began
    pace, each = done / max(0.001, spent) * 60, (time.process_time() - cpu) / max(1, done)
    print(f"{pace:.0f} schedules a minute, {each:.2f} s of CPU each", file=sys.stderr)
    for rule, count in rules.most_common():
        print(f"  {count} x {rule}, first by seed {first_of[rule]}")
    if asked.soak is not None and done:
        soak.note(seeds.start, seeds.start + done - 1, steps, broken, spent)
        print(soak.summary())
    print(f"schedules {done}, steps {steps}, violations {len(broken)}")
    return 1 if broken else 0


def _curve(asked: argparse.Namespace, folder: Path) -> int:
    """How many schedules it takes to find each planted bug; what is broken without it counts for nothing."""
    missed = 0
    found_at: list[int] = []
    for bug in planted_bugs.BUGS.values():
        number = _found(bug, folder, asked.most)
        missed += number is None
        found_at += [] if number is None else [number]
        print(f"{bug.name}: " + (f"found by schedule {number}" if number else "NOT found"), flush=True)
    found_at.sort()
    if found_at:
        print(f"median {found_at[len(found_at) // 2]}, worst {found_at[-1]}, not found {missed}")
    return 1 if missed else 0


def _found(bug: planted_bugs.Bug, folder: Path, most: int) -> int | None:
    for seed in range(1, most + 1):
        with ExitStack() as stack:
            bug.plant(stack)
            result = schedule.run(plans.draw(seed), folder)
        if not any(one.rule in bug.rules for one in result.violations):
            continue
        honest = schedule.run(plans.draw(seed), folder)
        if not any(one.rule in bug.rules for one in honest.violations):
            return seed
    return None
