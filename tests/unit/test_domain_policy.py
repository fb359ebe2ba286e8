"""Policy values: tiers, inheritance of the default, and a policy that could never be met."""

from decimal import Decimal

import pytest

from bot import operations
from bot.domain.people import KindPolicy, Policy, never_met
from bot.domain.people.policy import People, Tier

KINDS = operations.listed(operations.kinds())
TIERED = KindPolicy(approvals=1, tiers=(Tier(Decimal(5000), 3), Tier(Decimal(500), 2)))


@pytest.mark.parametrize(
    ("exposure", "needed"),
    [("0", 1), ("499.99", 1), ("500", 1), ("500.01", 2), ("5000", 2), ("5000.01", 3), ("1000000000", 3)],
)
def test_a_tier_begins_above_its_amount_and_the_highest_counts(exposure: str, needed: int) -> None:
    assert TIERED.approvals_needed(Decimal(exposure)) == needed


def test_a_tier_never_lowers_what_the_kind_asks_for() -> None:
    assert KindPolicy(approvals=3, tiers=(Tier(Decimal(500), 2),)).approvals_needed(Decimal(501)) == 3


def test_a_kind_without_a_row_has_the_default() -> None:
    policy = Policy(
        people=People(approvers=("@a",)), kinds={"card_topup": TIERED}, default=KindPolicy(approvals=2)
    )
    assert policy.of("card_topup") is TIERED
    assert policy.of("card_close").approvals == 2


def _policy(approvals: int) -> Policy:
    return Policy(
        people=People(approvers=("@a",)),
        kinds={"card_topup": KindPolicy(tiers=(Tier(Decimal(1), approvals),))},
    )


def test_a_policy_that_nobody_could_meet_says_so_for_each_kind_with_the_fix() -> None:
    (problem,) = never_met(_policy(3), KINDS, None, frozenset({"BOB", "CAROL"}))
    assert "policy.card_topup asks for 3 approval(s), but there are only 2 approver(s)" in problem
    assert "Add approvers or ask for fewer" in problem
    assert never_met(_policy(2), KINDS, None, frozenset({"BOB", "CAROL"})) == []


def test_the_only_requester_does_not_count_as_an_approver() -> None:
    approvers = frozenset({"ALICE", "BOB"})
    assert "other than the only requester" in never_met(_policy(2), KINDS, frozenset({"ALICE"}), approvers)[0]
    assert never_met(_policy(2), KINDS, frozenset({"ALICE", "BOB", "CAROL"}), approvers) == []


def test_no_approvers_at_all_is_one_problem_and_not_one_for_each_kind() -> None:
    assert len(never_met(_policy(1), KINDS, None, frozenset())) == 1


def test_every_kind_of_the_contract_has_its_name_and_its_place_once() -> None:
    places = {kind: operations.kinds()[kind].place for kind in KINDS}

    assert len(set(KINDS)) == len(KINDS) == 16
    assert list(places.values()) == [*range(1, len(KINDS) + 1)], places
