"""The parts of the soak: each long programme, how much of it is wanted in all, and how much one turn of it does."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
#: The seeds of two turns are so far apart, as a programme may draw from many one after another.
SEEDS_A_TURN: Final = 100_000
MARKED: Final = ("-m", "soak or sampled or walk or by_turns")
PYTEST: Final = ("-m", "pytest", "-q", "-s", "--timeout=0", "-p", "no:randomly", *MARKED)
#: The image needs what `make soak` does not ask for, and `make image` runs it; the other one only speaks of marks.
APART: Final = ("tests/soak/test_image.py", "tests/soak/test_command.py")

_MARKED = re.compile(r"\bpytest\.mark\.(?:soak|sampled|walk|by_turns)\b")


@dataclass(frozen=True)
class Part:
    """One programme. `goal` and `turn` count `unit`; `words` are those of its command after `python`, and `size` names
    the variable that tells it how many to do."""

    name: str
    unit: str
    goal: int
    turn: int
    words: tuple[str, ...]
    size: str = ""

    def environment(self, seed: int) -> dict[str, str]:
        """What a turn finds in its environment."""
        return {"SOAK": "1", "SEED": str(seed)} | ({self.size: str(self.turn)} if self.size else {})


def _of(test: str, name: str, goal: int, unit: str, turn: int, size: str) -> Part:
    return Part(name, unit, goal, turn, (*PYTEST, f"tests/{test}"), size)


_EDITS = "thief/test_thief.py::test_twenty_thousand_edits_give_nothing"
_JUNK = "thief/test_junk.py::test_a_cell_that_cannot_be_read_stops_nobody_else"
_JUNK_STARTS = "thief/test_junk.py::test_it_starts_on_a_cell_that_cannot_be_read"
_STRINGS = (
    "handlers/test_hostile_text.py::test_none_comes_from_a_hundred_thousand_hostile_strings_in_every_view"
)
_CHANGED = "intents/test_many_authors.py::test_100_000_changed_sentences_open_nothing_that_they_do_not_say"
_KILLS = "soak/test_soak_kills.py::test_many_kills_at_random_moments"
_BOTS = "crash/test_several_bots.py::test_many_troubles_of_several_bots"
_LINES = "crash/test_cut_lines.py::test_many_lines_that_fail"
#: Programmes of which there is never enough: a turn does some of it, with seeds that no turn had before.
COUNTED: Final = (
    _of(f"{_EDITS}[SQLite]", "thief, SQLite", 10_000, "edits", 500, "SOAK_EDITS"),
    _of(f"{_EDITS}[PostgreSQL]", "thief, PostgreSQL", 10_000, "edits", 250, "SOAK_EDITS"),
    _of(f"{_JUNK}[SQLite]", "junk, SQLite", 3_000, "cells", 150, "SOAK_CELLS"),
    _of(f"{_JUNK}[PostgreSQL]", "junk, PostgreSQL", 2_000, "cells", 150, "SOAK_CELLS"),
    _of(_JUNK_STARTS, "junk, starts", 3_000, "cells", 300, "SOAK_CELLS"),
    _of(_STRINGS, "hostile strings", 100_000, "strings", 4_000, "HOSTILE_STRINGS"),
    _of(_CHANGED, "changed sentences", 100_000, "sentences", 20_000, "SOAK_SENTENCES"),
    _of(_KILLS, "kills at random", 5_000, "kills", 100, "SOAK_KILLS"),
    _of(f"{_BOTS}[2]", "two bots in trouble", 500, "troubles", 50, "SOAK_TROUBLES"),
    _of(f"{_BOTS}[3]", "three bots in trouble", 500, "troubles", 50, "SOAK_TROUBLES"),
    _of(f"{_LINES}[sqlite]", "lines that fail, SQLite", 1_000, "troubles", 50, "SOAK_TROUBLES"),
    _of(f"{_LINES}[postgresql]", "lines that fail, PostgreSQL", 1_000, "troubles", 50, "SOAK_TROUBLES"),
    Part("simulation", "schedules", 1_000_000, 500, ("-m", "tests.simulation", "--soak", "500")),
)


def all_parts() -> list[Part]:
    """The counted ones, and the other tests of each file that has some for the soak, which are run whole."""
    return [*COUNTED, *map(_rest_of, files_with_more())]


def files_with_more() -> list[str]:
    """Paths from the project's folder of the test files that have tests for the soak beside the counted ones."""
    found = (path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "tests").rglob("test_*.py")))
    return [name for name in found if name not in APART and _tests_in(name) - _counted_in(name)]


def _tests_in(name: str) -> set[str]:
    """The tests of a file that are marked for the soak, or have a case that is; one may have several marks."""
    text = (ROOT / name).read_text(encoding="utf-8")
    if not _MARKED.search(text):
        return set()
    steps = ast.parse(text).body
    marks = [ast.unparse(one) for one in steps if isinstance(one, ast.Assign)]
    are_all = any(one.startswith("pytestmark") and _MARKED.search(one) for one in marks)
    there = {
        f"{name}::{one.name}": any(_MARKED.search(ast.unparse(mark)) for mark in one.decorator_list)
        for one in steps
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name.startswith("test_")
    }
    found = {test for test, is_marked in there.items() if is_marked or are_all}
    return found or set(there)  # else it is a list of cases that has the mark


def _counted_in(name: str) -> set[str]:
    return {part.words[-1].split("[")[0] for part in COUNTED if part.words[-1].startswith(f"{name}::")}


def _rest_of(name: str) -> Part:
    apart = (word for test in sorted(_counted_in(name)) for word in ("--deselect", test))
    return Part(name.removeprefix("tests/"), "whole run", 1, 1, (*PYTEST, name, *apart))
