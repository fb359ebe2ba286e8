"""Every cell of what an outcome does to a request, against the rules written out a second time.

Whether money moved is decided here, so nothing is sampled: each combination of what the history says, what a look shows
and what was answered is judged, and compared with the first rule of a list that fits.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product

import pytest

from bot.domain.requests import Event, Request, State
from bot.outcomes import Evidence, Finding, Outcome
from bot.outcomes.planning import (
    HELD_FOR,
    LAPSED,
    Change,
    History,
    Step,
    after,
    approval_is_valid,
    doubts,
    is_doubtful,
    is_outdated,
    may_have_been_sent_since,
    next_step,
    not_final,
    settle,
    was_refused,
)
from bot.outcomes.timing import (
    KEY_TRUSTED_FOR,
    KEY_TRUSTED_UNSEEN_FOR,
    QUIESCENCE,
    RETRY_PAUSES,
    URGENT_EVERY,
    URGENT_FOR,
    next_pause,
    reconcile_pause,
    urgent_pause,
    urgent_pauses_are_over,
)
from tests.unit.test_outcomes_planning import REQUEST, SENT_AT, attempt, history

MOMENT = timedelta(microseconds=1)
QUIET_AT = SENT_AT + QUIESCENCE
NOTHING = History(
    sent=False, unanswered=False, was_carried_out=False, not_executed=0, unknown=0, key_seen=False, key_spent=False,
    last_doubt_at=None, last_asked_at=None, replaced_at=None,
)  # fmt: skip
BOTH = (False, True)


def test_the_words_that_attempts_are_stored_with_are_these() -> None:
    assert [step.value for step in Step] == ["send", "replay", "look"]
    assert [evidence.value for evidence in Evidence] == [
        "done", "undone", "debited", "traced", "half_done", "absent", "unseen", "unproven", "replaced",
    ]  # fmt: skip


@pytest.mark.parametrize("state", list(State))
def test_what_was_not_sent_on_record_is_doubtful_from_the_moment_its_key_is_not_trusted(state: State) -> None:
    request = replace(REQUEST, state=state, key_expires_at=SENT_AT)
    is_unsent = state in (State.PENDING, State.APPROVED)

    assert not is_doubtful(request, SENT_AT - MOMENT)
    assert is_doubtful(request, SENT_AT) is is_unsent
    assert not is_doubtful(replace(request, key_expires_at=None), SENT_AT)


@pytest.mark.parametrize("state", [State.PENDING, State.APPROVED, State.EXECUTING, State.UNRESOLVED])
def test_what_may_have_been_sent_unseen_is_in_doubt_and_its_key_counts_for_no_longer(state: State) -> None:
    request = replace(REQUEST, state=state, first_sent_at=None, key_expires_at=None)
    was_sent = state in (State.EXECUTING, State.UNRESOLVED)
    until = request.created_at if was_sent else request.created_at + KEY_TRUSTED_UNSEEN_FOR
    in_doubt = {"outcome_unknown": True}

    def expiring(at: datetime) -> Request:
        return replace(request, key_expires_at=at)

    assert doubts(request, SENT_AT) == in_doubt | {"key_expires_at": until}
    assert doubts(request, SENT_AT, of_a_copy=False) == (in_doubt if was_sent else doubts(request, SENT_AT))
    assert doubts(expiring(SENT_AT), SENT_AT) == in_doubt, "it has expired already"
    assert ("key_expires_at" in doubts(expiring(SENT_AT + MOMENT), SENT_AT)) is was_sent
    assert ("key_expires_at" in doubts(replace(request, first_sent_at=SENT_AT), SENT_AT)) is was_sent


def test_a_trace_of_what_an_older_copy_forgot_may_be_as_old_as_the_request() -> None:
    sent = replace(REQUEST, created_at=SENT_AT - 5 * MOMENT, first_sent_at=SENT_AT, key_expires_at=None)
    of_a_copy = replace(sent, key_expires_at=sent.created_at + KEY_TRUSTED_UNSEEN_FOR)
    now = SENT_AT + MOMENT

    assert may_have_been_sent_since(sent, now) == SENT_AT
    assert may_have_been_sent_since(replace(sent, first_sent_at=None), now) == now
    assert may_have_been_sent_since(of_a_copy, now) == sent.created_at
    assert may_have_been_sent_since(replace(of_a_copy, first_sent_at=None), now) == sent.created_at
    early = replace(of_a_copy, first_sent_at=sent.created_at - MOMENT)
    assert may_have_been_sent_since(early, now) == early.first_sent_at


@pytest.mark.parametrize(("seen", "spent", "sent", "holds", "urgent"), list(product(*[BOTH] * 5)))
@pytest.mark.parametrize("forgotten", ["no", "by time", "given up", "not sent"])
def test_every_cell_of_what_to_do_next(
    forgotten: str, *, seen: bool, spent: bool, sent: bool, holds: bool, urgent: bool
) -> None:
    now = SENT_AT + KEY_TRUSTED_FOR
    request = {
        "no": replace(REQUEST, first_sent_at=SENT_AT + MOMENT, key_expires_at=now + MOMENT),
        "by time": replace(REQUEST, first_sent_at=SENT_AT, key_expires_at=None),
        "given up": replace(REQUEST, first_sent_at=SENT_AT + MOMENT, key_expires_at=now),
        "not sent": replace(REQUEST, first_sent_at=None, key_expires_at=None),
    }[forgotten]
    past = replace(NOTHING, key_seen=seen, key_spent=spent, sent=sent)
    outdated = forgotten in ("by time", "given up") and not urgent

    assert is_outdated(request, now, is_urgent=urgent) is outdated
    assert is_outdated(request, now) is (forgotten in ("by time", "given up"))
    step = next_step(request, past, now, approval_holds=holds, is_urgent=urgent)

    if outdated:
        assert step is Step.LOOK
    elif seen:
        assert step is Step.REPLAY
    elif spent or not holds:
        assert step is Step.LOOK
    else:
        assert step is (Step.REPLAY if sent else Step.SEND)


def test_an_approval_is_valid_until_its_end_and_not_without_one() -> None:
    assert approval_is_valid(replace(REQUEST, valid_until=SENT_AT + MOMENT), SENT_AT) is True
    assert approval_is_valid(replace(REQUEST, valid_until=SENT_AT), SENT_AT) is False
    assert approval_is_valid(replace(REQUEST, valid_until=None), SENT_AT) is False


TWICE = "Do not repeat this; the same key is sent again."
PERSON = "Someone must check this by hand. Do not repeat it."
CLOSE = "Do not repeat this. Two people close it with Resolve: they say whether it was in force for a while."
AGAIN = "Nothing moved. Make a new request if it is still wanted."


def _proved(
    evidence: Evidence, *, refused: bool, spent: bool, holds: bool, outdated: bool, quiet: bool, waits: bool
) -> tuple[Finding, str]:
    if evidence is Evidence.DONE:
        return Finding.SUCCEEDED, ""
    if evidence is Evidence.UNDONE:
        return Finding.REFUSED, "Nothing is missing. Request it again if it is still wanted."
    if evidence is Evidence.DEBITED:
        if refused or spent or outdated:
            return (
                Finding.UNRESOLVED,
                "Do not repeat this; Countersign checks it with your card provider.",
            )
        return Finding.UNKNOWN, TWICE
    if evidence is Evidence.TRACED and not (refused or spent or outdated):
        return Finding.UNKNOWN, TWICE
    if evidence in (Evidence.UNPROVEN, Evidence.TRACED, Evidence.HALF_DONE):
        return Finding.UNRESOLVED, PERSON
    if not quiet:
        return Finding.UNKNOWN, "An earlier attempt may still arrive; do not repeat this."
    if evidence is Evidence.REPLACED:
        return Finding.UNRESOLVED, CLOSE
    if holds and not refused and not spent and not outdated:
        return Finding.UNKNOWN, TWICE
    if evidence is Evidence.UNSEEN:
        return Finding.UNRESOLVED, PERSON
    return (Finding.NOTHING_YET, "A pause.") if waits else (Finding.REFUSED, AGAIN)


@pytest.mark.parametrize("evidence", Evidence)
@pytest.mark.parametrize("cause", [None, "", "Refused."])
def test_every_cell_of_what_a_look_proves(evidence: Evidence, cause: str | None) -> None:
    refused = None if cause is None else Outcome(Finding.EVIDENCE, "", cause=cause)
    for spent, holds, outdated, quiet, waits in product(*[BOTH] * 5):
        outcome = settle(
            evidence,
            "Seen.",
            history=replace(NOTHING, key_spent=spent, last_doubt_at=SENT_AT),
            refused=refused,
            approval_holds=holds,
            outdated=outdated,
            now=QUIET_AT if quiet else QUIET_AT - MOMENT,
            waits_for="A pause." if waits else "",
        )
        finding, then = _proved(
            evidence,
            refused=refused is not None,
            spent=spent,
            holds=holds,
            outdated=outdated,
            quiet=quiet,
            waits=waits,
        )
        first = "Refused. Seen." if cause and evidence is not Evidence.DONE else "Seen."
        kept = {Finding.NOTHING_YET: "A pause.", Finding.REFUSED: cause or ""}.get(finding, "")
        kept = "" if evidence is Evidence.UNDONE else kept
        cell = (spent, holds, outdated, quiet, waits)
        assert (outcome.finding, outcome.text, outcome.cause) == (finding, f"{first} {then}".strip(), kept), (
            cell
        )


def test_a_look_is_believed_only_once_nothing_can_arrive_any_more() -> None:
    for doubt, asked, quiet in (
        (None, None, False),
        (None, SENT_AT, True),
        (SENT_AT, None, False),
        (SENT_AT, QUIET_AT - MOMENT, False),
        (SENT_AT, QUIET_AT, True),
    ):
        assert replace(NOTHING, last_doubt_at=doubt, last_asked_at=asked).is_looked_at is quiet
        assert replace(NOTHING, last_doubt_at=doubt, replaced_at=asked).is_replaced is quiet
        # One of the two says nothing of the other.
        assert replace(NOTHING, last_doubt_at=doubt, last_asked_at=asked).is_replaced is False
        assert replace(NOTHING, last_doubt_at=doubt, replaced_at=asked).is_looked_at is False


@pytest.mark.parametrize(
    ("unanswered", "doubt", "seen", "spent", "sent", "done", "unknown"), list(product(*[BOTH] * 7))
)
def test_what_was_refused_was_sent_and_left_no_doubt_at_all(
    *, unanswered: bool, doubt: bool, seen: bool, spent: bool, sent: bool, done: bool, unknown: bool
) -> None:
    past = replace(
        NOTHING,
        unanswered=unanswered,
        last_doubt_at=SENT_AT if doubt else None,
        key_seen=seen,
        key_spent=spent,
        sent=sent,
        was_carried_out=done,
    )
    assert past.leaves_a_doubt is (unanswered or doubt or seen or spent)
    clean = not (unanswered or doubt or seen or spent or done or unknown)
    assert was_refused(replace(REQUEST, outcome_unknown=unknown), past) is (sent and clean)


@pytest.mark.parametrize(("urgent", "holds", "spent", "sent"), list(product(*[BOTH] * 4)))
def test_what_was_under_way_in_an_older_copy_is_sent_again_only_where_the_api_has_its_key(
    *, urgent: bool, holds: bool, spent: bool, sent: bool
) -> None:
    """Whatever approval is on record, and however far behind the clock is."""
    of_a_copy = replace(
        REQUEST, state=State.UNRESOLVED, key_expires_at=REQUEST.created_at, outcome_unknown=True
    )
    past = replace(NOTHING, sent=sent, key_spent=spent)
    for now in (
        REQUEST.created_at - timedelta(hours=1),
        REQUEST.created_at,
        REQUEST.created_at + timedelta(hours=2),
    ):
        chosen = next_step(of_a_copy, past, now, approval_holds=holds, is_urgent=urgent)
        assert chosen is Step.LOOK
        seen = replace(past, key_seen=True)
        assert next_step(of_a_copy, seen, now, approval_holds=holds, is_urgent=urgent) is Step.REPLAY
    late = REQUEST.created_at + timedelta(hours=20)
    if not urgent:
        assert next_step(of_a_copy, replace(past, key_seen=True), late, approval_holds=holds) is Step.LOOK


def test_nobody_reads_to_request_again_what_may_have_been_paid_since_an_older_copy_was_made() -> None:
    of_a_copy = replace(
        REQUEST, state=State.UNRESOLVED, key_expires_at=REQUEST.created_at, outcome_unknown=True
    )
    outcome = Outcome(
        Finding.REFUSED, "Not in the ledger. Nothing moved. Make a new request if it is still wanted."
    )
    change = after(outcome, of_a_copy, NOTHING, SENT_AT, readable=True)
    assert "Make a new request" not in change.text
    assert "may have been requested again and paid" in change.text


FIRST = SENT_AT - timedelta(hours=1)
OTHERS = [Finding.UNKNOWN, Finding.UNRESOLVED, Finding.EVIDENCE]
NOT_YET = [Finding.WAIT, Finding.NOTHING_YET, Finding.HELD]


@pytest.mark.parametrize("finding", Finding)
@pytest.mark.parametrize("urgent", BOTH)
@pytest.mark.parametrize("readable", BOTH)
@pytest.mark.parametrize("state", [State.EXECUTING, State.UNRESOLVED])
def test_every_cell_of_what_an_outcome_does(
    finding: Finding, state: State, *, urgent: bool, readable: bool
) -> None:
    outcome = Outcome(finding, "Said.", retry_after_s=7, cause="Cause.")
    for unknown, person, tries, first, outdated in product(BOTH, BOTH, (0, 1, 7, 8), (None, FIRST), BOTH):
        request = replace(
            REQUEST,
            state=state,
            outcome_unknown=unknown,
            needs_person=person,
            first_sent_at=first,
            created_at=SENT_AT - timedelta(hours=2),
            key_expires_at=SENT_AT if outdated else None,
            valid_until=SENT_AT + timedelta(minutes=15),
        )
        past = replace(NOTHING, sent=True, unknown=tries, not_executed=tries)
        change = after(outcome, request, past, SENT_AT, readable=readable, is_urgent=urgent)
        cell = (unknown, person, tries, first, outdated)
        since = SENT_AT - (first or SENT_AT)
        if finding is Finding.SUCCEEDED:
            assert change == Change(Event.SUCCEED, None, unknown, False, "Said."), cell
        elif finding is Finding.REFUSED:
            assert change == Change(Event.FAIL, None, unknown, False, "Said."), cell
        elif urgent and readable:
            now_unknown = unknown or finding in OTHERS
            lost = now_unknown and state is State.EXECUTING and since >= timedelta(seconds=1250)
            event = Event.LOSE_SIGHT if lost else None
            assert change == Change(event, urgent_pause(since), now_unknown, person, "Said."), cell
        elif finding in NOT_YET:
            pause = {
                Finding.HELD: timedelta(seconds=30),
                Finding.WAIT: timedelta(seconds=7),
                Finding.NOTHING_YET: {0: 5, 1: 5, 7: 600, 8: 600}[tries] * timedelta(seconds=1),
            }[finding]
            in_doubt = unknown or state is State.UNRESOLVED
            assert change == Change(None, pause, unknown, person and in_doubt, "Said."), cell
        else:
            pauses = {0: timedelta(seconds=5), 1: timedelta(seconds=5), 7: timedelta(minutes=10), 8: None}
            lost = (finding is Finding.UNRESOLVED or tries == 8) and state is State.EXECUTING
            needs = person or outdated or (finding is Finding.UNRESOLVED and not readable)
            due = pauses[tries] or timedelta(minutes=15)
            event = Event.LOSE_SIGHT if lost else None
            assert change == Change(event, due, True, needs, "Said."), cell


def test_a_day_after_the_first_send_an_unresolved_request_is_looked_at_once_a_day() -> None:
    outcome, past = Outcome(Finding.UNKNOWN, "?"), replace(NOTHING, unknown=8)
    for first, due in ((SENT_AT - timedelta(hours=24), 24 * 60), (SENT_AT - timedelta(hours=23), 15)):
        request = replace(REQUEST, state=State.UNRESOLVED, first_sent_at=first)
        assert after(outcome, request, past, SENT_AT, readable=True).due_in == timedelta(minutes=due)


def test_a_call_without_a_time_to_wait_waits_a_minute_and_pauses_of_a_kind_are_its_own() -> None:
    wait = Outcome(Finding.WAIT, "?")
    assert after(wait, REQUEST, NOTHING, SENT_AT, readable=True).due_in == timedelta(seconds=60)
    assert timedelta(seconds=30) == HELD_FOR
    own = Outcome(Finding.UNKNOWN, "?", pauses=(timedelta(seconds=2), timedelta(seconds=3)))
    for tries, due_s in ((1, 2), (2, 3), (3, 900)):
        assert after(
            own, REQUEST, replace(NOTHING, unknown=tries), SENT_AT, readable=True
        ).due_in == timedelta(seconds=due_s)


@pytest.mark.parametrize("valid_until", [None, SENT_AT, SENT_AT - MOMENT])
def test_without_an_approval_what_was_not_executed_has_failed(valid_until: datetime | None) -> None:
    request = replace(REQUEST, valid_until=valid_until, needs_person=True)
    for cause, text in (("Cause.", f"Cause. {LAPSED}"), ("", LAPSED)):
        change = after(Outcome(Finding.HELD, "Held.", cause=cause), request, NOTHING, SENT_AT, readable=True)
        assert change == Change(Event.FAIL, None, False, False, text)


def test_what_happened_and_may_be_undone_stays_as_it_is_and_is_looked_at_soon() -> None:
    for unknown, person in product(BOTH, BOTH):
        request = replace(REQUEST, outcome_unknown=unknown, needs_person=person)
        change = not_final(Outcome(Finding.SUCCEEDED, "Frozen."), request)
        assert change == Change(None, timedelta(seconds=5), unknown, person, "Frozen.")


#: What an attempt says -> carried out, not executed, nobody knew, key seen.
SAYS = {
    "succeeded": (True, 0, 1, False),
    "done": (True, 0, 1, False),
    "debited": (True, 0, 1, True),
    "traced": (False, 0, 1, True),
    "half_done": (True, 0, 1, False),
    "undone": (False, 0, 1, False),
    "absent": (False, 0, 1, False),
    "unseen": (False, 0, 1, False),
    "unproven": (False, 0, 1, False),
    "replaced": (False, 0, 1, False),
    "unknown": (False, 0, 1, False),
    "unresolved": (False, 0, 1, False),
    "evidence": (False, 0, 1, False),
    "refused": (False, 0, 1, False),
    "wait": (False, 1, 0, False),
    "held": (False, 1, 0, False),
    "nothing_yet": (False, 1, 0, False),
}
LEFT_A_DOUBT = {"unknown", "unresolved", "evidence", "debited", "traced"}


@pytest.mark.parametrize("finding", SAYS)
@pytest.mark.parametrize("purpose", ["send", "replay", "look"])
def test_every_finding_of_a_send_and_of_a_look_counts_as_it_should(finding: str, purpose: str) -> None:
    carried_out, not_executed, unknown, key_seen = SAYS[finding]
    is_send = purpose != "look"

    past = history(attempt(finding, purpose=purpose))

    assert past == History(
        sent=is_send,
        unanswered=False,
        was_carried_out=carried_out,
        not_executed=not_executed if is_send else 0,
        unknown=unknown,
        key_seen=key_seen,
        key_spent=False,
        last_doubt_at=SENT_AT if is_send and finding in LEFT_A_DOUBT else None,
        last_asked_at=SENT_AT,
        replaced_at=SENT_AT if finding == "replaced" else None,
    )


@pytest.mark.parametrize(
    ("finding", "status", "code", "seen"),
    [
        ("unresolved", 200, None, True),
        ("unresolved", 201, None, False),
        ("unknown", 200, None, False),
        ("unresolved", 409, "ALREADY_PROCESSED", True),
        ("unproven", 409, "ALREADY_PROCESSED", True),
        ("unproven", 200, None, False),
        ("unseen", 409, "ALREADY_PROCESSED", False),
        ("unknown", 409, "ALREADY_PROCESSED", False),
        ("debited", 409, "ALREADY_PROCESSED", True),
        ("traced", 409, "ALREADY_PROCESSED", True),
        ("absent", 200, "ALREADY_PROCESSED", False),
    ],
)
def test_what_proves_that_the_api_has_the_key(
    finding: str, status: int, code: str | None, *, seen: bool
) -> None:
    found = history(attempt(finding, status=status, code=code))
    assert found.key_seen is seen
    assert found.was_carried_out is (status == 200 or finding == "debited")


def test_times_of_several_attempts_are_of_the_last_one() -> None:
    later = SENT_AT + timedelta(minutes=1)
    first, second = attempt(None), replace(attempt(None, number=2), sent_at=later)
    past = history(second, first)
    assert (past.unanswered, past.unknown, past.last_doubt_at, past.last_asked_at) == (True, 2, later, None)
    looks = [
        replace(attempt("replaced", number=n, purpose="look"), sent_at=at)
        for n, at in ((1, later), (2, SENT_AT))
    ]
    assert (history(*looks).last_asked_at, history(*looks).replaced_at) == (later, later)
    assert history(first, replace(attempt("unknown", number=2), sent_at=later)).last_doubt_at == later
    assert history() == NOTHING


def test_what_cannot_wait_is_tried_every_five_seconds_and_then_ever_less_often() -> None:
    total = URGENT_FOR + sum(RETRY_PAUSES, timedelta(0))
    assert total == timedelta(seconds=120 + 1130)
    cells = {
        0: 5, 119: 5, 120: 5, 124: 5, 125: 15, 126: 14, 139: 5, 140: 30, 170: 60, 230: 120, 350: 300, 650: 600,
        1249: 5, 1250: 900, 86_399: 900, 86_400: 86_400,
    }  # fmt: skip
    for seconds, pause_s in cells.items():
        assert urgent_pause(timedelta(seconds=seconds)) == timedelta(seconds=pause_s), seconds
    assert urgent_pause(URGENT_FOR - MOMENT) == URGENT_EVERY == timedelta(seconds=5)
    assert urgent_pauses_are_over(total - MOMENT) is False
    assert urgent_pauses_are_over(total) is True


def test_pauses_are_used_up_one_by_one() -> None:
    assert [next_pause(n) for n in range(1, 9)] == [*RETRY_PAUSES, None]
    assert [pause.total_seconds() for pause in RETRY_PAUSES] == [5, 15, 30, 60, 120, 300, 600]
    assert next_pause(1, ()) is None
    assert reconcile_pause(timedelta(hours=24) - MOMENT) == timedelta(minutes=15)
    assert reconcile_pause(timedelta(hours=24)) == timedelta(days=1)
