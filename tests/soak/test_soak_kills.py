"""The crash programme at full size: `make soak`. SOAK_KILLS=n changes how many; SEED=n replays the choices."""

import os
import secrets
from pathlib import Path

import pytest

from tests.crash.outside import outside
from tests.crash.programme import Figures, crash_points, kill_at_points, kill_at_random

pytestmark = pytest.mark.soak

BATCH = 100
# Each named point is met this often: half of it at the first passing, half at the second.
AT_EACH_POINT = 50


def _kills() -> int:
    return int(os.environ.get("SOAK_KILLS") or 1000)


def _first_seed() -> int:
    return int(os.environ.get("SEED") or secrets.randbelow(10**6))


def _shown(batches: list[Figures]) -> None:
    """The whole; each batch was reported with its seed when it ended."""
    print(
        f"{sum(f.kills for f in batches)} kills in {sum(f.seconds for f in batches):.0f} s,"
        f" {sum(f.requests for f in batches)} requests, {sum(f.debits for f in batches)} debits,"
        f" {sum(f.doubts for f in batches)} calls cut off, {sum(f.half_sent for f in batches)} messages half sent,"
        f" {sum(len(f.broken) for f in batches)} promises broken"
    )


async def test_many_kills_at_random_moments(tmp_path: Path) -> None:
    """Batches, each in a fresh world, so that a broken promise is reported with a seed that is quick to replay."""
    first, batches = _first_seed(), list[Figures]()
    for number in range(-(-_kills() // BATCH)):
        folder = tmp_path / str(number)
        folder.mkdir()
        async with outside(folder) as world:
            kills = min(BATCH, _kills() - number * BATCH)
            batches.append(await kill_at_random(world, kills, seed=first + number))
        print(batches[-1], flush=True)
    _shown(batches)

    assert {f.seed: f.broken for f in batches if f.broken} == {}
    assert sum(f.kills for f in batches) == _kills()


async def test_every_named_point_many_times(tmp_path: Path) -> None:
    first, batches = _first_seed(), list[Figures]()
    for number in range(AT_EACH_POINT // 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        async with outside(folder) as world:
            batches.append(await kill_at_points(world, crash_points(), seed=first + number))
        print(batches[-1], flush=True)
    _shown(batches)

    assert {f.seed: f.broken for f in batches if f.broken} == {}
