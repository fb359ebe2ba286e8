"""Periods as people name them, in their own time zone."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bot.domain.errors import InvalidInput
from bot.domain.time import periods

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 11, 23, 30, tzinfo=UTC)  # already Thursday the 12th in Berlin
ZONES = st.sampled_from(
    ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland", "Africa/Cairo"]
).map(ZoneInfo)
MOMENTS = st.integers(1_704_067_200, 1_861_833_600).map(lambda at: datetime.fromtimestamp(at, UTC))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("today", "12 Mar 2026"),
        ("Yesterday", "11 Mar 2026"),
        ("1d", "12 Mar 2026"),
        ("7d", "6 Mar 2026 to 12 Mar 2026"),
        ("last 7 days", "6 Mar 2026 to 12 Mar 2026"),
        ("2 w", "27 Feb 2026 to 12 Mar 2026"),
        ("this week", "9 Mar 2026 to 12 Mar 2026"),
        ("last  week", "2 Mar 2026 to 8 Mar 2026"),
        ("this month", "1 Mar 2026 to 12 Mar 2026"),
        ("last month", "1 Feb 2026 to 28 Feb 2026"),
        ("2026-03-01", "1 Mar 2026"),
        ("2026-03-01..2026-03-07", "1 Mar 2026 to 7 Mar 2026"),
        ("2026-03-01 to 2026-03-07", "1 Mar 2026 to 7 Mar 2026"),
        ("2026-03-10..2026-04-30", "10 Mar 2026 to 12 Mar 2026"),
        ("24h", "11 Mar 2026 00:31 to 12 Mar 2026 00:31"),
    ],
)
def test_a_period_is_echoed_as_dates_and_zone(text: str, words: str) -> None:
    found = periods.read(text, NOW, BERLIN)

    assert found is not None
    assert found.in_words() == f"{words} (Europe/Berlin)"


def test_a_file_is_named_by_the_days_of_the_zone() -> None:
    for text, days in {"today": "2026-03-12-to-2026-03-12", "24h": "2026-03-11-to-2026-03-12"}.items():
        found = periods.read(text, NOW, BERLIN)
        assert found is not None
        assert found.dated() == days


@pytest.mark.parametrize("text", ["", "4242", "alice", "day", "week", "tomorrow", "7 dwarfs", "0x12"])
def test_what_names_no_period_is_left_alone(text: str) -> None:
    assert periods.read(text, NOW, BERLIN) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("2026-02-30", "does not exist"),
        ("2026-03-07..2026-03-01", "earlier day first"),
        ("2026-04-01", "still to come"),
        ("0d", "isn't a time"),
        ("3months", "Write one of"),
        ("2026-3-1", "Write one of"),
    ],
)
def test_what_is_meant_as_a_period_and_is_none_is_said(text: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        periods.read(text, NOW, BERLIN)


@pytest.mark.parametrize(
    ("text", "is_cut"),
    [
        ("2025-07-01..2025-09-30", False),
        ("2025-10-01..2025-12-31", False),
        ("2025-06-01..2025-08-31", True),
        ("2025-07-02..2025-09-30", True),
        ("2025-07-01..2025-10-01", True),
    ],
)
def test_a_whole_quarter_of_the_calendar_is_not_cut(text: str, is_cut: bool) -> None:
    found = periods.read(text, NOW, BERLIN)

    assert found is not None
    assert found.was_cut is is_cut


@pytest.mark.parametrize("text", ["91d", "3000h", "99999w", "2020-01-01..2026-03-11"])
def test_more_than_ninety_days_is_cut_to_the_last_of_them_and_said(text: str) -> None:
    found = periods.read(text, NOW, ZoneInfo("UTC"))

    assert found is not None
    assert found.until - found.since == timedelta(days=90)
    assert "cut to the last 90 days" in found.in_words()


@pytest.mark.parametrize(
    ("text", "head", "named"),
    [
        ("4242", "4242", None),
        ("4242 7d", "4242", "7d"),
        ("alice moreau last week", "alice moreau", "last week"),
        ("emp 7 2026-03-01 to 2026-03-02", "emp 7", "2026-03-01 to 2026-03-02"),
        ("today", "", "today"),
    ],
)
def test_a_period_is_found_at_the_end_of_what_was_typed(text: str, head: str, named: str | None) -> None:
    left, found = periods.split(text, NOW, BERLIN)

    assert left == head
    assert (found.named if found else None) == named


@given(moment=MOMENTS, zone=ZONES, days=st.integers(1, 400))
def test_days_begin_and_end_at_midnight_there_and_meet_without_a_gap(
    moment: datetime, zone: ZoneInfo, days: int
) -> None:
    today, before = periods.read("today", moment, zone), periods.read("yesterday", moment, zone)
    many = periods.read(f"{days}d", moment, zone)

    assert today is not None
    assert before is not None
    assert many is not None
    assert moment in today
    assert moment not in before
    assert before.until == today.since
    assert many.until == today.until
    assert (many.until.astimezone(zone).date() - many.since.astimezone(zone).date()).days == min(days, 90)
    assert many.was_cut is (days > 90)
    # Where the clock skips midnight the day begins later than 00:00.
    assert today.since.astimezone(zone).date() == moment.astimezone(zone).date()


@given(
    moment=MOMENTS,
    zone=ZONES,
    first=st.dates(date(2024, 1, 1), date(2028, 12, 31)),
    length=st.integers(0, 89),
)
def test_every_moment_of_the_days_named_is_in_the_period_and_no_other(
    moment: datetime, zone: ZoneInfo, first: date, length: int
) -> None:
    last = first + timedelta(days=length)
    today = moment.astimezone(zone).date()
    assume(first <= today)

    found = periods.read(f"{first}..{last}", moment, zone)

    assert found is not None
    for day in (first - timedelta(days=1), first, min(last, today), min(last, today) + timedelta(days=1)):
        noon = datetime.combine(day, time(12), zone)
        assert (noon in found) is (first <= day <= min(last, today))
        assert (found.first_day_utc <= noon.astimezone(UTC).date() <= found.last_day_utc) or noon not in found


@given(st.text(max_size=60))
def test_any_text_is_a_period_or_none_or_refused_in_a_sentence(text: str) -> None:
    try:
        found = periods.read(text, NOW, BERLIN)
    except InvalidInput:
        found = None

    assert found is None or found.since < found.until <= NOW + timedelta(days=1, hours=1)
