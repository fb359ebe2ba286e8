"""The rolling limits: what is left of them, how many fit, and who is refused with which words."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.errors import OverLimit
from bot.domain.limits import LimitUse, Scope, require_room

CENTS = st.decimals("0.01", "99999", places=2)


def used(spent: str, *, of: str = "100", scope: Scope = Scope.TOTAL, approver: str = "") -> LimitUse:
    return LimitUse(scope, Decimal(of), Decimal(spent), approver)


def test_all_of_what_is_left_may_be_used_and_not_a_cent_more() -> None:
    require_room([used("60")], Decimal(40))

    with pytest.raises(OverLimit, match=r"in all: 60\.00 USD and 40\.01 USD are more than 100\.00 USD"):
        require_room([used("60")], Decimal("40.01"))


def test_the_first_limit_that_would_be_passed_is_named() -> None:
    uses = [used("0"), used("99", scope=Scope.PAIR, approver="U0BOB"), used("99", scope=Scope.REQUESTER)]

    with pytest.raises(OverLimit, match=r"by this requester with <@U0BOB>: 99\.00 USD and 2\.00 USD"):
        require_room(uses, Decimal(2))


def test_nothing_is_left_of_a_limit_that_was_lowered_below_what_was_spent() -> None:
    found = used("120")

    assert found.left_usd == 0
    assert found.most_of(Decimal(1)) == 0
    assert found.obstacle() == "Everybody's limit in 24 hours of 100.00 USD leaves 0.00 USD."


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
    assert found.with_more(Decimal(2)) == "1.50 USD + 2.00 USD of 100.00 USD"
    assert found.left() == "98.50 USD of 100.00 USD left"
    assert "24-hour limit" in found.refusal(Decimal(99))
