"""The sample of a walk has all that its rule says, is the same in every run, and `make soak` runs the other cells."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path

from tests.support.inner_pytest import inner_pytest
from tests.support.walks import in_turn, sample

CELLS = [
    {"kind": kind, "moment": moment, "on": on}
    for kind, moment, on in product(
        ("topup", "freeze", "order", "reveal"), ("before", "after"), ("a", "b", "c")
    )
]

A_WALK = """
from pytest import mark

@mark.walk
@mark.parametrize("number", [1, 2])
@mark.parametrize("what", [lambda: 1, lambda: 2, len])
def test_a(number, what): pass

def test_b(): pass
"""


def test_every_value_of_every_parameter_is_met_by_as_few_cells_as_the_longest_has() -> None:
    chosen = [CELLS[at] for at in sample(CELLS)]

    assert len(chosen) == 4
    for name in ("kind", "moment", "on"):
        assert {cell[name] for cell in chosen} == {cell[name] for cell in CELLS}


def test_where_some_parameters_are_named_the_others_take_turns() -> None:
    chosen = [CELLS[at] for at in sample(CELLS, "kind")]

    assert sorted(cell["kind"] for cell in chosen) == sorted({cell["kind"] for cell in CELLS})
    assert len({cell["moment"] for cell in chosen}) == 2
    assert len({cell["on"] for cell in chosen}) == 3


def test_every_two_values_that_meet_in_a_cell_meet_in_the_sample() -> None:
    cells = CELLS[1:]  # not every combination is there

    chosen = [cells[at] for at in sample(cells, together=2)]

    assert len(chosen) <= 13
    for one, other in (("kind", "moment"), ("kind", "on"), ("moment", "on")):
        assert {(cell[one], cell[other]) for cell in chosen} == {(cell[one], cell[other]) for cell in cells}


def test_of_a_long_list_cells_are_taken_evenly_and_of_a_short_one_all() -> None:
    assert sample(CELLS, most=4) == {0, 6, 12, 18}
    assert sample(CELLS[:3], most=4) == {0, 1, 2}


def test_the_tests_of_a_file_take_turns_with_the_values_of_a_parameter() -> None:
    assert {CELLS[at]["moment"] for at in in_turn(CELLS, "moment", 0)} == {"before"}
    assert {CELLS[at]["moment"] for at in in_turn(CELLS, "moment", 1)} == {"after"}
    assert len(in_turn(CELLS, "moment", 2)) == 12, "whatever else a cell has"
    assert len(in_turn(CELLS, "nothing of this name", 0)) == len(CELLS)


BY_TURNS = """
from pytest import mark

pytestmark = mark.by_turns(2)

@mark.parametrize("number", range(5))
def test_turn(number): pass

@mark.timed
def test_timed(): pass

@mark.by_turns(9)
def test_alone(): pass
"""


def test_make_test_runs_the_sample_what_is_asked_for_runs_whole_and_so_does_the_soak(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("from tests.conftest import *")
    (tmp_path / "test_walk.py").write_text(A_WALK)
    (tmp_path / "test_other.py").write_text(A_WALK)
    (tmp_path / "test_turns.py").write_text(BY_TURNS)

    def collected(*words: str, soak: str = "", turn: str = "") -> list[str]:
        env = {name: value for name, value in os.environ.items() if name != "WALK_TURN"} | {"SOAK": soak}
        turns = {"WALK_TURN": turn} if turn else {}
        done = inner_pytest(tmp_path, "-q", "--collect-only", *words, env=env | turns)
        return [line.rpartition("::")[2] for line in done.stdout.splitlines() if "::" in line]

    walk, other, turns = (str(tmp_path / f"test_{name}.py") for name in ("walk", "other", "turns"))
    sample_and_named = collected(walk, f"{other}::test_a[len-2]", turns)
    assert sorted(name for name in sample_and_named if name.startswith(("test_a[", "test_b"))) == [
        *("test_a[<lambda>0-1]", "test_a[<lambda>1-2]", "test_a[len-1]", "test_a[len-2]", "test_b")
    ]
    assert len(sample_and_named) == 5 + 7, "named, all that take turns run"
    even, odd = ({*collected(turns, turn=turn)} for turn in ("4", "5"))
    assert even & odd == {"test_alone", "test_timed"}
    assert even | odd == {"test_alone", "test_timed", *(f"test_turn[{number}]" for number in range(5))}
    assert sorted((len(even), len(odd))) == [4, 5]
    assert len(collected(walk, turns, soak="1", turn="5")) == 7 + 7
