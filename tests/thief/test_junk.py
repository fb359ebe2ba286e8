"""One row that cannot be read stops nobody else, and people are notified. `SOAK=1` walks every cell there is."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest

from tests.support.databases import PostgresDatabases
from tests.thief import junk, junk_starts, junk_walk

SAMPLE = 12


def _chosen(*, postgres: bool) -> list[junk.Cell]:
    """All of them in `make soak`, or every so many (`JUNK="2/7"`: the third of each seven); else a sample."""
    found = junk.cells(postgres=postgres)
    if only := os.environ.get("ONLY"):
        names = only.split(",")
        found = [one for one in found if one.table in names or f"{one.table}.{one.column}" in names]
        return found[:: int(os.environ.get("STRIDE", "1"))]
    if part := os.environ.get("JUNK"):
        number, of = map(int, part.split("/"))
        return found[number::of]
    if os.environ.get("SOAK") == "1":
        return found
    return junk_walk.a_sample(found, SAMPLE, secrets.randbelow(1_000_000))


@pytest.mark.sampled
@pytest.mark.timeout(0)
@pytest.mark.parametrize("on", ["SQLite", "PostgreSQL"])
async def test_a_cell_that_cannot_be_read_stops_nobody_else(
    tmp_path: Path, postgres_databases: PostgresDatabases, on: str
) -> None:
    databases = postgres_databases if on == "PostgreSQL" else None
    chosen = _chosen(postgres=databases is not None)

    taken, wrong = await junk_walk.walk(
        tmp_path, chosen, databases, progress=lambda line: print(line[:700], flush=True)
    )

    print(f"{on}: {taken} of {len(chosen)} cells were taken, {len(wrong)} are wrong", flush=True)
    assert wrong == {}
    assert taken


@pytest.mark.sampled
@pytest.mark.timeout(0)
async def test_a_start_on_a_cell_that_cannot_be_read_goes_on_or_says_why_in_a_sentence(
    tmp_path: Path,
) -> None:
    chosen = _chosen(postgres=False)

    taken, wrong = await junk_starts.walk(
        tmp_path, chosen, progress=lambda line: print(line[:700], flush=True)
    )

    print(f"starts: {taken} of {len(chosen)} cells were taken, {len(wrong)} are wrong", flush=True)
    assert wrong == {}
    assert taken
