"""The rolling limits: what is left of them, how many fit, and who is refused with which words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.errors import OverLimit
from bot.domain.limits import (
    WINDOW,
    Grant,
    Grants,
    LimitUse,
    Scope,
    most_possible_usd,
    never_approvable,
    never_fits,
    require_possible,
    uses,
)
from bot.domain.people import Limits

CENTS = st.decimals("0.01", "99999", places=2)


def used(spent: str, *, of: str = "100", scope: Scope = Scope.TOTAL, approver: str = "") -> LimitUse:
    return LimitUse(scope, Decimal(of), Decimal(spent), approver)


def test_all_of_what_is_left_may_be_used_and_not_a_cent_more() -> None:
    assert used("60").allows(Decimal(40))
    assert not used("60").allows(Decimal("40.01"))


def test_the_limit_that_would_be_passed_is_named() -> None:
    of_pair = used("99", scope=Scope.PAIR, approver="U0BOB")

    said = "by this requester with <@U0BOB>: 99.00 USD and 2.00 USD are more than 100.00 USD."
    assert said in of_pair.refusal(Decimal(2))
    assert "in all: 60.00 USD and 40.01 USD are more than" in used("60").refusal(Decimal("40.01"))


def test_what_a_lowered_limit_stops_is_said_in_one_line() -> None:
    said = (
        "The policy now has a 24-hour limit by one requester of 100.00 USD: 60.00 USD approved before and 50.00 USD"
        " pass it. Nothing was sent; request it again when it fits."
    )

    assert used("60", scope=Scope.REQUESTER).stop(Decimal(50)) == said
    assert "in all of 100.00 USD: 150.00 USD pass it." in used("0").stop(Decimal(150))


def test_nothing_is_left_of_a_limit_that_was_lowered_below_what_was_spent() -> None:
    found = used("120")

    assert found.left_usd == 0
    assert found.most_of(Decimal(1)) == 0
    said = "Everybody's limit in 24 hours is 100.00 USD, and 120.00 USD of it is used. This needs 99.00 USD."
    assert found.obstacle(Decimal(99)) == said


@given(CENTS, CENTS, CENTS)
def test_the_most_that_fits_is_allowed_and_one_more_is_not(
    limit: Decimal, spent: Decimal, each: Decimal
) -> None:
    found = LimitUse(Scope.REQUESTER, limit, spent)
    most = found.most_of(each)

    assert most == 0 or found.allows(most * each)
    assert not found.allows((most + 1) * each)


@pytest.mark.parametrize("scope", Scope)
def test_every_scope_has_its_words(scope: Scope) -> None:
    found = used("1.50", scope=scope, approver="U0BOB")

    assert found.label
    assert found.label_for_approvers
    assert found.used_with(Decimal(2)) == "3.50 of 100 used"
    assert found.used_with(Decimal("4998.50")) == "5,000 of 100 used"
    assert "24-hour limit" in found.refusal(Decimal(99))


NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def test_what_is_more_than_a_limit_by_itself_can_never_fit_and_the_smallest_limit_is_named() -> None:
    limits = Limits(per_requester_usd=Decimal(5000), per_pair_usd=Decimal(3000), total_usd=Decimal(20000))

    assert most_possible_usd(limits) == 3000
    assert never_fits(limits, Decimal(3000)) == ""
    assert never_fits(limits, Decimal("3000.01")) == (
        "Your limit with one approver in 24 hours is 3,000.00 USD: 3,000.01 USD in one request can never be"
        " approved. Request 3,000.00 USD at most."
    )
    assert never_fits(Limits(), Decimal(10**9)) == ""


SPENT = st.lists(st.tuples(st.integers(0, 23 * 60), st.integers(1, 60)), max_size=6)


@given(SPENT, st.integers(1, 120))
def test_it_fits_again_when_it_is_said_to_and_not_a_minute_before_the_last_minute(
    spent: list[tuple[int, int]], usd: int
) -> None:
    approved = [(NOON - timedelta(minutes=ago), Decimal(amount)) for ago, amount in spent]
    use = LimitUse(Scope.TOTAL, Decimal(100), sum((a for _, a in approved), Decimal(0)), "", approved)
    fits_from = use.fits_from(Decimal(usd))

    def used_at(now: datetime) -> Decimal:
        return sum((a for at, a in approved if at >= now - WINDOW), Decimal(0))

    if fits_from is None:
        assert usd > 100 or not approved
        return
    assert used_at(fits_from) + usd <= 100
    if not use.allows(Decimal(usd)):
        assert used_at(fits_from - timedelta(minutes=1)) + usd > 100


def test_a_limit_that_is_passed_only_by_what_else_was_approved_says_from_when_on_it_fits() -> None:
    approved = [(NOON - timedelta(hours=3), Decimal(60)), (NOON, Decimal(30))]
    use = LimitUse(Scope.REQUESTER, Decimal(100), Decimal(90), "", approved)

    for shown in (use.warning(Decimal(20)), use.caution(Decimal(20)), use.refusal(Decimal(20))):
        assert "from 2026-03-03 09:01 UTC on, unless more is approved meanwhile" in shown


def test_who_would_approve_what_no_limit_allows_is_told_to_reject_it() -> None:
    limits = Limits(per_requester_usd=Decimal(500), total_usd=Decimal(900))

    assert never_approvable(Limits(), Decimal(10**9)) == ""
    assert never_approvable(limits, Decimal(500)) == ""
    assert never_approvable(limits, Decimal("500.01")) == (
        "500.01 USD is more than a 24-hour limit of 500.00 USD by itself: nobody can approve this. Reject it; its"
        " requester can request less."
    )


@pytest.mark.parametrize(
    ("limits", "whose"),
    [
        (Limits(per_requester_usd=Decimal(10)), "Your limit in 24 hours is 10.00 USD"),
        (Limits(per_pair_usd=Decimal(10)), "Your limit with one approver in 24 hours is 10.00 USD"),
        (Limits(total_usd=Decimal(10)), "Everybody's limit in 24 hours is 10.00 USD"),
    ],
)
def test_each_limit_alone_refuses_what_it_can_never_allow(limits: Limits, whose: str) -> None:
    assert most_possible_usd(limits) == 10
    require_possible(limits, Decimal(10))
    with pytest.raises(OverLimit, match=whose):
        require_possible(limits, Decimal("10.01"))


# Alice has a second account, and so has Bob.
SAME = frozenset({frozenset({"U0ALICE", "U0ALICE2"}), frozenset({"U0BOB", "U0BOB2"})})


def is_same(one: str, other: str) -> bool:
    return one == other or frozenset({one, other}) in SAME


def granted(usd: str, requester: str, *approvers: str, hours_ago: int = 1) -> Grant:
    return Grant(NOON - timedelta(hours=hours_ago), Decimal(usd), "card", requester, frozenset(approvers))


GRANTS = Grants(
    made=(
        granted("100", "U0ALICE", "U0BOB", hours_ago=5),
        granted("20", "U0ALICE2", "U0CAROL", hours_ago=4),
        granted("3", "U0ALICE2", "U0BOB2", "U0DAVE", hours_ago=3),
        granted("1000", "U0DAVE", "U0BOB", hours_ago=2),
        granted("0", "U0ERIN", "U0BOB"),
    ),
    lost=(granted("0.5", "", hours_ago=6),),
)


def test_each_limit_counts_what_the_person_has_and_what_nobody_knows_of() -> None:
    limits = Limits(per_requester_usd=Decimal(500), per_pair_usd=Decimal(200), total_usd=Decimal(2000))

    found = uses(limits, GRANTS, requester="U0ALICE", is_same=is_same, approvers=["U0CAROL", "U0BOB"])

    assert [(one.scope, one.limit_usd, one.spent_usd, one.approver) for one in found] == [
        (Scope.REQUESTER, Decimal(500), Decimal("123.5"), ""),
        (Scope.PAIR, Decimal(200), Decimal("103.5"), "U0BOB"),
        (Scope.PAIR, Decimal(200), Decimal("20.5"), "U0CAROL"),
        (Scope.TOTAL, Decimal(2000), Decimal("1123.5"), ""),
    ]
    assert sorted(found[2].approved) == [
        (NOON - timedelta(hours=6), Decimal("0.5")),
        (NOON - timedelta(hours=4), Decimal(20)),
    ]


@pytest.mark.parametrize("name", ["per_requester_usd", "per_pair_usd", "total_usd"])
def test_a_limit_that_is_not_set_counts_nothing(name: str) -> None:
    limits = Limits(**{name: Decimal(10)})

    (found,) = uses(limits, GRANTS, requester="U0DAVE", is_same=is_same, approvers=["U0BOB"])

    assert (found.limit_usd, found.allows(Decimal(1))) == (Decimal(10), False)
    assert uses(Limits(), GRANTS, requester="U0DAVE", is_same=is_same, approvers=["U0BOB"]) == []


def test_sums_by_account_are_of_those_who_asked_and_with_their_approvers_where_that_is_wanted() -> None:
    assert GRANTS.by_account() == {"U0ALICE": 100, "U0ALICE2": 23, "U0DAVE": 1000}
    assert GRANTS.by_account(with_approvers=True) == {
        "U0ALICE": 100,
        "U0ALICE2": 23,
        "U0DAVE": 1003,
        "U0BOB": 1100,
        "U0BOB2": 3,
        "U0CAROL": 20,
    }


@pytest.mark.parametrize(
    ("scope", "whose"),
    [
        (Scope.REQUESTER, "a 24-hour limit by one requester of 50.00 USD: 60.00 USD pass it."),
        (Scope.PAIR, "a 24-hour limit by one requester with one approver of 50.00 USD: 60.00 USD pass it."),
        (Scope.TOTAL, "a 24-hour limit in all of 50.00 USD: 60.00 USD pass it."),
    ],
)
def test_what_a_lowered_limit_stops_reads_whose_limit_it_is(scope: Scope, whose: str) -> None:
    assert whose in LimitUse(scope, Decimal(50), Decimal(0)).stop(Decimal(60))


@pytest.mark.parametrize(
    ("spent_usd", "said"),
    [
        ("0", "50.00 USD: 60.00 USD pass it."),
        ("20", "50.00 USD: 20.00 USD approved before and 60.00 USD pass it."),
    ],
)
def test_what_a_lowered_limit_stops_reads_which_and_by_how_much(spent_usd: str, said: str) -> None:
    use = LimitUse(Scope.TOTAL, Decimal(50), Decimal(spent_usd))

    assert said in use.stop(Decimal(60))
    assert "Nothing was sent; request it again when it fits." in use.stop(Decimal(60))
