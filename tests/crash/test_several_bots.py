"""Several bots on one PostgreSQL database keep every promise, whatever happens to them. `make soak` has more of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.crash.outside import outside
from tests.crash.programme import Figures, Run, a_seed, in_batches, sampled
from tests.crash.several_bots import LEASE_S, troubled
from tests.crash.shared_database import SharedDatabase
from tests.support.databases import PostgresDatabases

SAMPLE, BATCH = 2, 50


def _of(databases: PostgresDatabases, replicas: int) -> Run:
    async def run(folder: Path, troubles: int, seed: int) -> Figures:
        shared = SharedDatabase(databases.migrated())
        try:
            async with outside(folder, lease_s=LEASE_S, shared=shared) as world:
                return await troubled(world, troubles, replicas=replicas, seed=seed)
        finally:
            shared.forget()

    return run


@pytest.mark.timeout(300)
async def test_two_bots_in_trouble_pay_once_post_once_and_lose_nothing(
    postgres_databases: PostgresDatabases, tmp_path: Path
) -> None:
    await sampled(_of(postgres_databases, 2), tmp_path, SAMPLE, lambda one: one.requests)


@pytest.mark.soak
@pytest.mark.parametrize("replicas", [2, 3])
async def test_many_troubles_of_several_bots(
    postgres_databases: PostgresDatabases, tmp_path: Path, replicas: int
) -> None:
    """SOAK_TROUBLES says how many in all; SEED replays the choices of the first batch."""
    troubles = int(os.environ.get("SOAK_TROUBLES") or 500)
    run = _of(postgres_databases, replicas)

    batches = await in_batches(run, tmp_path, troubles, of=BATCH, seed=a_seed())

    assert {f.seed: f.broken for f in batches if f.broken} == {}
