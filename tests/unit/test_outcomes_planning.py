"""What to do next, pure: send, repeat or look; what a look proves; what an outcome does to the request."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from bot.domain.requests import Attempt, Event, Request, State
from bot.outcomes import Evidence, Finding, Outcome
from bot.outcomes.planning import History, Step, after, never_executed, next_step, settle
from bot.outcomes.timing import QUIESCENCE
from bot.partner.calls import cards as card_calls
from bot.partner.client import ENDPOINTS
from bot.partner.endpoints import Endpoint, documented

SENT_AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
REQUEST = Request(
    id="R-7K3M",
    program="main",
    kind="card_topup",
    state=State.EXECUTING,
    version=3,
    requester="ALICE",
    requester_name="Alice",
    reason="because",
    terms={},
    subject="card1",
    subject_label="",
    summary="",
    exposure_usd=Decimal(50),
    digest="d1",
    key="co-abc-1",
    approvals_needed=1,
    policy_version="p1",
    created_at=SENT_AT,
    expires_at=SENT_AT + timedelta(hours=8),
    approved_at=SENT_AT,
    valid_until=SENT_AT + timedelta(minutes=15),
    first_sent_at=SENT_AT,
)


def attempt(
    finding: str | None,
    *,
    number: int = 1,
    purpose: str = "send",
    status: int | None = None,
    code: str | None = None,
) -> Attempt:
    answered_at = None if finding is None else SENT_AT
    return Attempt(
        f"R.{number}", "R", number, number, "me", purpose, SENT_AT, answered_at, status, code, None, finding
    )


def history(*attempts: Attempt) -> History:
    return History.of(attempts, card_calls.TOP_UP)


UNKNOWN = attempt("unknown")
DEBITED = attempt("debited", number=2, purpose="look")
REFUNDED = attempt("evidence", status=503, code="UPSTREAM_AUTH")


@pytest.mark.parametrize(
    ("attempts", "later", "holds", "step"),
    [
        ((), timedelta(0), True, Step.SEND),
        ((), timedelta(0), False, Step.LOOK),
        ((UNKNOWN,), timedelta(0), True, Step.REPLAY),
        ((UNKNOWN,), timedelta(0), False, Step.LOOK),
        ((attempt(None),), timedelta(0), True, Step.REPLAY),
        ((attempt("wait"),), timedelta(0), False, Step.LOOK),
        ((UNKNOWN, DEBITED), timedelta(0), False, Step.REPLAY),
        ((UNKNOWN, attempt("traced", number=2, purpose="look")), timedelta(0), False, Step.REPLAY),
        ((REFUNDED,), timedelta(0), True, Step.LOOK),
        ((REFUNDED, DEBITED), timedelta(0), False, Step.REPLAY),
        # A 502 may be of a gateway that passed nothing on: without an approval the ledger is looked at first.
        ((attempt("unresolved", status=502, code="UNAVAILABLE"),), timedelta(0), False, Step.LOOK),
        ((attempt("unresolved", status=502, code="UNAVAILABLE"),), timedelta(0), True, Step.REPLAY),
        ((attempt("unresolved", status=409, code="ALREADY_PROCESSED"),), timedelta(0), False, Step.REPLAY),
        ((attempt("unresolved", status=200),), timedelta(0), False, Step.REPLAY),
        ((UNKNOWN, DEBITED), timedelta(hours=24), True, Step.LOOK),
    ],
)
def test_a_key_goes_out_only_while_it_may(
    attempts: tuple[Attempt, ...], later: timedelta, holds: bool, step: Step
) -> None:
    assert next_step(REQUEST, history(*attempts), SENT_AT + later, approval_holds=holds) is step


ANSWERS_TO_CHANGES = [
    pytest.param(endpoint, pair, row.spends_key, id=f"{endpoint} {pair[0]} {pair[1]}")
    for endpoint in ENDPOINTS
    if endpoint.facts.changes
    for pair, row in documented(endpoint).items()
]


@pytest.mark.parametrize(("endpoint", "answer", "spends_key"), ANSWERS_TO_CHANGES)
def test_after_a_doubt_a_key_that_an_answer_spent_is_only_looked_for(
    endpoint: Endpoint, answer: tuple[int, str], spends_key: bool
) -> None:
    """For every answer of the table, an order's 400 among them: another try is a new request."""
    status, code = answer
    refused = attempt("absent", number=2, purpose="replay", status=status, code=code)
    past = History.of((UNKNOWN, refused), endpoint)

    step = next_step(REQUEST, past, SENT_AT, approval_holds=True)

    assert step is (Step.LOOK if spends_key else Step.REPLAY)


def test_what_a_look_met_says_nothing_of_the_key() -> None:
    looked = attempt("absent", number=2, purpose="look", status=400, code="BAD_REQUEST")

    assert not history(UNKNOWN, looked).key_spent


def settled(
    evidence: Evidence,
    *,
    refused: bool = False,
    holds: bool = False,
    outdated: bool = False,
    after_s: float = QUIESCENCE.total_seconds(),
) -> Finding:
    answer = Outcome(Finding.EVIDENCE, "", cause="It was refused.") if refused else None
    outcome = settle(
        evidence,
        "Seen.",
        history=history(UNKNOWN),
        refused=answer,
        approval_holds=holds,
        outdated=outdated,
        now=SENT_AT + timedelta(seconds=after_s),
    )
    assert outcome.text.startswith(
        "It was refused." if refused and evidence is not Evidence.DONE else "Seen."
    )
    return outcome.finding


def test_what_a_look_proves() -> None:
    assert settled(Evidence.DONE) is Finding.SUCCEEDED
    assert settled(Evidence.UNDONE, after_s=0) is Finding.REFUSED, "debit and refund need no waiting"
    assert settled(Evidence.DEBITED) is Finding.UNKNOWN
    assert settled(Evidence.DEBITED, refused=True) is Finding.UNRESOLVED
    assert settled(Evidence.DEBITED, outdated=True) is Finding.UNRESOLVED
    assert settled(Evidence.UNPROVEN) is Finding.UNRESOLVED
    assert settled(Evidence.HALF_DONE) is Finding.UNRESOLVED
    assert settled(Evidence.UNSEEN) is Finding.UNRESOLVED
    assert settled(Evidence.UNSEEN, refused=True) is Finding.UNRESOLVED
    assert settled(Evidence.UNSEEN, holds=True) is Finding.UNKNOWN, "the same call again tells"
    assert settled(Evidence.UNSEEN, after_s=0) is Finding.UNKNOWN, "it may still arrive"


def test_absence_is_believed_only_when_nothing_of_ours_can_still_arrive() -> None:
    almost = QUIESCENCE.total_seconds() - 0.001
    for refused in (False, True):
        assert settled(Evidence.ABSENT, refused=refused, after_s=almost) is Finding.UNKNOWN
        assert settled(Evidence.ABSENT, refused=refused) is Finding.REFUSED
    assert settled(Evidence.ABSENT, holds=True) is Finding.UNKNOWN, "it may still be sent"
    assert settled(Evidence.ABSENT, holds=True, outdated=True) is Finding.REFUSED, "it may not"


def test_only_attempts_that_left_a_doubt_use_up_the_repeats() -> None:
    sure = [attempt(word, number=n) for n, word in enumerate(("wait", "held", "nothing_yet"))]
    doubts = [
        attempt(word, purpose="look") for word in ("absent", "debited", "unproven", "unreadable:UNAVAILABLE")
    ]
    assert history(*sure).unknown == 0
    assert history(*sure).not_executed == 3
    assert history(UNKNOWN, *doubts).unknown == 5


@pytest.mark.parametrize("finding", [Finding.WAIT, Finding.HELD, Finding.NOTHING_YET])
def test_what_was_not_executed_fails_when_its_approval_lapses_and_never_on_top_of_a_doubt(
    finding: Finding,
) -> None:
    lapsed = SENT_AT + timedelta(minutes=15)
    outcome = Outcome(finding, "Refused for now.")
    past = history(attempt(finding.value))
    assert after(outcome, REQUEST, past, lapsed, readable=True).event is Event.FAIL
    soon = after(outcome, REQUEST, past, lapsed - timedelta(seconds=1), readable=True)
    assert (soon.event, soon.due_in) == (None, timedelta(seconds=1))
    in_doubt = replace(REQUEST, outcome_unknown=True)
    assert after(outcome, in_doubt, past, lapsed, readable=True).event is None

    assert never_executed(REQUEST, past, lapsed)
    assert not never_executed(REQUEST, past, lapsed - timedelta(seconds=1))
    assert not never_executed(in_doubt, past, lapsed)
    assert not never_executed(REQUEST, history(attempt(finding.value), attempt(None, number=2)), lapsed)
    assert not never_executed(REQUEST, history(), lapsed), "nothing sent is for the expiry"


def test_a_doubt_is_for_good_and_the_eighth_makes_it_unresolved() -> None:
    outcome = Outcome(Finding.UNKNOWN, "?")
    seven = history(*(attempt("unknown", number=n) for n in range(7)))
    eight = history(*(attempt("unknown", number=n) for n in range(8)))
    change = after(outcome, REQUEST, seven, SENT_AT, readable=True)
    assert (change.event, change.outcome_unknown, change.due_in) == (None, True, timedelta(minutes=10))
    change = after(outcome, REQUEST, eight, SENT_AT, readable=True)
    assert (change.event, change.due_in) == (Event.LOSE_SIGHT, timedelta(minutes=15))
    unresolved = replace(REQUEST, state=State.UNRESOLVED)
    assert after(outcome, unresolved, eight, SENT_AT, readable=True).event is None
