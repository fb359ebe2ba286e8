"""The team's hours, held against a clock that is read minute by minute."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.time.business_hours import MORNING, Hours
from bot.domain.time.periods import back

ZONES = ("UTC", "America/New_York", "Asia/Kathmandu", "Pacific/Auckland")
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
TIMES = st.timedeltas(timedelta(0), timedelta(days=363)).map(lambda after: FIRST + after)


def is_quiet(hours: Hours, at: datetime) -> bool:
    """By the dial alone: from `begins` on round it until `ends`."""
    assert hours.quiet is not None
    begins, ends, clock = (
        t.hour * 60 + t.minute for t in (*hours.quiet, at.astimezone(hours.zone).time().replace(second=0))
    )
    return (clock - begins) % 1440 < (ends - begins) % 1440


@pytest.mark.parametrize("quiet", [(time(20), time(8)), (time(9), time(17, 30)), (time(22, 15), time(0))])
@given(at=TIMES, zone=st.sampled_from(ZONES))
def test_it_is_quiet_inside_the_hours_until_they_end_and_at_no_other_time(
    quiet: tuple[time, time], at: datetime, zone: str
) -> None:
    hours = Hours(zone, quiet)
    until = hours.quiet_until(at)

    assert (until is not None) == is_quiet(hours, at)
    if until is not None:
        assert at < until <= at + timedelta(hours=25)
        assert until.astimezone(hours.zone).time() == quiet[1]
        assert not is_quiet(hours, until)


def test_without_quiet_hours_it_is_never_quiet_and_without_a_digest_none_is_due() -> None:
    at = datetime(2026, 3, 2, 3, tzinfo=UTC)
    assert Hours().quiet_until(at) is None
    assert Hours(digest=None).digest_due(at) is None


@given(at=TIMES, zone=st.sampled_from(ZONES))
def test_the_digest_is_due_from_its_time_on_for_the_rest_of_that_day(at: datetime, zone: str) -> None:
    hours = Hours(zone, digest=MORNING)
    local = at.astimezone(hours.zone)
    assert hours.digest_due(at) == (local.date() if local.time() >= MORNING else None)


@given(at=TIMES, zone=st.sampled_from(ZONES))
def test_the_next_workday_begins_at_nine_of_the_first_later_day_that_is_no_weekend(
    at: datetime, zone: str
) -> None:
    hours = Hours(zone)
    begins = hours.next_workday(at).astimezone(hours.zone)
    today: date = at.astimezone(hours.zone).date()
    passed = [today + timedelta(days=n) for n in range(1, (begins.date() - today).days)]

    assert (begins.time(), begins.weekday() < 5) == (MORNING, True)
    assert all(day.weekday() >= 5 for day in passed)
    assert begins.date() > today


@given(at=TIMES, zone=st.sampled_from(ZONES), days=st.integers(1, 60))
def test_so_many_days_back_are_whole_days_that_end_with_today(at: datetime, zone: str, days: int) -> None:
    found = back(days, at, Hours(zone).zone)
    first, last = (edge.astimezone(Hours(zone).zone) for edge in (found.since, found.until))

    assert (first.time(), last.time()) == (time(0), time(0))
    assert (last.date() - first.date()).days == days
    assert found.since <= at < found.until
