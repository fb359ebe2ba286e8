"""Random lives of requests keep every promise; and the machine that says so finds bugs planted for it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import HypothesisException
from hypothesis.stateful import run_state_machine_as_test

from bot.domain.alerts import Said, request_alerts
from bot.domain.requests import Reason, Verdict, approvals
from bot.operations.card_topup import TopUp
from bot.outcomes import Evidence, Finding, Outcome, planning
from bot.partner.answers import Answer, Pair
from bot.partner.calls import cards as card_calls
from bot.services import alerts
from bot.services.core import Core
from bot.services.execution import presend_checks
from storage.requests import decisions
from storage.requests import requests as rows
from storage.transaction import Tx
from tests.services.random_requests import RequestMachine, TroubledLife

SOAK = bool(os.environ.get("SOAK"))
_COMMON: dict[str, Any] = {
    "deadline": None,
    "database": None,
    "suppress_health_check": list(HealthCheck),
    "print_blob": False,
}
SAMPLE = settings(max_examples=400, stateful_step_count=50, **_COMMON)
QUICK = settings(
    max_examples=15, stateful_step_count=18, derandomize=True, phases=[Phase.generate], **_COMMON
)
HUNT = settings(max_examples=80, stateful_step_count=12, derandomize=True, phases=[Phase.generate], **_COMMON)


@pytest.mark.timeout(120)
def test_whatever_happens_every_promise_holds() -> None:
    run_state_machine_as_test(RequestMachine, settings=QUICK)


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="the long form; set SOAK=1")
def test_whatever_happens_every_promise_holds_in_the_long_run() -> None:
    run_state_machine_as_test(RequestMachine, settings=SAMPLE)


Plant = Callable[[pytest.MonkeyPatch], None]


def a_new_key_on_every_retry(patch: pytest.MonkeyPatch) -> None:
    send = TopUp.send
    tries: Counter[str] = Counter()

    async def again(self: TopUp, partner: Any, key: str, body: bytes) -> Any:
        tries[key] += 1
        return await send(self, partner, key if tries[key] == 1 else f"{key}-{tries[key]}", body)

    patch.setattr(TopUp, "send", again)


def _rewrite(patch: pytest.MonkeyPatch, change: Callable[[Pair, Answer], Answer]) -> None:
    """Let the table say something else of the answers to a top-up."""
    rows = {pair: change(pair, row) for pair, row in card_calls.TOP_UP.rows.items()}
    patch.setattr(card_calls.TOP_UP, "rows", rows)


def a_4xx_is_definite_whatever_came_before(patch: pytest.MonkeyPatch) -> None:
    _rewrite(patch, lambda pair, row: replace(row, after_doubt=row.first))


def a_502_is_a_failure(patch: pytest.MonkeyPatch) -> None:
    failed = (502, "UNAVAILABLE")
    _rewrite(patch, lambda pair, row: replace(row, first=Finding.REFUSED) if pair == failed else row)


def no_fence(patch: pytest.MonkeyPatch) -> None:
    finish = rows.finish

    async def unfenced(tx: Any, request: Any, event: Any, **changes: Any) -> Any:
        now = await rows.get(tx, request.id)
        assert now is not None
        mine = replace(request, fence=now.fence, lease_owner=now.lease_owner)
        return await finish(tx, mine, event, **changes)

    patch.setattr(rows, "finish", unfenced)


def people_may_approve_their_own(patch: pytest.MonkeyPatch) -> None:
    def lax(request: Any, earlier: Any, **said: Any) -> Verdict:
        verdict = approvals.decide(request, earlier, **said)
        return Verdict(Reason.SETTLES, 1) if verdict.reason is Reason.OWN_REQUEST else verdict

    patch.setattr("bot.services.requests.approvals.decide", lax)
    patch.setattr(decisions, "BY_ANOTHER", frozenset())


def an_unresolved_outcome_is_not_alerted(patch: pytest.MonkeyPatch) -> None:
    raise_ = alerts.raise_

    async def quiet(tx: Tx, core: Core, said: Said, **more: Any) -> None:
        if said.kind is not request_alerts.UNRESOLVED:
            await raise_(tx, core, said, **more)

    patch.setattr(alerts, "raise_", quiet)


def approvers_are_not_looked_up_again(patch: pytest.MonkeyPatch) -> None:
    async def stand(*_: Any) -> None:
        return None

    patch.setattr(presend_checks, "_approvers_stand", stand)


def a_debit_is_a_success(patch: pytest.MonkeyPatch) -> None:
    settle = planning.settle

    def hasty(evidence: Evidence, text: str, **more: Any) -> Outcome:
        seen = Evidence.DONE if evidence is Evidence.DEBITED else evidence
        return settle(seen, text, **more)

    patch.setattr(planning, "settle", hasty)


BUGS: tuple[Plant, ...] = (
    a_new_key_on_every_retry,
    a_502_is_a_failure,
    people_may_approve_their_own,
    a_4xx_is_definite_whatever_came_before,
    no_fence,
    an_unresolved_outcome_is_not_alerted,
    approvers_are_not_looked_up_again,
    a_debit_is_a_success,
)
_NEED_ALL_OF_LIFE = (no_fence, approvers_are_not_looked_up_again)
# Those that a short hunt is sure to find; the others are left to the long form.
_SOON = (a_new_key_on_every_retry, a_502_is_a_failure, an_unresolved_outcome_is_not_alerted)


def _hunt(plant: Plant, patch: pytest.MonkeyPatch, life: type[RequestMachine], within: settings) -> None:
    plant(patch)
    with pytest.raises((Exception, ExceptionGroup)) as found:  # whatever it breaks, it is found
        run_state_machine_as_test(life, settings=within)
    assert not isinstance(found.value, HypothesisException), "the hunt itself failed"
    print(f"{plant.__name__}: {str(found.value).splitlines()[0][:120]}")


@pytest.mark.timeout(120)
@pytest.mark.parametrize("plant", _SOON, ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    _hunt(plant, monkeypatch, TroubledLife, HUNT)


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="the long form; set SOAK=1")
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("plant", BUGS, ids=lambda plant: plant.__name__)
def test_every_planted_bug_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    life = RequestMachine if plant in _NEED_ALL_OF_LIFE else TroubledLife
    _hunt(plant, monkeypatch, life, settings(HUNT, max_examples=400, stateful_step_count=20))
