"""Outcome tables, pure: what no table names proves nothing, and doubt is never dropped."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.domain.requests.outcomes import (
    AFTER_UNKNOWN,
    CONFIRM_PAUSES,
    FIRST,
    RETRY_PAUSES,
    Call,
    Finding,
    classify,
    next_pause,
    reconcile_pause,
)


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("call", Call)
def test_no_answer_and_answers_no_table_names_prove_nothing(call: Call, unknown: bool) -> None:
    for status, code in (
        (None, None),
        (504, None),
        (404, None),
        (418, "TEAPOT"),
        (402, "QUOTA"),
        (200, "OK"),
    ):
        assert classify(call, status, code, outcome_unknown=unknown) is Finding.UNKNOWN


@pytest.mark.parametrize("call", Call)
def test_nothing_is_refused_or_done_for_certain_after_an_unknown_attempt(call: Call) -> None:
    assert not set(AFTER_UNKNOWN[call].values()) & {Finding.REFUSED, Finding.SUCCEEDED, Finding.NOTHING_YET}


@pytest.mark.parametrize("call", Call)
def test_what_is_a_clear_answer_at_first_is_looked_into_afterwards(call: Call) -> None:
    clear = {pair for pair, finding in FIRST[call].items() if finding is Finding.REFUSED}
    assert clear <= set(AFTER_UNKNOWN[call])


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("call", Call)
def test_a_limited_rate_and_a_refused_key_are_the_same_for_every_call(call: Call, unknown: bool) -> None:
    assert classify(call, 429, "RATE_LIMITED", outcome_unknown=unknown) is Finding.WAIT
    assert classify(call, 401, "UNAUTHORIZED", outcome_unknown=unknown) is Finding.HELD
    assert classify(call, 403, "FORBIDDEN", outcome_unknown=unknown) is Finding.HELD


def test_the_pauses_are_those_of_the_contract() -> None:
    assert [pause.total_seconds() for pause in RETRY_PAUSES] == [5, 15, 30, 60, 120, 300, 600]
    assert [next_pause(n) for n in (1, 7, 8, 9)] == [timedelta(seconds=5), timedelta(seconds=600), None, None]
    assert next_pause(5, CONFIRM_PAUSES) is None
    assert reconcile_pause(timedelta(hours=23, minutes=59)) == timedelta(minutes=15)
    assert reconcile_pause(timedelta(hours=24)) == timedelta(days=1)
