"""A network that fails in any way loses nothing and pays nothing twice. `make soak` has more of it.

With it takes turns a sample of `test_several_bots.py`: each is a world with people at work for ten seconds and more.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.crash.cut_lines import spoil_lines
from tests.crash.outside import outside
from tests.crash.programme import Figures, Run, a_seed, in_batches, sampled
from tests.crash.several_bots import bots_on
from tests.crash.shared_database import SharedDatabase
from tests.support.databases import BACKENDS, PostgresDatabases

SAMPLE, BATCH = 6, 50
SEVERAL_SAMPLE = 2


@pytest.fixture(params=BACKENDS)
def run(request: pytest.FixtureRequest) -> Run:
    """Where the database is a file, no line leads to it."""
    on_server: PostgresDatabases | None = (
        request.getfixturevalue("postgres_databases") if request.param == "postgresql" else None
    )

    async def run(folder: Path, troubles: int, seed: int) -> Figures:
        shared = None if on_server is None else SharedDatabase(on_server.migrated())
        try:
            async with outside(folder, shared=shared, spoils=random.Random(seed)) as world:
                return await spoil_lines(world, troubles, seed=seed)
        finally:
            if shared is not None:
                shared.forget()

    return run


@pytest.mark.by_turns(3)
@pytest.mark.timeout(300)
async def test_lines_that_fail_lose_nothing_and_pay_nothing_twice(tmp_path: Path, run: Run) -> None:
    await sampled(run, tmp_path, SAMPLE, lambda one: one.debits)


@pytest.mark.by_turns(3)
@pytest.mark.timeout(300)
async def test_two_bots_in_trouble_pay_once_post_once_and_lose_nothing(
    postgres_databases: PostgresDatabases, tmp_path: Path
) -> None:
    await sampled(bots_on(postgres_databases, 2), tmp_path, SEVERAL_SAMPLE, lambda one: one.requests)


@pytest.mark.soak
async def test_many_lines_that_fail(tmp_path: Path, run: Run) -> None:
    """SOAK_TROUBLES says how many in all; SEED replays the choices of the first batch."""
    troubles = int(os.environ.get("SOAK_TROUBLES") or 500)

    batches = await in_batches(run, tmp_path, troubles, of=BATCH, seed=a_seed())

    assert {f.seed: f.broken for f in batches if f.broken} == {}
