"""Walks: tests that go over every cell of a table. `make test` takes a sample of each, `make soak` all cells.

    @pytest.mark.walk                every value of each parameter is met at least once
    @pytest.mark.walk("kind")        every value of these parameters; the others take what comes with them
    @pytest.mark.walk(together=2)    every two values that meet in a cell, instead of every value
    @pytest.mark.walk(most=8)        of a long list without more to it: so many of its cells, evenly spread

    pytestmark = pytest.mark.walk(turns="databases")
                                     one value of this parameter for each test of a file, which take turns: of long
                                     stories that are the same on either database

The sample follows from the table alone, so that two runs try the same cells: again and again the cell that has the most
that no chosen cell has; of several, the one whose values were chosen least often; of those, the first in the order of
the table. What was named on the command line or by `-k` is the table then: a cell that is asked for alone is run.

    @pytest.mark.by_turns(3)         on a test or a file: one in three of its cells or tests, which take turns

Which have their turn changes with the commit, so that all of them are met soon; where files or tests are named on the
command line, and in `make soak`, all run. `WALK_TURN` repeats the turn that stands at the head of a run.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import combinations, count
from pathlib import Path
from typing import TypeVar
from zlib import crc32

import pytest

T = TypeVar("T")
#: A value by the name of its parameter.
Cell = Mapping[str, str]
#: Values of different parameters that meet in a cell.
Met = tuple[tuple[str, str], ...]


def left_to_the_soak(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Those that are cells of a walk and not in its sample."""
    walks = defaultdict[tuple[Path, str], list[pytest.Function]](list)
    for item in items:
        mark = item.get_closest_marker("walk")
        # In a file with a mark for all its tests there are some with a single cell.
        if mark is not None and isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            walks[item.path, item.nodeid.split("[")[0]].append(item)
    # Another plugin may have put them in random order.
    in_order = sorted(walks.values(), key=lambda cells: (cells[0].path, _line(cells[0])))
    turns = defaultdict[Path, Iterator[int]](count)
    return [item for cells in in_order for item in _left_of(cells, next(turns[cells[0].path]))]


def left_to_other_turns(items: Sequence[pytest.Item], turn: int) -> list[pytest.Item]:
    """Those that take turns and do not have theirs; of each file and number at least one has."""
    groups = defaultdict[tuple[Path, int], list[pytest.Function]](list)
    for item in items:
        mark = item.get_closest_marker("by_turns")
        # What is promised about seconds is not left out: those run in a run of their own.
        if mark is not None and isinstance(item, pytest.Function) and not item.get_closest_marker("timed"):
            groups[item.path, mark.args[0]].append(item)
    return [item for (_, of), group in groups.items() for item in _without_turn(group, of, turn)]


def _without_turn(group: list[pytest.Function], of: int, turn: int) -> list[pytest.Function]:
    # Not in the order of the table: every second cell of one would be of the same database.
    mixed = sorted(group, key=lambda item: (crc32(item.name.encode()), item.name))
    of = min(of, len(mixed))
    return [item for place, item in enumerate(mixed) if place % of != turn % of]


@cache
def this_turn() -> int:
    """`WALK_TURN`, or a number that changes with the commit; with the day where there is none."""
    if named := os.environ.get("WALK_TURN"):
        return int(named)
    words, here = ("git", "rev-parse", "HEAD"), Path(__file__).parent
    said = subprocess.run(words, cwd=here, capture_output=True, text=True, check=False)
    return int(said.stdout[:6], 16) if said.returncode == 0 else datetime.now(UTC).toordinal()


def drawn(names: Collection[T], one_in: int) -> list[T]:
    """Of what a test goes over by itself: those that have their turn, at least one; in `make soak` all."""
    every = 1 if os.environ.get("SOAK") == "1" else min(one_in, len(names))
    return [name for place, name in enumerate(names) if place % every == this_turn() % every]


def _line(item: pytest.Function) -> int:
    return int(item.function.__code__.co_firstlineno)


def _left_of(items: list[pytest.Function], turn: int) -> list[pytest.Function]:
    mark = items[0].get_closest_marker("walk")
    assert mark is not None
    items = sorted(items, key=lambda item: [*item.callspec.indices.values()])
    cells = [_cell(item) for item in items]
    if "turns" in mark.kwargs:
        chosen = in_turn(cells, mark.kwargs["turns"], turn)
    else:
        chosen = sample(cells, *mark.args, **mark.kwargs)
    return [item for place, item in enumerate(items) if place not in chosen]


def _cell(item: pytest.Function) -> Cell:
    return {name: _name_of(value) for name, value in item.callspec.params.items()}


def _name_of(value: object) -> str:
    """Alike for what is the same value, and different for any other; a lambda has a name that others have, too."""
    name = str(getattr(value, "__qualname__", "<"))
    return repr(value) if "<" in name else name


def sample(cells: Sequence[Cell], *names: str, together: int = 1, most: int | None = None) -> set[int]:
    """Places of the cells that are run, by the rule above. Raises KeyError where a cell has no such parameter."""
    if most is not None:
        size = min(most, len(cells))
        return {place * len(cells) // size for place in range(size)}
    wanted = [_met_in(cell, names or tuple(cell), together) for cell in cells]
    missing, times, chosen = set[Met]().union(*wanted), Counter[tuple[str, str]](), set[int]()

    def worth(at: int) -> tuple[int, int]:
        return -sum(times[value] for value in cells[at].items()), -at

    while missing:
        new = [len(met & missing) for met in wanted]
        most_new = max(new)
        best = max((at for at, count in enumerate(new) if count == most_new), key=worth)
        chosen.add(best)
        missing.difference_update(wanted[best])
        times.update(cells[best].items())
    return chosen


def in_turn(cells: Sequence[Cell], name: str, turn: int) -> set[int]:
    """Places of the cells with one value of this parameter: the first in the first turn; all where there is none."""
    values = [*dict.fromkeys(cell[name] for cell in cells if name in cell)]
    return {at for at, cell in enumerate(cells) if not values or cell.get(name) == values[turn % len(values)]}


def _met_in(cell: Cell, names: Sequence[str], together: int) -> set[Met]:
    values = [(name, cell[name]) for name in names]
    return set(combinations(values, min(together, len(values))))
