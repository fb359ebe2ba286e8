"""A sample of the simulation, and that it does what it is trusted for: it repeats, it finds, it shrinks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.simulation import command, plan, soak
from tests.simulation.plan.bursts import BURSTS
from tests.simulation.plan.words import CRASH_POINTS
from tests.simulation.planted import BUGS, Curve, curve
from tests.simulation.world import stand_ins
from tests.support.walks import drawn

ROOT = Path(__file__).parents[2]
# A process of its own: the simulation gives the interpreter's loggers, hooks and clocks to its world.
BROKEN_ONE_IN = 3
_PROGRAMME = (sys.executable, "-m", "tests.simulation")


def simulate(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the programme and return what it said."""
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    return subprocess.run([*_PROGRAMME, *words], cwd=ROOT, env=environment, capture_output=True, text=True)


def test_no_seed_of_the_sample_breaks_a_promise_that_is_not_known_as_broken() -> None:
    done = simulate("--seeds", "1001-1005")

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("schedules 5, steps ")


@pytest.mark.sampled
@pytest.mark.timeout(300)
def test_no_seed_that_once_broke_a_promise_breaks_one_again() -> None:
    """One in three by turns, which change with the commit; `make soak` runs all."""
    seeds = drawn(soak.broken_before(), BROKEN_ONE_IN)

    done = simulate("--seeds", ",".join(map(str, seeds)), "--keep-on")

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith(f"schedules {len(seeds)}, steps ")


def test_a_seed_is_the_same_each_time() -> None:
    done = simulate("--seeds", "1003", "--twice")

    assert done.returncode == 0, done.stdout + done.stderr


def test_each_situation_of_the_plans_is_drawn_now_and_then_and_a_plan_stays_short() -> None:
    drawn = [plan.draw(seed) for seed in range(1, 1001)]

    counted = Counter(burst for one in drawn for burst in one.bursts)
    assert set(counted) == {burst.__name__ for burst in BURSTS}
    assert min(counted.values()) >= 20, counted
    assert sum(len(one.steps) for one in drawn) / len(drawn) <= 27


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--seeds", "x"), "'x' is not a range of seeds such as 1-200"),
        (("--seeds", "5-1"), "'5-1' holds no seed: the first one is after the last one"),
        (("--seed", "1", "--only", "1,x"), "'1,x' is not a list of steps such as 1,4,7"),
        (("--seed", "1", "--only", "999"), "seed 1 has no step 999"),
        (("--explain",), "--explain is about one seed: give --seed"),
        (("--soak", "-5"), "'-5' is not a number from 1 on"),
    ],
)
def test_what_cannot_be_run_is_refused_in_words_and_never_counts_as_proved(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        command._parsed(list(words))

    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_a_plan_that_was_shrunk_to_no_steps_can_be_replayed() -> None:
    assert command._parsed(["--seed", "1", "--only", "-"]).only == frozenset()


def test_processes_die_at_every_crash_point_of_the_product() -> None:
    sources = (
        file.read_text() for room in ("bot", "storage", "handlers") for file in (ROOT / room).rglob("*.py")
    )
    points = {point for source in sources for point in re.findall(r'crash_point\("([^"]+)"\)', source)}

    assert points == set(CRASH_POINTS)


def test_an_older_copy_is_put_in_place_in_some_plans() -> None:
    restored = 0
    for seed in range(1, 1001):
        steps = [step.what for step in plan.draw(seed).steps]
        restored += "back up" in steps and "restore" in steps[steps.index("back up") :]

    assert restored >= 10


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
    assert [(one.first, one.last, one.steps, one.broken) for one in soak.read(file)] == [(1, 50, 1300, (7,))]


def test_what_was_proved_on_another_commit_or_of_other_seeds_is_a_line_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "proved.jsonl"

    for commit, first, broken in (("aaa", 1, [7]), ("bbb", 11, []), ("bbb", 31, [])):
        monkeypatch.setattr(soak, "commit", lambda commit=commit: commit)
        soak.note(first, first + 9, 100, broken, 1.0, file)

    assert [(one.commit, one.first, one.last) for one in soak.read(file)] == [
        ("aaa", 1, 10),
        ("bbb", 11, 20),
        ("bbb", 31, 40),
    ]
    assert "30 schedules so far" in soak.summary(file)
    assert "20 schedules since the last broken promise" in soak.summary(file)


def test_the_commit_of_a_proof_has_a_plus_where_anything_but_the_proof_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proof, code = tmp_path / "benchmarks" / "simulation-proved.jsonl", tmp_path / "code.py"
    proof.parent.mkdir()
    for file in (proof, code):
        file.write_text("one\n")
    me = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    for words in (("init", "-q"), ("add", "."), (*me, "commit", "-qm", "All")):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    monkeypatch.setattr(soak, "ROOT", tmp_path)
    monkeypatch.setattr(soak, "PROVED", proof)

    proof.write_text("two\n")
    assert not soak.commit().endswith("+")

    code.write_text("two\n")
    assert soak.commit().endswith("+")


def test_a_soak_goes_on_where_it_ended_and_says_what_it_broke(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "proved.jsonl"
    monkeypatch.setattr(soak, "_run", lambda seed, _folder: (seed, 10, "a rule: broken" if seed == 2 else ""))

    assert soak.go_on(3, 1, file) == 1
    assert soak.go_on(2, 1, file) == 0

    said = capsys.readouterr().out
    assert [(one.first, one.last, one.broken) for one in soak.read(file)] == [(1, 5, (2,))]
    assert "seed 2: a rule: broken" in said
    assert said.splitlines()[-1] == "schedules 2, steps 20, violations 0"


def test_a_soak_that_is_interrupted_keeps_what_was_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "proved.jsonl"

    def run(seed: int, _folder: Path) -> tuple[int, int, str]:
        if seed == 3:
            raise KeyboardInterrupt
        return seed, 10, ""

    monkeypatch.setattr(soak, "_run", run)
    soak.go_on(5, 1, file)

    assert soak.next_seed(file) == 3


def test_a_curve_says_which_seed_found_each_bug_first_and_goes_on_where_it_ended(tmp_path: Path) -> None:
    file = tmp_path / "curve.jsonl"
    one, two, three = list(BUGS)[:3]
    seeds: tuple[tuple[int, list[str], list[str]], ...]
    seeds = ((1, [one], []), (2, [one, two], [two]), (4, [one], [one]), (3, [one, two], [one]))
    for seed, reached, found in seeds:
        curve.keep(file, {"seed": seed, "reached": reached, "found": found})

    made = Curve({name: BUGS[name] for name in (one, two, three)})
    made.read(file)
    text = curve.table(made, commit="abc", day="2026-11-22")

    assert (made.found, made.left) == ({one: 3, two: 2}, [three])
    assert "Seeds 1 to 4: 2 of 3 found, median 3, worst 3." in text
    assert text.index(f"| {two} |") < text.index(f"| {one} |") < text.index(f"| {three} |")


def test_a_seed_whose_step_cannot_be_carried_out_is_named_and_counts_as_broken() -> None:
    broken = "def do_ask(self, rng, **given): raise KeyError('no such card')"
    words = f"from tests.simulation.schedule import Schedule\n{broken}\nSchedule.do_ask = do_ask\n"
    words += "from tests.simulation import command\nraise SystemExit(command.main(['--seeds', '1-2']))"
    done = subprocess.run([sys.executable, "-c", words], cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 1
    assert "seed 1: no unforeseen error: the simulation itself: KeyError: 'no such card'" in done.stdout
    assert done.stdout.splitlines()[-1].endswith("violations 1")


def test_bugs_that_are_held_back_change_nothing() -> None:
    done = simulate("--seed", "6", "--held-back")

    assert done.returncode == 0, done.stdout + done.stderr


PLANTED_SEED = "12"
# Only a run breaks these: that nothing spins, nothing unforeseen is raised, people can end it.
BY_RUNNING = {
    *("no loop spins", "no unforeseen error", "people can end it", "a wrong key starts nothing"),
    *("the card that was named", "I-17 chain", "I-18 one holder", "S sums"),
}


def test_whatever_the_simulation_replaces_is_there() -> None:
    """A name that nobody reads any more would be set, and what it stood for would wait for the machine's clock."""
    asked = (
        "import ast, inspect\n"
        f"from {stand_ins.__name__} import take_over\n"
        "taken = [one.targets[0] for one in ast.walk(ast.parse(inspect.getsource(take_over)))"
        " if isinstance(one, ast.Assign)]\n"
        "names = [ast.unparse(one) for one in taken if isinstance(one, ast.Attribute)]\n"
        "assert len(names) > 10\n"
        "[eval(name, take_over.__globals__ | {'sys': __import__('sys')}) for name in names]\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
