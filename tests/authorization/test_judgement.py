"""Every cell of who may decide: what somebody is × who asked × who decided before × state × time × terms × quorum.

What is expected is written here as a list of rules in the order in which they are said, from words and not from the
product's code: the first one that fits is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import product

import pytest

from bot.domain.people import Delegation, Standing
from bot.domain.requests import Decision, DecisionKind, Request, State
from bot.domain.requests.approvals import decide, who_may_decide, why_not_second
from bot.domain.visibility import may_see_private_values, waits_for

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
DAY = timedelta(days=1)

# Who there is. Ann is away, and Dan and Eve decide in her place; Fay's time is over and Gus's has not begun. Hal stands
# in for Ian, who is no approver and so has nothing to give. Bob has two accounts by his mailbox, Ann and Alice by the
# file. Kim is an approver since an hour ago and waits for another.
APPROVERS = ("ann", "ann-two", "bob", "bob-two", "carol", "alice-two", "amy")
WAITING = ("kim",)
DELEGATIONS = (
    ("ann", "dan", -DAY, DAY),
    ("ann", "eve", -DAY, DAY),
    ("ann", "fay", -2 * DAY, -timedelta(0)),
    ("ann", "gus", timedelta(microseconds=1), DAY),
    ("ian", "hal", -DAY, DAY),
)
ACCOUNTS = (("ann", "ann-two"), ("bob", "bob-two"), ("alice", "alice-two"))
NOBODYS = ("alice", "ian", "mia", "hal", "fay", "gus")
ACTORS = (*APPROVERS, *WAITING, "dan", "eve", *NOBODYS)
ASKERS = ("alice", "amy", "ann", "dan", "bob")
EARLIER = ((), ("carol",), ("ann",), ("dan",), ("bob",), ("carol", "bob-two"))

# The same in the words of the rules, by hand.
DECIDES_FOR = {"dan": "ann", "eve": "ann"}
PERSON = {"ann-two": "ann", "bob-two": "bob", "alice-two": "alice"}


@dataclass(frozen=True)
class Cell:
    actor: str
    asker: str
    earlier: tuple[str, ...]
    state: State
    is_late: bool
    is_other: bool  # other terms were shown than are on record
    needed: int


def _person(account: str) -> str:
    return PERSON.get(account, account)


def _seat(account: str) -> str:
    """Whose word this account's is, where it decides for another one."""
    return _person(DECIDES_FOR.get(account, account))


def _linked(one: str, other: str) -> bool:
    return _seat(one) == _seat(other)


RULES: list[tuple[str, Callable[[Cell], bool]]] = [
    ("own_request", lambda c: c.actor == c.asker),
    ("not_settled", lambda c: c.actor in WAITING),
    ("not_an_approver", lambda c: c.actor not in APPROVERS and c.actor not in DECIDES_FOR),
    ("own_other_account", lambda c: _person(c.actor) == _person(c.asker)),
    ("of_ones_delegate", lambda c: _linked(c.actor, c.asker)),
    ("already_decided", lambda c: c.actor in c.earlier),
    ("decided_from_other_account", lambda c: _person(c.actor) in map(_person, c.earlier)),
    ("decided_by_delegate", lambda c: any(_linked(c.actor, one) for one in c.earlier)),
    ("not_pending", lambda c: c.state is not State.PENDING),
    ("expired", lambda c: c.is_late),
    ("stale", lambda c: c.is_other),
    ("settles", lambda c: _counted(c) + 1 >= c.needed),
    ("counts", lambda c: True),
]


def _expected(cell: Cell) -> str:
    return next(reason for reason, fits in RULES if fits(cell))


def _counted(cell: Cell) -> int:
    """Of those who approved before, how many are people of their own and none of them the asker."""
    seats = {_seat(one) for one in cell.earlier} - {_seat(cell.asker)}
    return len(seats)


def _standing() -> Standing:
    delegations = [Delegation(a, d, NOW + since, NOW + until, "") for a, d, since, until in DELEGATIONS]
    in_force = [(d.away, d.delegate) for d in delegations if d.in_force(NOW)]
    made = Standing.of(frozenset(APPROVERS), in_force).with_persons(ACCOUNTS)
    return replace(made, waiting=frozenset(WAITING))


def _request(cell: Cell) -> Request:
    return Request(
        id="R-7K3M", program="main", kind="card_topup", state=cell.state, version=1, requester=cell.asker,
        requester_name=cell.asker, reason="Lunch", terms={}, subject="card", subject_label="", summary="50 USD",
        exposure_usd=Decimal(50), digest="as it is", key="key", approvals_needed=cell.needed, policy_version="1",
        created_at=NOW - DAY, expires_at=NOW if cell.is_late else NOW + timedelta(microseconds=1),
    )  # fmt: skip


def _decisions(cell: Cell) -> list[Decision]:
    kinds = (*(DecisionKind.APPROVE for _ in cell.earlier), DecisionKind.REJECT)
    # A rejection that is on record counts for nothing here.
    return [
        Decision(f"D{n}", "R-7K3M", kind, actor, actor, cell.asker, "as it is", "1", "mac", NOW)
        for n, (kind, actor) in enumerate(zip(kinds, (*cell.earlier, "carol"), strict=True))
    ]


def _cells() -> Iterator[Cell]:
    for values in product(ACTORS, ASKERS, EARLIER, State, (False, True), (False, True), (1, 2, 3)):
        yield Cell(*values)


def test_each_of_the_cells_of_an_approval_has_the_reason_that_the_rules_give() -> None:
    standing = _standing()
    wrong: list[tuple[Cell, object, object]] = []
    met = dict.fromkeys((reason for reason, _ in RULES), 0)
    for cell in _cells():
        verdict = decide(
            _request(cell),
            _decisions(cell),
            actor=cell.actor,
            standing=standing,
            shown_digest="another" if cell.is_other else "as it is",
            now=NOW,
        )
        expected = _expected(cell)
        met[expected] += 1
        if verdict.reason.value != expected:
            wrong.append((cell, verdict.reason.value, expected))
        counts = expected in ("settles", "counts")
        if counts and verdict.approvals != _counted(cell) + 1:
            wrong.append((cell, verdict.approvals, _counted(cell) + 1))
        if verdict.counts is not counts:
            wrong.append((cell, verdict.counts, counts))

    assert not wrong, (len(wrong), wrong[:5])
    assert all(met.values()), f"a rule that no cell meets: {met}"
    assert sum(met.values()) == len(ACTORS) * len(ASKERS) * len(EARLIER) * len(State) * 2 * 2 * 3


def _plain_cells() -> Iterator[Cell]:
    for actor, asker, earlier, state in product(ACTORS, ASKERS, EARLIER, State):
        yield Cell(actor, asker, earlier, state, is_late=False, is_other=False, needed=2)


def test_who_may_decide_next_is_who_would_not_be_refused() -> None:
    standing = _standing()
    for cell in _plain_cells():
        able = _expected(replace(cell, state=State.PENDING)) in ("settles", "counts")
        request, decisions = _request(cell), _decisions(cell)
        assert (cell.actor in who_may_decide(request, decisions, standing)) is able, cell
        waits = able and cell.state is State.PENDING
        assert waits_for(cell.actor, request, cell.earlier, standing) is waits, cell
        assert may_see_private_values(cell.actor, request, cell.earlier, standing) is waits, cell


@pytest.mark.parametrize("allowed", [(), ("mia",), ("mia", "carol", "alice", "dan")])
def test_where_others_than_approvers_may_give_the_word_the_rest_of_the_rules_is_the_same(
    allowed: tuple[str, ...],
) -> None:
    standing = _standing()
    rules: dict[str, Callable[[Cell], bool]]
    for cell in _plain_cells():
        reason = why_not_second(
            cell.actor, asked_by=cell.asker, standing=standing, earlier=cell.earlier, allowed=allowed
        )
        rules = {
            **dict(RULES),
            "not_settled": lambda c: c.actor in WAITING and c.actor not in allowed,
            "not_an_approver": lambda c: c.actor not in allowed,
        }
        names = list(rules)[:8]
        expected = next((name for name in names if rules[name](cell)), None)
        assert (reason and reason.value) == expected, cell


def test_two_approvers_without_anything_between_them_are_two_people() -> None:
    standing = _standing()
    assert not standing.are_one("bob", "carol")
    assert standing.are_one("dan", "eve")
    assert standing.named == frozenset({*APPROVERS, *WAITING})
