"""Sums by day: nothing lost, nothing twice, in the days of the person."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.events import statements
from bot.domain.money import exact_sum
from bot.domain.time import periods

NOW = datetime(2026, 3, 29, 12, 30, tzinfo=UTC)  # the day on which Berlin's clocks go forward
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("named", "bars"), [("today", 1), ("7d", 7), ("31d", 31), ("32d", 5), ("90d", 13), ("24h", 2)]
)
def test_there_is_a_bar_for_every_day_or_for_seven_of_them(named: str, bars: int) -> None:
    period = periods.read(named, NOW, BERLIN)
    assert period is not None

    days = [day for day, _ in statements.by_day([], period)]

    assert len(days) == bars
    assert days[0] == period.since.astimezone(BERLIN).date()
    assert days == sorted(set(days))


@given(
    named=st.sampled_from(["7d", "24h", "90d", "last month", "40d"]),
    moments=st.lists(st.tuples(st.floats(0, 0.9999), st.decimals(-999, 999, places=4)), max_size=30),
)
def test_every_amount_is_in_one_bar(named: str, moments: list[tuple[float, Decimal]]) -> None:
    period = periods.read(named, NOW, BERLIN)
    assert period is not None
    moved = [(period.since + (period.until - period.since) * at, amount) for at, amount in moments]

    sums = statements.by_day(moved, period)

    assert exact_sum(amount for _, amount in sums) == exact_sum(amount for _, amount in moved)
    for at, amount in moved[:1]:
        alone = dict(statements.by_day([(at, amount)], period))
        day = max(day for day in alone if day <= at.astimezone(BERLIN).date())
        assert alone[day] == amount
        assert at.astimezone(BERLIN).date() - day < timedelta(days=7)
