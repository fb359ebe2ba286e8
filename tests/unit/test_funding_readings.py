"""What is known of a funding submission is the same in whatever order its readings and its event arrive."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import combinations, permutations

import pytest

from bot.domain.money import funding_readings

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
REVIEWED = ("review", "unregistered_sender")
NOT_FOUND = ("rejected", "not_found")
PENDING, CREDITED = ("pending", None), ("credited", None)
REVERSED = ("rejected", "reversed_by_operator")
# Every way through the table of the document [Funding submission, States].
LIVES = {
    "credited, then taken back": (PENDING, CREDITED, REVERSED),
    "credited after a review": (PENDING, REVIEWED, CREDITED, REVERSED),
    "credited separately": (REVIEWED, ("credited", "credited_separately")),
    "refused after a review": (PENDING, REVIEWED, ("rejected", "rejected_by_operator")),
    "not found, submitted again": (PENDING, NOT_FOUND, PENDING, CREDITED),
    "not found twice": (PENDING, NOT_FOUND, PENDING, NOT_FOUND),
    "claimed by another account": (PENDING, (funding_readings.GONE, None)),
}


def known(arrivals: tuple[funding_readings.FundingReading, ...]) -> funding_readings.FundingReading | None:
    """What is known after these arrived in this order, as it is kept: the time never goes back."""
    last: funding_readings.FundingReading | None = None
    for new in arrivals:
        if funding_readings.is_newer(new, last):
            read_at = max(new.read_at, last.read_at) if last else new.read_at
            last = funding_readings.FundingReading(new.status, new.reason, read_at)
    return last


@pytest.mark.parametrize("life", LIVES.values(), ids=LIVES)
def test_an_old_reading_or_event_never_overwrites_a_newer_one_in_any_order_of_arrival(
    life: tuple[tuple[str, str | None], ...],
) -> None:
    readings = [
        funding_readings.FundingReading(*one, NOW + timedelta(minutes=n)) for n, one in enumerate(life)
    ]
    event = (
        [funding_readings.FundingReading("credited", None, funding_readings.BY_EVENT)]
        if CREDITED in life
        else []
    )

    for count in range(1, len(readings) + 1):
        for some in combinations(readings, count):
            for shown in ([*some], [*some, *event]):
                newest = max(shown, key=lambda one: (one.place, one.read_at))
                ends = {known((*order, *order[:2])) for order in permutations(shown)}

                assert {(end.status, end.reason) for end in ends if end} == {(newest.status, newest.reason)}


def test_money_that_was_credited_is_taken_back_or_stays_whatever_is_read_later() -> None:
    credited = funding_readings.FundingReading("credited", None, NOW)
    later = NOW + timedelta(hours=1)

    for status, reason in (
        PENDING,
        REVIEWED,
        NOT_FOUND,
        (funding_readings.GONE, None),
        ("rejected", "rejected_by_operator"),
    ):
        assert not funding_readings.is_newer(funding_readings.FundingReading(status, reason, later), credited)
    assert funding_readings.is_newer(
        funding_readings.FundingReading(*REVERSED, NOW - timedelta(hours=1)), credited
    )


def test_a_status_that_goes_back_before_money_moved_counts_when_it_was_read_later() -> None:
    review = funding_readings.FundingReading(*REVIEWED, NOW)

    assert funding_readings.is_newer(
        funding_readings.FundingReading(*PENDING, NOW + timedelta(minutes=1)), review
    )
    assert not funding_readings.is_newer(
        funding_readings.FundingReading(*PENDING, NOW - timedelta(minutes=1)), review
    )
