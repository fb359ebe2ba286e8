"""`kill -9` at moments that nobody chose. SEED=n replays a run's choices; the bot's own timing stays its own."""

import os
import secrets
from pathlib import Path

import pytest

from tests.crash.outside import outside
from tests.crash.programme import kill_at_random

KILLS = 30


def _seed() -> int:
    return int(os.environ.get("SEED") or secrets.randbelow(10**6))


@pytest.mark.timeout(240)
async def test_kills_at_random_moments_lose_nothing_and_pay_nothing_twice(tmp_path: Path) -> None:
    async with outside(tmp_path) as world:
        figures = await kill_at_random(world, KILLS, seed=_seed())

    print(f"\n{figures}")
    assert figures.broken == [], f"SEED={figures.seed}"
    assert figures.debits > 0
    assert figures.doubts > 0, "no kill met a call under way: the programme has lost its teeth"
