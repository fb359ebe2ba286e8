"""A bot weighs no more after three days than after the first: `make soak` takes 20,000 operations and 200,000 events.

SOAK_OPERATIONS and SOAK_EVENTS say how many in all.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.soak.memory import Day, days

DAYS = 3
GROWS_AT_MOST = 1.2


def hold(found: list[Day]) -> None:
    first, last = found[0].mb, found[-1].mb
    print(
        f"\n{', '.join(f'{d.mb:.1f} MB after {d.operations} operations, {d.events} events' for d in found)}"
    )
    assert last <= first * GROWS_AT_MOST


async def test_a_bot_weighs_no_more_after_another_small_day(tmp_path: Path) -> None:
    hold(await days(tmp_path, 2, operations=2, events=20))


@pytest.mark.soak
@pytest.mark.timeout(0)
async def test_a_bot_weighs_no_more_after_three_days(tmp_path: Path) -> None:
    operations = int(os.environ.get("SOAK_OPERATIONS") or 20_000)
    events = int(os.environ.get("SOAK_EVENTS") or 200_000)
    hold(await days(tmp_path, DAYS, operations=operations // DAYS, events=events // DAYS))
