"""The mutants themselves: what is changed, that a change takes effect, and that none of a sample survives."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants import results
from tests.mutants.operators import mutants, mutated
from tests.mutants.rooms import CORE, ROOT, room_of
from tests.mutants.runner import all_of

SOURCE = '''
LIMIT = 3
STATES = frozenset({State.OPEN, State.DONE})


def fits(amount, spent=0):
    """How it is."""
    log.info("looked")
    if amount > LIMIT and not spent:
        raise TooMuch("Too much.")
    return amount + spent <= LIMIT or spent is None
'''
CHANGES = {
    "module: `3` → `4`",
    "module: drop `State.OPEN`",
    "module: drop `State.DONE`",
    "module: `State.OPEN` → `State.DONE`",
    "module: `State.DONE` → `State.OPEN`",
    "fits: `0` → `1`",
    "fits: if `amount > LIMIT and (not spent)` → if not",
    "fits: `amount > LIMIT and (not spent)` → `amount > LIMIT or not spent`",
    "fits: `amount > LIMIT and (not spent)` → `not spent`",
    "fits: `amount > LIMIT and (not spent)` → `amount > LIMIT`",
    "fits: `amount > LIMIT` → `amount >= LIMIT`",
    "fits: `not spent` → `spent`",
    "fits: drop `raise TooMuch('Too much.')`",
    "fits: return `amount + spent <= LIMIT or spent is None` → None",
    "fits: `amount + spent <= LIMIT or spent is None` → `amount + spent <= LIMIT and spent is None`",
    "fits: `amount + spent <= LIMIT or spent is None` → `spent is None`",
    "fits: `amount + spent <= LIMIT or spent is None` → `amount + spent <= LIMIT`",
    "fits: `amount + spent <= LIMIT` → `amount + spent < LIMIT`",
    "fits: `amount + spent` → `amount - spent`",
    "fits: `spent is None` → `spent is not None`",
}


def test_each_small_change_is_made_once_and_texts_and_log_lines_are_left_alone() -> None:
    found = mutants("m", SOURCE)
    assert {f"{m.at}: {m.change}" for m in found} == CHANGES
    assert len(found) == len(CHANGES)
    assert {m.in_function for m in found if m.at == "module" or m.change == "`0` → `1`"} == {False}


#: Of the changes of a module one in so many is compiled.
STEP = 29

every_of = functools.cache(all_of)


def test_every_change_of_the_core_is_one_that_python_takes() -> None:
    for path in CORE:
        source = (ROOT / path).read_text()
        found = every_of(path)
        assert found, path
        assert len({m.key for m in found}) == len(found), f"two mutants of {path} have one name"
        for mutant in found[::STEP]:
            compile(mutated(source, mutant.index), path, "exec")


def test_every_module_of_the_core_has_room_of_its_own() -> None:
    for path in CORE:
        assert room_of(path), path


def test_what_is_listed_as_equivalent_is_a_mutant_and_says_why() -> None:
    every = {m.key for path in CORE for m in every_of(path)}
    listed = results.may_survive()
    assert listed.keys() <= every, sorted(listed.keys() - every)
    assert [key for key, because in listed.items() if len(because) < 20] == []


@pytest.mark.timeout(300)
def test_no_mutant_of_a_sample_survives_unexplained(tmp_path: Path) -> None:
    """The same ones for the same code: `make mutants` runs all of them."""
    command = [
        sys.executable,
        "-m",
        "tests.mutants",
        "--results",
        str(tmp_path / "kept"),
        "--sample",
        "60",
        "--seconds",
        "25",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
