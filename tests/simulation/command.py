"""The command line of the simulation."""

from __future__ import annotations

import argparse
import gc
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from tests.simulation import many, schedule, shrink, soak, story, violations
from tests.simulation import plan as plans
from tests.simulation.planted import BUGS, Curve, curve
from tests.simulation.world import folder_in_memory, take_over

MOST_FOR_A_BUG = 5000
TABLE = soak.ROOT / "benchmarks" / "SIMULATION.md"


def main(words: list[str]) -> int:
    """Run what was asked for; 1 when a promise was broken, 0 otherwise."""
    asked = _parsed(words)
    take_over()
    gc.collect()
    gc.freeze()  # the program itself is never garbage: looking through it takes longer than through a schedule
    if asked.proved:
        print(soak.summary())
        return 0
    if asked.curve:
        return _curve(asked)
    if asked.soak is not None:
        return soak.go_on(asked.soak or None, asked.processes or many.cores())
    folder = folder_in_memory()
    try:
        if asked.violations:
            return _violations(folder)
        with ExitStack() as stack:
            if asked.plant:
                BUGS[asked.plant].plant(stack, lambda: True)
            return _one(asked, folder) if asked.seed is not None else _many(asked, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _violations(folder: Path) -> int:
    seen = violations.found(folder)
    for rule, was_seen in seen.items():
        print(f"{rule}: {'seen' if was_seen else 'NOT seen'}")
    return 0 if all(seen.values()) else 1


def _parsed(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, help="run this one seed")
    parser.add_argument("--explain", action="store_true", help="write its story in sentences")
    parser.add_argument("--shrink", action="store_true", help="find the fewest steps of it that still fail")
    parser.add_argument(
        "--only", type=_numbers, help="of its steps take these alone, such as 1,4,7; - for none"
    )
    parser.add_argument(
        "--seeds",
        type=_seeds,
        default=range(1, 101),
        help="run these, such as 1-200 or 7,12; broken: those that broke a promise in an earlier soak",
    )
    parser.add_argument("--keep-on", action="store_true", help="do not end at the first violation")
    parser.add_argument("--twice", action="store_true", help="run each seed twice, and compare")
    parser.add_argument(
        "--soak",
        type=_at_least_one,
        nargs="?",
        const=0,
        metavar="SCHEDULES",
        help="go on where the last soak ended, for so many or to the goal",
    )
    parser.add_argument(
        "--processes", type=_at_least_one, default=0, help="of a soak or a curve; one a core otherwise"
    )
    parser.add_argument("--proved", action="store_true", help="print what was proved so far, and end")
    parser.add_argument("--plant", choices=sorted(BUGS), help="with this bug in the bot")
    parser.add_argument(
        "--held-back", action="store_true", help="see that planted bugs that do nothing change nothing"
    )
    parser.add_argument(
        "--violations", action="store_true", help="break each promise by hand, and see that its check sees it"
    )
    parser.add_argument("--curve", action="store_true", help="plant each bug, and see how soon it is found")
    parser.add_argument(
        "--table-of",
        metavar="COMMIT",
        help="with --curve: run nothing, write what a run on this commit found",
    )
    parser.add_argument(
        "--most", type=_at_least_one, default=MOST_FOR_A_BUG, help="schedules for each bug of the curve"
    )
    asked = parser.parse_args(words)
    if asked.seed is None:
        for name in ("explain", "shrink", "only", "held_back"):
            if getattr(asked, name) not in (None, False):
                parser.error(f"--{name.replace('_', '-')} is about one seed: give --seed")
    elif asked.only is not None:
        unknown = asked.only - {step.number for step in plans.draw(asked.seed).steps}
        if unknown:
            parser.error(f"seed {asked.seed} has no step {', '.join(map(str, sorted(unknown)))}")
    return asked


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def _numbers(text: str) -> frozenset[int]:
    """Numbers of steps, as a shrunk plan says them."""
    if text == "-":
        return frozenset()
    if not re.fullmatch(r"[0-9]+(,[0-9]+)*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of steps such as 1,4,7")
    return frozenset(map(int, text.split(",")))


def _seeds(text: str) -> Sequence[int]:
    if text == "broken":
        return soak.broken_before()
    if "," in text:
        return sorted(_numbers(text))
    if not re.fullmatch(r"[0-9]+(-[0-9]+)?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a range of seeds such as 1-200")
    first, _, last = text.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    if not seeds:
        raise argparse.ArgumentTypeError(f"{text!r} holds no seed: the first one is after the last one")
    return seeds


def _one(asked: argparse.Namespace, folder: Path) -> int:
    plan = plans.draw(asked.seed)
    if asked.only is not None:
        plan = plan.only(asked.only)
    if asked.held_back:
        same = curve.held_back(plan, folder) == schedule.run(plan, folder).seen
        print(f"seed {plan.seed} is {'the same' if same else 'another one'} with all bugs held back")
        return 0 if same else 1
    if asked.shrink:
        return _shrunk(plan, folder, explain=asked.explain)
    return _told(plan, folder, explain=asked.explain)


def _told(plan: plans.Plan, folder: Path, *, explain: bool) -> int:
    if explain:
        print(story.heading(plan))
    result = schedule.run(plan, folder, tell=story.tell if explain else None)
    for violation in result.violations:
        print(f"seed {plan.seed}: {violation}")
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


def _many(asked: argparse.Namespace, folder: Path) -> int:
    steps = done = 0
    broken: list[int] = []
    rules: Counter[str] = Counter()
    first_of: dict[str, int] = {}
    contents: Counter[str] = Counter()
    began, cpu = time.monotonic(), time.process_time()
    for seed in asked.seeds:
        result = schedule.run(plans.draw(seed), folder)
        done, steps = done + 1, steps + result.steps
        contents.update(result.contents)
        if asked.twice and schedule.run(plans.draw(seed), folder).seen != result.seen:
            rules["a seed repeats"] += 1
            first_of.setdefault("a seed repeats", seed)
            broken.append(seed)
            print(f"seed {seed}: it does not repeat", flush=True)
            break
        if not result.violations:
            continue
        first = result.violations[0]
        rules[first.rule] += 1
        first_of.setdefault(first.rule, seed)
        broken.append(seed)
        print(f"seed {seed}: {first}", flush=True)
        if not asked.keep_on:
            break
    spent = time.monotonic() - began
    pace, each = done / max(0.001, spent) * 60, (time.process_time() - cpu) / max(1, done)
    print(f"{pace:.0f} schedules a minute, {each:.2f} s of CPU each", file=sys.stderr)
    shown = ", ".join(f"{count / max(1, done):.1f} {what}" for what, count in contents.items())
    print(f"a schedule has on average: {shown}", file=sys.stderr)
    for rule, count in rules.most_common():
        print(f"  {count} x {rule}, first by seed {first_of[rule]}")
    print(f"schedules {done}, steps {steps}, violations {len(broken)}")
    return 1 if broken else 0


def _curve(asked: argparse.Namespace) -> int:
    """How many schedules it takes to find each planted bug; what is broken without it counts for nothing.

    Goes on where it was interrupted on the same commit, and writes the table each time a bug is found.
    """
    commit = asked.table_of or soak.commit()
    kept = soak.PROVED.with_name(f"simulation-curve-{commit}.jsonl")
    made = Curve(BUGS)
    made.read(kept)
    kept.parent.mkdir(parents=True, exist_ok=True)
    seeds = range(1, 1 if asked.table_of else asked.most + 1)
    left = [seed for seed in seeds if seed not in made.looked_at]
    try:
        with many.done_by(asked.processes or many.cores(), partial(curve.look_for_left, kept), left) as looks:
            for line in looks:
                made.take(line)
                curve.keep(kept, line)
                if line["found"]:
                    named = ", ".join(map(str, line["found"]))
                    print(f"seed {line['seed']}: {named}; {len(made.left)} left", flush=True)
                if not made.left:
                    break
    except KeyboardInterrupt:
        print("interrupted; the next run goes on from here")
    text = curve.table(made, commit=commit, day=f"{datetime.now(UTC):%Y-%m-%d}")
    TABLE.write_text(text)
    print(text)
    return 1 if made.left else 0
