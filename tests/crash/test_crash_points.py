"""`kill -9` at every point that the code names, with people at work."""

from pathlib import Path

import pytest

from tests.crash.outside import outside
from tests.crash.programme import crash_points, kill_at_points

SEED = 20260302


@pytest.mark.timeout(180)
async def test_a_kill_at_any_named_point_loses_nothing_and_pays_nothing_twice(tmp_path: Path) -> None:
    points = crash_points()
    assert len(points) >= 12

    async with outside(tmp_path) as world:
        figures = await kill_at_points(world, points, seed=SEED)

    print(f"\n{len(points)} crash points: {figures}")
    assert figures.broken == []
    assert figures.kills == 2 * len(points)
    assert figures.debits > 0
