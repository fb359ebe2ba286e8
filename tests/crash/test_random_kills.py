"""`kill -9` at moments that nobody chose. SEED=n replays a run's choices; the bot's own timing stays its own."""

import os
import secrets
from pathlib import Path

import pytest

from tests.crash.outside import outside
from tests.crash.programme import Figures, kill_at_random

KILLS = 30 if os.environ.get("SOAK") == "1" else 10
# Chance decides what so few kills meet: where none cut off a call, as many more follow, so many times at most.
BATCHES_MOST = 6


def _seed() -> int:
    return int(os.environ.get("SEED") or secrets.randbelow(10**6))


@pytest.mark.sampled
@pytest.mark.timeout(480)
async def test_kills_at_random_moments_lose_nothing_and_pay_nothing_twice(tmp_path: Path) -> None:
    first, batches = _seed(), list[Figures]()
    while len(batches) < BATCHES_MOST and not (_any_call_cut_off(batches) and _any_debit(batches)):
        folder = tmp_path / str(len(batches))
        folder.mkdir()
        async with outside(folder) as world:
            batches.append(await kill_at_random(world, KILLS, seed=first + len(batches)))
        print(f"\n{batches[-1]}")
        assert batches[-1].broken == [], f"SEED={batches[-1].seed}"

    assert _any_debit(batches)
    assert _any_call_cut_off(batches), "no kill met a call under way: the programme has lost its teeth"


def _any_call_cut_off(batches: list[Figures]) -> bool:
    return any(batch.doubts for batch in batches)


def _any_debit(batches: list[Figures]) -> bool:
    return any(batch.debits for batch in batches)
