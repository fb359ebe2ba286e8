"""A sample of the simulation, and that it does what it is trusted for: it repeats, it finds, it shrinks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.simulation import soak

ROOT = Path(__file__).parents[2]
# A process of its own: the simulation gives the interpreter's loggers, hooks and clocks to its world.
_PROGRAMME = (sys.executable, "-m", "tests.simulation")


def simulate(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the programme and return what it said."""
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    return subprocess.run([*_PROGRAMME, *words], cwd=ROOT, env=environment, capture_output=True, text=True)


def test_no_seed_of_the_sample_breaks_a_promise_that_is_not_known_as_broken() -> None:
    done = simulate("--seeds", "1001-1003", "--new")

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("schedules 3, steps ")


def test_a_seed_is_the_same_each_time() -> None:
    done = simulate("--seeds", "1003", "--twice", "--new")

    assert done.returncode == 0, done.stdout + done.stderr


def test_a_planted_bug_is_found_and_told() -> None:
    done = simulate("--seed", PLANTED_SEED, "--plant", "sealed bodies swapped", "--explain")

    assert done.returncode == 1
    assert "I-24 amount" in done.stdout


def test_a_broken_promise_of_each_kind_is_seen_by_its_check() -> None:
    done = simulate("--violations")

    assert done.returncode == 0, done.stdout + done.stderr
    seen = {line.removesuffix(": seen") for line in done.stdout.splitlines() if line.endswith(": seen")}
    assert seen == rules_of_the_checks() - BY_RUNNING


def rules_of_the_checks() -> set[str]:
    """The names of all promises, as the checks say them."""
    files = (ROOT / "tests" / "simulation").rglob("*.py")
    return {rule for file in files for rule in re.findall(r'\bbroken\(\s*"([^"]+)"', file.read_text())}


def test_what_was_proved_is_cumulated_and_gone_on_with(tmp_path: Path) -> None:
    file = tmp_path / "proved.jsonl"

    soak.note(1, 40, 1000, [7], 12.0, file)
    soak.note(41, 50, 300, [], 3.0, file)

    assert soak.next_seed(file) == 51
    assert "50 schedules so far" in soak.summary(file)
    assert "[7]" in soak.summary(file)


PLANTED_SEED = "10"
# Only a run breaks these: that nothing spins, nothing unforeseen is raised, people can end it.
BY_RUNNING = {
    *("no loop spins", "no unforeseen error", "people can end it", "a wrong key starts nothing"),
    *("the card that was named", "I-17 chain", "S sums"),
}
