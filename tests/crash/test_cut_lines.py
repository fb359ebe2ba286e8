"""A network that fails in any way loses nothing and pays nothing twice. `make soak` has more of it."""

from __future__ import annotations

import os
import random
import secrets
from pathlib import Path

import pytest

from tests.crash.cut_lines import spoil_lines
from tests.crash.outside import outside
from tests.crash.programme import Figures
from tests.crash.shared_database import SharedDatabase
from tests.support.databases import BACKENDS, PostgresDatabases

SAMPLE, BATCH = 12, 50
# Chance decides what so few troubles meet.
BATCHES_MOST = 4


async def _batch(folder: Path, databases: PostgresDatabases | None, troubles: int, *, seed: int) -> Figures:
    shared = None if databases is None else SharedDatabase(databases.migrated())
    try:
        async with outside(folder, shared=shared, spoils=random.Random(seed)) as world:
            return await spoil_lines(world, troubles, seed=seed)
    finally:
        if shared is not None:
            shared.forget()


@pytest.fixture(params=BACKENDS)
def databases(request: pytest.FixtureRequest) -> PostgresDatabases | None:
    """None: a file, to which no line leads."""
    return request.getfixturevalue("postgres_databases") if request.param == "postgresql" else None


@pytest.mark.by_turns(2)
@pytest.mark.timeout(300)
async def test_lines_that_fail_lose_nothing_and_pay_nothing_twice(
    tmp_path: Path, databases: PostgresDatabases | None
) -> None:
    first, batches = int(os.environ.get("SEED") or secrets.randbelow(10**6)), list[Figures]()
    while not any(figures.debits for figures in batches) and len(batches) < BATCHES_MOST:
        folder = tmp_path / str(len(batches))
        folder.mkdir()
        batches.append(await _batch(folder, databases, SAMPLE, seed=first + len(batches)))
        print(f"\n{batches[-1]}")
        assert batches[-1].broken == [], f"SEED={batches[-1].seed}"

    assert any(figures.debits for figures in batches), "nobody was paid: the programme has lost its teeth"


@pytest.mark.soak
async def test_many_lines_that_fail(tmp_path: Path, databases: PostgresDatabases | None) -> None:
    """SOAK_TROUBLES says how many in all; SEED replays the choices of the first batch."""
    troubles, first = (
        int(os.environ.get("SOAK_TROUBLES") or 500),
        int(os.environ.get("SEED") or secrets.randbelow(10**6)),
    )
    batches = list[Figures]()
    for number in range(-(-troubles // BATCH)):
        folder = tmp_path / str(number)
        folder.mkdir()
        size = min(BATCH, troubles - number * BATCH)
        batches.append(await _batch(folder, databases, size, seed=first + number))
        print(batches[-1], flush=True)

    assert {f.seed: f.broken for f in batches if f.broken} == {}
