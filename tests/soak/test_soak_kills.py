"""The crash programme at full size: `make soak`. SOAK_KILLS=n changes how many; SEED=n replays the choices."""

import os
from pathlib import Path

import pytest

from tests.crash.outside import outside
from tests.crash.programme import Figures, a_seed, crash_points, in_batches, kill_at_points, kill_at_random

pytestmark = pytest.mark.soak

BATCH = 100
# Each named point is met this often: half of it at the first passing, half at the second.
AT_EACH_POINT = 50


def _kills() -> int:
    return int(os.environ.get("SOAK_KILLS") or 1000)


def _shown(batches: list[Figures]) -> None:
    """The whole; each batch was reported with its seed when it ended."""
    print(
        f"{sum(f.kills for f in batches)} kills in {sum(f.seconds for f in batches):.0f} s,"
        f" {sum(f.requests for f in batches)} requests, {sum(f.debits for f in batches)} debits,"
        f" {sum(f.doubts for f in batches)} calls cut off, {sum(f.half_sent for f in batches)} messages half sent,"
        f" {sum(len(f.broken) for f in batches)} promises broken"
    )


async def test_many_kills_at_random_moments(tmp_path: Path) -> None:
    async def run(folder: Path, kills: int, seed: int) -> Figures:
        async with outside(folder) as world:
            return await kill_at_random(world, kills, seed=seed)

    batches = await in_batches(run, tmp_path, _kills(), of=BATCH, seed=a_seed())
    _shown(batches)

    assert {f.seed: f.broken for f in batches if f.broken} == {}
    assert sum(f.kills for f in batches) == _kills()


async def test_every_named_point_many_times(tmp_path: Path) -> None:
    async def run(folder: Path, _points: int, seed: int) -> Figures:
        async with outside(folder) as world:
            return await kill_at_points(world, crash_points(), seed=seed)

    batches = await in_batches(run, tmp_path, AT_EACH_POINT // 2, of=1, seed=a_seed())
    _shown(batches)

    assert {f.seed: f.broken for f in batches if f.broken} == {}
