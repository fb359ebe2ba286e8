"""Random lives of requests keep every promise; and the machine that says so finds bugs planted for it."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import HypothesisException
from hypothesis.stateful import run_state_machine_as_test

from tests.services import planted_bugs as bugs
from tests.services.planted_bugs import Plant
from tests.services.random_requests import (
    BusyDatabase,
    Emergency,
    GivenUp,
    LostOrder,
    RequestMachine,
    Scene,
    TroubledLife,
    WaitingSwitch,
)

SOAK = bool(os.environ.get("SOAK"))
_COMMON: dict[str, Any] = {
    "deadline": None,
    "database": None,
    "suppress_health_check": list(HealthCheck),
    "print_blob": False,
}
SAMPLE = settings(max_examples=400, stateful_step_count=50, **_COMMON)
QUICK = settings(max_examples=7, stateful_step_count=18, derandomize=True, phases=[Phase.generate], **_COMMON)
HUNT = settings(max_examples=80, stateful_step_count=12, derandomize=True, phases=[Phase.generate], **_COMMON)


@pytest.mark.timeout(120)
def test_whatever_happens_every_promise_holds() -> None:
    run_state_machine_as_test(RequestMachine, settings=QUICK)


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="the long form; set SOAK=1")
def test_whatever_happens_every_promise_holds_in_the_long_run() -> None:
    run_state_machine_as_test(RequestMachine, settings=SAMPLE)


BUGS: dict[Plant, type[RequestMachine]] = {
    bugs.a_new_key_on_every_retry: TroubledLife,
    bugs.a_502_is_a_failure: TroubledLife,
    bugs.people_may_approve_their_own: TroubledLife,
    bugs.a_4xx_is_definite_whatever_came_before: TroubledLife,
    bugs.no_fence: RequestMachine,
    bugs.an_unresolved_outcome_is_not_alerted: TroubledLife,
    bugs.approvers_are_not_looked_up_again: RequestMachine,
    bugs.a_debit_is_a_success: TroubledLife,
    bugs.a_debit_that_completed_late_is_a_success: GivenUp,
    bugs.any_card_of_the_name_proves_an_order: LostOrder,
    bugs.a_first_send_asks_for_nothing_newer: WaitingSwitch,
    bugs.the_budget_is_waited_for_after_the_claim: WaitingSwitch,
    bugs.a_freeze_stands_in_the_same_queue: Emergency,
    bugs.a_failed_renewal_takes_the_answer_with_it: BusyDatabase,
}
# Those that a short hunt is sure to find; the others are left to the long form.
_SOON = (
    bugs.a_new_key_on_every_retry,
    bugs.a_502_is_a_failure,
    bugs.an_unresolved_outcome_is_not_alerted,
    bugs.a_failed_renewal_takes_the_answer_with_it,
)


def _hunt(plant: Plant, patch: pytest.MonkeyPatch, within: settings) -> None:
    plant(patch)
    began, cpu_s = time.monotonic(), time.process_time()
    with pytest.raises((Exception, ExceptionGroup)) as found:  # whatever it breaks, it is found
        run_state_machine_as_test(BUGS[plant], settings=within)
    assert not isinstance(found.value, HypothesisException), "the hunt itself failed"
    took_s, cpu_s = time.monotonic() - began, time.process_time() - cpu_s
    what = (str(found.value).splitlines() or [repr(found.value)])[0]
    print(f"\n{plant.__name__} found after {took_s:.1f} s ({cpu_s:.1f} s of the processor): {what[:120]}")


@pytest.mark.timeout(120)
@pytest.mark.parametrize("plant", _SOON, ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    _hunt(plant, monkeypatch, HUNT)


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="the long form; set SOAK=1")
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("plant", BUGS, ids=lambda plant: plant.__name__)
def test_every_planted_bug_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = 8 if issubclass(BUGS[plant], Scene) else 20
    _hunt(plant, monkeypatch, settings(HUNT, max_examples=400, stateful_step_count=steps))
