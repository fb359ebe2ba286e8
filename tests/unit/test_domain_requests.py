"""The state machine: every pair of state and event, and the graph of the written design."""

from dataclasses import MISSING, fields, replace
from typing import Any

import pytest

from bot.domain.errors import IllegalTransition
from bot.domain.requests import (
    COMMITTED,
    OPEN,
    SENT,
    TERMINAL,
    TRANSITIONS,
    Event,
    Request,
    State,
    advance,
    money_of_a_failure,
    moves_of,
)
from bot.domain.requests.lifecycle import CAME_BACK, EITHER, HEADLINE, NOTHING_MOVED, UNSENT
from bot.domain.requests.stages import Stage
from tests.unit.test_domain_approvals import REQUEST

# Written out here once more, from the design and not from the code.
_ARROWS = """
pending     approve      approved
pending     break_glass  approved
pending     reject       rejected
pending     cancel       cancelled
pending     expire       expired
approved    claim        executing
approved    cancel       cancelled
approved    expire       expired
executing   claim        executing
executing   succeed      succeeded
executing   fail         failed
executing   lose_sight   unresolved
unresolved  claim        unresolved
unresolved  succeed      succeeded
unresolved  fail         failed
failed      land_late    succeeded
failed       reopen       unresolved
"""
ARROWS = {
    (State(a), Event(b)): State(c) for a, b, c in (line.split() for line in _ARROWS.split("\n") if line)
}


@pytest.mark.parametrize("event", Event)
@pytest.mark.parametrize("state", State)
def test_every_pair_of_state_and_event_moves_as_designed_or_not_at_all(state: State, event: Event) -> None:
    wanted = ARROWS.get((state, event))
    if wanted is not None:
        assert advance(state, event) is wanted
        return
    with pytest.raises(IllegalTransition, match=f"is {state} cannot take the event {event}"):
        advance(state, event)


def test_nothing_leaves_a_settled_state_but_what_landed_late() -> None:
    leaving = {(state, event) for state in TERMINAL for event in TRANSITIONS[state]}
    assert leaving == {(State.FAILED, Event.LAND_LATE), (State.FAILED, Event.REOPEN)}


def test_each_state_is_open_or_settled_and_counts_where_money_may_have_moved() -> None:
    assert set(State) == OPEN | TERMINAL
    assert not OPEN & TERMINAL
    assert SENT - {State.FAILED} < COMMITTED, "what may have moved money counts towards the limits"
    assert not COMMITTED & {State.REJECTED, State.CANCELLED, State.EXPIRED, State.FAILED}


def test_the_words_of_states_and_events_are_those_that_databases_and_people_read() -> None:
    assert [state.value for state in State] == [state.name.lower() for state in State]
    assert [event.value for event in Event] == [event.name.lower() for event in Event]
    assert [state.value for state in State] == [
        "pending", "approved", "executing", "succeeded", "failed", "unresolved", "rejected", "cancelled", "expired",
    ]  # fmt: skip


def test_the_groups_of_states_are_these() -> None:
    assert {State.PENDING, State.APPROVED, State.EXECUTING, State.UNRESOLVED} == OPEN
    assert {State.PENDING, State.APPROVED} == UNSENT
    assert {State.EXECUTING, State.SUCCEEDED, State.FAILED, State.UNRESOLVED} == SENT
    assert {State.APPROVED, State.EXECUTING, State.SUCCEEDED, State.UNRESOLVED} == COMMITTED


@pytest.mark.parametrize("event", Event)
def test_the_moves_of_an_event_are_its_arrows(event: Event) -> None:
    assert moves_of(event) == {before: after for (before, moved), after in ARROWS.items() if moved is event}


@pytest.mark.parametrize("state", State)
def test_a_request_is_called_by_its_stage_where_it_has_one(state: State) -> None:
    request = replace(REQUEST, state=state)
    assert request.word == state.value
    assert replace(request, stage=Stage.CREDITED).word == Stage.CREDITED.value
    assert request.is_open is (state in OPEN)


def test_a_batch_is_a_request_that_has_rows() -> None:
    assert replace(REQUEST, rows=None).is_batch is False
    assert replace(REQUEST, rows=0).is_batch is True


def test_a_summary_is_its_own_headline_unless_it_is_long_or_holds_a_hash() -> None:
    for summary, whole in (("x" * HEADLINE, False), ("x" * (HEADLINE + 1), True)):
        request = replace(REQUEST, summary=summary)
        assert request.headline == summary
        assert request.needs_whole_summary is whole
    submitted = replace(REQUEST, summary="Submit 0x" + "ab" * 32)
    assert submitted.headline == "Submit 0xababab…abab"
    assert submitted.needs_whole_summary is True


def test_a_new_request_has_met_nobody_and_nothing() -> None:
    """What a request begins with, where the one who makes it says nothing else."""
    begun = {f.name: getattr(REQUEST, f.name) for f in fields(Request) if f.default is not MISSING}
    assert begun == {
        "body_mac": "", "break_glass": False, "approved_at": None, "valid_until": None, "first_sent_at": None,
        "due_at": None, "remind_at": None, "key_expires_at": None, "attempts": 0, "fence": 0, "lease_owner": None,
        "lease_until": None, "outcome_unknown": False, "needs_person": False, "outcome": None, "outcome_text": "",
        "stage": None, "finished_at": None, "rows": None, "parent_id": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("outcome", "in_doubt", "says"),
    [
        ({}, False, NOTHING_MOVED),
        ({}, True, EITHER),
        ({"may_have_come_back": True}, True, EITHER),
        ({"refund_usd": "50.00"}, False, CAME_BACK),
        ({"debit_usd": "-50.00"}, True, EITHER),
        ({"debit_usd": None, "may_have_come_back": True}, True, NOTHING_MOVED),
    ],
)
def test_of_the_money_of_a_failure_no_more_is_said_than_is_known(
    outcome: dict[str, Any], says: str, *, in_doubt: bool
) -> None:
    request = replace(REQUEST, state=State.FAILED, outcome=outcome, outcome_unknown=in_doubt)
    assert money_of_a_failure(request) == says
    assert (NOTHING_MOVED, CAME_BACK, EITHER) == (
        "nothing moved",
        "it came back",
        "nothing moved, or it came back",
    )
