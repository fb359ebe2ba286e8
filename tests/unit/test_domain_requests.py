"""The state machine: every pair of state and event, and the graph of the written design."""

import pytest

from bot.domain.errors import IllegalTransition
from bot.domain.requests import COMMITTED, OPEN, SENT, TERMINAL, TRANSITIONS, Event, State, advance

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
