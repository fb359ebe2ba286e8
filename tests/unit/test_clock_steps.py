"""A clock that was set back is known by times still to come; those of another machine may be a little ahead."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.domain.time import was_before
from bot.domain.time.clock_steps import CLOCKS_DIFFER

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize("ahead_s", [0.001, 0.5, 1, 30, CLOCKS_DIFFER.total_seconds()])
def test_what_another_clock_that_is_right_gave_is_not_of_before(ahead_s: float) -> None:
    other = NOW - timedelta(minutes=1)

    assert not was_before(NOW + timedelta(seconds=ahead_s), other, NOW)


@pytest.mark.parametrize("ahead", [timedelta(minutes=3), timedelta(hours=1), timedelta(days=400)])
def test_what_is_far_from_coming_yet_is_of_a_clock_that_was_set_back(ahead: timedelta) -> None:
    assert was_before(NOW + ahead, NOW - timedelta(minutes=1), NOW)


def test_otherwise_the_earlier_one_was_before() -> None:
    assert was_before(NOW - timedelta(seconds=2), NOW - timedelta(seconds=1), NOW)
    assert not was_before(NOW, NOW - timedelta(seconds=1), NOW)
