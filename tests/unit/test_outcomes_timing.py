"""How long each thing waits, as the contract has it."""

from __future__ import annotations

from datetime import timedelta

from bot.outcomes.timing import CONFIRM_PAUSES, RETRY_PAUSES, next_pause, reconcile_pause


def test_the_pauses_are_those_of_the_contract() -> None:
    assert [pause.total_seconds() for pause in RETRY_PAUSES] == [5, 15, 30, 60, 120, 300, 600]
    assert [next_pause(n) for n in (1, 7, 8, 9)] == [timedelta(seconds=5), timedelta(seconds=600), None, None]
    assert next_pause(5, CONFIRM_PAUSES) is None
    assert reconcile_pause(timedelta(hours=23, minutes=59)) == timedelta(minutes=15)
    assert reconcile_pause(timedelta(hours=24)) == timedelta(days=1)
