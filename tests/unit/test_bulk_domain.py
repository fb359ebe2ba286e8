"""A batch follows its rows: in states, in words, and in time."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.money import with_point
from bot.domain.people import APPROVAL_VALID_FOR
from bot.domain.requests import (
    MAX_ROWS,
    TERMINAL,
    Event,
    State,
    advance,
    batch_event,
    digest_of_rows,
    due_after,
    ending_text,
    pages_of,
    progress_text,
)

ROW_STATES = [
    State.APPROVED, State.EXECUTING, State.SUCCEEDED, State.FAILED, State.UNRESOLVED, State.CANCELLED, State.EXPIRED,
]  # fmt: skip


@given(rows=st.lists(st.sampled_from(ROW_STATES), min_size=1, max_size=6))
def test_a_batch_ends_when_and_only_when_its_rows_have_ended(rows: list[State]) -> None:
    states, state = Counter(rows), State.APPROVED
    while (event := batch_event(state, states)) is not None:
        state = advance(state, event)

    waiting = states[State.APPROVED] + states[State.EXECUTING]
    sent = len(rows) - states[State.APPROVED] - states[State.CANCELLED] - states[State.EXPIRED]
    if waiting:
        assert state is (State.EXECUTING if sent else State.APPROVED)
    elif states[State.UNRESOLVED]:
        assert state is State.UNRESOLVED
    else:
        assert state in TERMINAL
        assert (state is State.SUCCEEDED) == (states[State.SUCCEEDED] == len(rows))
        assert (state in (State.CANCELLED, State.EXPIRED)) == (sent == 0)


def test_a_row_that_landed_late_can_make_the_batch_whole() -> None:
    assert batch_event(State.FAILED, {State.SUCCEEDED: 2, State.FAILED: 1}) is None
    event = batch_event(State.FAILED, {State.SUCCEEDED: 3})
    assert event is not None
    assert advance(State.FAILED, event) is State.SUCCEEDED


def test_a_row_that_is_open_again_opens_its_batch_again_until_it_ends() -> None:
    rows = {State.SUCCEEDED: 2, State.UNRESOLVED: 1}
    event = batch_event(State.FAILED, rows)
    assert event is Event.REOPEN
    assert advance(State.FAILED, event) is State.UNRESOLVED
    assert batch_event(State.UNRESOLVED, rows) is None
    assert batch_event(State.UNRESOLVED, {State.SUCCEEDED: 2, State.FAILED: 1}) is Event.FAIL


def test_the_largest_batch_is_sent_within_two_thirds_of_its_approval() -> None:
    assert due_after(MAX_ROWS - 1) < APPROVAL_VALID_FOR * 2 / 3
    assert [due_after(n).total_seconds() for n in (0, 1, 10, 11)] == [0, 1, 10, 14]


def test_words_name_every_row_once() -> None:
    states = {State.SUCCEEDED: 2, State.FAILED: 1, State.CANCELLED: 3}
    assert ending_text(states, Decimal(20), Decimal(60), failed_how="nothing moved, or it came back") == (
        "2 of 6 rows succeeded; 1 failed (nothing moved, or it came back), 3 not sent. 20.00 USD of 60.00 USD moved."
    )
    assert (
        ending_text({State.SUCCEEDED: 1}, Decimal(0), Decimal(0), failed_how="not frozen")
        == "1 of 1 row succeeded."
    )
    unknown = {State.UNRESOLVED: 1, State.SUCCEEDED: 1}
    assert ending_text(unknown, Decimal(5), Decimal(9), failed_how="nothing moved").endswith(
        "5.00 USD of 9.00 USD moved at least."
    )
    came_back = ending_text(
        {State.SUCCEEDED: 1, State.FAILED: 2},
        Decimal(5),
        Decimal(9),
        failed_how="nothing moved",
        came_back={"R-A": Decimal(1), "R-B": Decimal("3.00")},
    )
    assert came_back.endswith(
        "5.00 USD of 9.00 USD moved. 4.00 USD came back to the float after that (R-A, R-B): do not rely on the card."
    )
    assert (
        progress_text({State.SUCCEEDED: 1, State.APPROVED: 2}, failed_how="not frozen")
        == "1 of 3 rows ended: 1 succeeded, 2 waiting."
    )


def test_one_row_more_or_less_or_in_another_place_shows() -> None:
    assert (
        len({digest_of_rows(rows) for rows in (["a", "b"], ["b", "a"], ["a"], ["a", "b", "c"], ["ab"])}) == 5
    )


@given(st.lists(st.integers(1, 5000), max_size=120))
def test_every_row_stands_on_one_page_and_no_page_is_more_than_a_window_takes(sizes: list[int]) -> None:
    pages = pages_of(sizes)

    assert [place for page in pages for place in page] == list(range(len(sizes)))
    assert len(pages) >= 1
    for page in pages:
        assert len(page) <= 20
        assert len(page) <= 1 or sum(sizes[place] for place in page) <= 3500


@given(st.integers(1, 10**9 * 100))
def test_an_amount_written_with_a_comma_is_the_amount_written_with_a_point(cents: int) -> None:
    whole, rest = divmod(cents, 100)
    grouped = f"{whole:,}".replace(",", ".")

    for written in (f"{whole},{rest:02}", f"{grouped},{rest:02}", f" ${whole},{rest:02} "):
        assert with_point(written).removeprefix("$") == f"{whole}.{rest:02}"
