"""Several bots on one PostgreSQL database keep every promise, whatever happens to them: `make soak`.

A sample of it takes turns with the lines that fail, in `test_cut_lines.py`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.crash.programme import a_seed, in_batches
from tests.crash.several_bots import bots_on
from tests.support.databases import PostgresDatabases

BATCH = 50


@pytest.mark.soak
@pytest.mark.parametrize("replicas", [2, 3])
async def test_many_troubles_of_several_bots(
    postgres_databases: PostgresDatabases, tmp_path: Path, replicas: int
) -> None:
    """SOAK_TROUBLES says how many in all; SEED replays the choices of the first batch."""
    troubles = int(os.environ.get("SOAK_TROUBLES") or 500)
    run = bots_on(postgres_databases, replicas)

    batches = await in_batches(run, tmp_path, troubles, of=BATCH, seed=a_seed())

    assert {f.seed: f.broken for f in batches if f.broken} == {}
