"""What stands beside `failed`: that nothing moved, or that it came back, only where that is known."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from bot import operations
from bot.domain.requests import State, money_of_a_failure
from bot.operations import Operation
from handlers.views.requests import states
from tests.unit.test_outcomes_planning import REQUEST

FAILED = replace(REQUEST, state=State.FAILED)


@pytest.mark.parametrize(
    ("outcome", "in_doubt", "says"),
    [
        ({"status": 402, "code": "INSUFFICIENT_FUNDS"}, False, "nothing moved"),
        ({"status": 400, "may_have_come_back": True}, False, "nothing moved, or it came back"),
        ({"debit_usd": None, "refund_usd": None}, True, "nothing moved"),
        ({"debit_usd": "-50.00", "refund_usd": "50.00"}, True, "it came back"),
        ({"returned_usd": "258.34"}, True, "it came back"),
        (None, True, "nothing moved, or it came back"),
        (None, False, "nothing moved"),
    ],
)
def test_a_failure_says_of_its_money_what_is_known(outcome: Any, in_doubt: bool, says: str) -> None:
    request = replace(FAILED, outcome=outcome, outcome_unknown=in_doubt)

    assert money_of_a_failure(request) == says
    assert states.word_of(request) == f"failed ({says})"


@pytest.mark.parametrize("kind", ["card_close", "card_order"])
def test_what_counts_for_no_limit_may_have_moved_money_all_the_same(kind: str) -> None:
    in_doubt = replace(FAILED, kind=kind, exposure_usd=Decimal(0), outcome_unknown=True)

    assert states.word_of(in_doubt) == "failed (nothing moved, or it came back)"
    assert states.word_of(replace(in_doubt, outcome_unknown=False)) == "failed (nothing moved)"


@pytest.mark.parametrize("kind", sorted(operations.kinds()))
def test_a_failure_of_any_kind_speaks_of_money_only_where_money_could_have_moved(kind: str) -> None:
    cls = operations.kinds()[kind]
    word = states.word_of(replace(FAILED, kind=kind, exposure_usd=Decimal(0)))

    if cls.handling.is_urgent:
        assert "moved" not in word
    else:
        assert ("moved" in word) is cls.moves_money
        assert cls.moves_money or word == "failed (nothing was changed)"
    assert cls.moves_money or cls.may_have == Operation.may_have
