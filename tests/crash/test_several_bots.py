"""Several bots on one PostgreSQL database keep every promise, whatever happens to them. `make soak` has more of it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest

from tests.crash.outside import outside
from tests.crash.programme import Figures
from tests.crash.several_bots import LEASE_S, troubled
from tests.crash.shared_database import SharedDatabase
from tests.support.databases import PostgresDatabases

SAMPLE, BATCH = 2, 50


async def _batch(
    postgres_databases: PostgresDatabases, folder: Path, troubles: int, *, replicas: int, seed: int
) -> Figures:
    shared = SharedDatabase(postgres_databases.migrated())
    try:
        async with outside(folder, lease_s=LEASE_S, shared=shared) as world:
            return await troubled(world, troubles, replicas=replicas, seed=seed)
    finally:
        shared.forget()


@pytest.mark.timeout(300)
async def test_two_bots_in_trouble_pay_once_post_once_and_lose_nothing(
    postgres_databases: PostgresDatabases, tmp_path: Path
) -> None:
    figures = await _batch(postgres_databases, tmp_path, SAMPLE, replicas=2, seed=secrets.randbelow(10**6))
    print(f"\n{figures}")

    assert figures.broken == [], str(figures)
    assert figures.requests > 0


@pytest.mark.soak
@pytest.mark.parametrize("replicas", [2, 3])
async def test_many_troubles_of_several_bots(
    postgres_databases: PostgresDatabases, tmp_path: Path, replicas: int
) -> None:
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
        batches.append(await _batch(postgres_databases, folder, size, replicas=replicas, seed=first + number))
        print(f"{replicas} bots, {batches[-1]}", flush=True)

    assert {f.seed: f.broken for f in batches if f.broken} == {}
