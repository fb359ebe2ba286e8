"""The state machine: a sample in every run, ten thousand steps in the soak."""

import time

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.sandbox_partner.machine import Machine
from tests.support.samples import examples

_RELAXED = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
SAMPLE = settings(
    max_examples=examples(60, full=150), stateful_step_count=40, deadline=None, suppress_health_check=_RELAXED
)
LONG = settings(max_examples=1000, stateful_step_count=50, deadline=None, suppress_health_check=_RELAXED)


@pytest.mark.sampled
def test_whatever_happens_the_simulator_adds_up() -> None:
    run_state_machine_as_test(Machine, settings=SAMPLE)


@pytest.mark.soak
def test_ten_thousand_steps_are_clean() -> None:
    began, before = time.monotonic(), Machine.steps
    run_state_machine_as_test(Machine, settings=LONG)
    steps = Machine.steps - before
    print(f"{steps} steps in {time.monotonic() - began:.0f} s, nothing broken")
    assert steps >= 10_000
