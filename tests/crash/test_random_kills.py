"""`kill -9` at moments that nobody chose. SEED=n replays a run's choices; the bot's own timing stays its own."""

import os
from pathlib import Path

import pytest

from tests.crash.outside import outside
from tests.crash.programme import Figures, kill_at_random, sampled

KILLS = 30 if os.environ.get("SOAK") == "1" else 4


@pytest.mark.sampled
@pytest.mark.timeout(480)
async def test_kills_at_random_moments_lose_nothing_and_pay_nothing_twice(tmp_path: Path) -> None:
    async def run(folder: Path, kills: int, seed: int) -> Figures:
        async with outside(folder) as world:
            return await kill_at_random(world, kills, seed=seed)

    await sampled(run, tmp_path, KILLS, lambda one: one.debits, lambda one: one.doubts)
