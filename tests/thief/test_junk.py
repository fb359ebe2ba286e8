"""One row that cannot be read stops nobody else, and people are notified. `make soak` walks every cell there is."""

from __future__ import annotations

import os
from itertools import cycle, islice
from pathlib import Path

import pytest

from storage.tables import metadata
from tests.support.databases import PostgresDatabases
from tests.thief import junk, junk_starts, junk_walk

SAMPLE = {False: 4, True: 1}  # on PostgreSQL each takes four times as long
# Of each turn of the soak the next ones: no divisor of how many there are, so that all have their turn.
_STEP = 101


def _chosen(*, postgres: bool) -> list[junk.Cell]:
    """A sample; in `make soak` as many as a turn has. `ONLY`: those of these tables, or columns (`request.terms`)."""
    found = junk.cells(postgres=postgres)
    if only := os.environ.get("ONLY"):
        names = only.split(",")
        return [one for one in found if one.table in names or f"{one.table}.{one.column}" in names]
    first = int(os.environ.get("SEED", "0"))
    count = min(int(os.environ.get("SOAK_CELLS", SAMPLE[postgres])), len(found))
    mixed = [found[n * _STEP % len(found)] for n in range(len(found))]
    return list(islice(cycle(mixed), first % len(found), first % len(found) + count))


def _show(line: str) -> None:
    print(line[:700], flush=True)


@pytest.mark.by_turns(4)
@pytest.mark.sampled
@pytest.mark.timeout(0)
@pytest.mark.parametrize("on", ["SQLite", "PostgreSQL"])
async def test_a_cell_that_cannot_be_read_stops_nobody_else(
    tmp_path: Path, postgres_databases: PostgresDatabases, on: str
) -> None:
    databases = postgres_databases if on == "PostgreSQL" else None
    chosen = _chosen(postgres=databases is not None)

    taken, wrong = await junk_walk.walk(tmp_path, chosen, databases, progress=_show)

    _show(f"{on}: {taken} of {len(chosen)} cells were taken, {len(wrong)} are wrong")
    assert wrong == {}


@pytest.mark.sampled
@pytest.mark.timeout(0)
async def test_it_starts_on_a_cell_that_cannot_be_read(
    tmp_path: Path,
) -> None:
    chosen = _chosen(postgres=False)

    taken, wrong = await junk_starts.walk(tmp_path, chosen, progress=_show)

    _show(f"starts: {taken} of {len(chosen)} cells were taken, {len(wrong)} are wrong")
    assert wrong == {}


def test_every_column_of_every_table_has_its_cells() -> None:
    for postgres in (False, True):
        cells = {(cell.table, cell.column) for cell in junk.cells(postgres=postgres)}
        columns = {
            (table.name, column.name) for table in metadata.tables.values() for column in table.columns
        }
        without = {(table, column) for table, column in columns - cells if not _is_bool(table, column)}
        assert without == set()


def _is_bool(table: str, column: str) -> bool:
    """PostgreSQL takes nothing else there."""
    return bool(metadata.tables[table].c[column].type.python_type is bool)
