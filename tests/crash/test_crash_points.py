"""`kill -9` at every point that the code names, with people at work."""

import os
from pathlib import Path

import pytest

from tests.crash.outside import outside
from tests.crash.programme import crash_points, kill_at_points
from tests.support.walks import drawn

SEED = 20260302


@pytest.mark.sampled
@pytest.mark.timeout(180)
async def test_a_kill_at_any_named_point_loses_nothing_and_pays_nothing_twice(tmp_path: Path) -> None:
    """One in four of them by turns, at the first or the second passing; `make soak` at both of each."""
    points, all_of_them = drawn(crash_points(), 4), os.environ.get("SOAK") == "1"
    assert len(points) >= 3

    async with outside(tmp_path) as world:
        figures = await kill_at_points(world, points, seed=SEED, by_turns=not all_of_them)

    print(f"\n{len(points)} crash points: {figures}")
    assert figures.broken == []
    assert figures.kills == (2 if all_of_them else 1) * len(points)
    assert figures.debits > 0
