"""How long each thing waits, as the contract has it."""

from __future__ import annotations

from datetime import timedelta

from bot.outcomes.timing import CONFIRM_PAUSES, RETRY_PAUSES, next_pause, reconcile_pause, urgent_pause


def test_the_pauses_are_those_of_the_contract() -> None:
    assert [pause.total_seconds() for pause in RETRY_PAUSES] == [5, 15, 30, 60, 120, 300, 600]
    assert [next_pause(n) for n in (1, 7, 8, 9)] == [timedelta(seconds=5), timedelta(seconds=600), None, None]
    assert next_pause(5, CONFIRM_PAUSES) is None
    assert reconcile_pause(timedelta(hours=23, minutes=59)) == timedelta(minutes=15)
    assert reconcile_pause(timedelta(hours=24)) == timedelta(days=1)


def test_what_cannot_wait_is_tried_every_5_s_for_two_minutes_then_as_a_lost_answer() -> None:
    since, pauses = timedelta(), []
    while since < timedelta(hours=1):
        pauses.append(urgent_pause(since))
        since += pauses[-1]

    assert [pause.total_seconds() for pause in pauses][:31] == [5] * 24 + [5, 15, 30, 60, 120, 300, 600]
    assert {pause.total_seconds() for pause in pauses[31:]} == {900}
    assert urgent_pause(timedelta(days=2)) == timedelta(days=1)


def test_a_try_that_took_long_does_not_bring_the_next_one_nearer_than_5_s() -> None:
    assert urgent_pause(timedelta(seconds=139)) == timedelta(seconds=5)
