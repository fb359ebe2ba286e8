"""What is said of a request that ends unsent here: never that nothing was sent, where nobody knows."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from bot.domain.requests import TERMINAL, State
from bot.domain.requests.in_doubt import (
    IN_DOUBT,
    ROWS_IN_DOUBT,
    ended_line,
    is_in_doubt,
    said_debited,
    said_in_doubt,
    said_unread,
    says_nothing_was_sent,
)
from bot.domain.requests.lifecycle import SENT, UNSENT
from tests.unit.test_domain_approvals import REQUEST

OPEN = replace(REQUEST, outcome_unknown=True)
SAYS_IT = "It expired. Nothing was sent to your card provider. You can request it again."
CARRIED_OUT = "It ended. It was not carried out. Make a new request if it is still wanted."


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("state", State)
def test_in_doubt_is_what_was_never_sent_from_here_and_may_have_been_all_the_same(
    state: State, unknown: bool
) -> None:
    assert is_in_doubt(replace(REQUEST, state=state, outcome_unknown=unknown)) is (
        unknown and state in UNSENT
    )


def test_where_it_is_in_doubt_nobody_reads_that_nothing_was_sent() -> None:
    assert says_nothing_was_sent(SAYS_IT)
    said = said_in_doubt(OPEN, SAYS_IT)

    assert said == f"It expired. {IN_DOUBT}"
    assert not says_nothing_was_sent(said)
    assert said_in_doubt(OPEN, said) == said, "once is enough"
    assert said_in_doubt(OPEN, "") == IN_DOUBT
    assert said_in_doubt(replace(OPEN, outcome_unknown=False), SAYS_IT) == SAYS_IT


@pytest.mark.parametrize(
    ("text", "was_called", "here"),
    [
        (SAYS_IT, False, "It was not sent from this database."),
        (CARRIED_OUT, True, "It was not carried out from this database."),
    ],
)
def test_while_its_ledger_is_unread_only_what_this_database_knows_is_said(
    text: str, was_called: bool, here: str
) -> None:
    said = said_unread(text, "its ledger", was_called=was_called)

    assert said.startswith(
        f"{text.split('.', maxsplit=1)[0]}. {here} Since Countersign started it could not read its ledger,"
    )
    assert not says_nothing_was_sent(said)
    assert "You can request it again." not in said
    assert "Make a new request" not in said
    assert said_unread(said, "its ledger", was_called=was_called) == said, "once is enough"


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize(
    ("unknown", "text", "line"),
    [
        (True, "", "ended_in_doubt"),
        (False, said_unread("", "its ledger"), "ended_unread"),
        (False, f"2 of 3. {ROWS_IN_DOUBT}", "ended_unread"),
        (False, SAYS_IT, ""),
    ],
)
def test_the_thread_says_so_only_of_what_ended_unsent_and_is_not_known_to_be(
    state: State, unknown: bool, text: str, line: str
) -> None:
    request = replace(REQUEST, state=state, outcome_unknown=unknown, outcome_text=text)
    assert ended_line(request) == (line if state in TERMINAL - SENT else "")


@pytest.mark.parametrize(
    ("usd", "found"),
    [
        ("5", "5.00 USD left the float"),
        ("0", "Your card provider carried something out"),
        ("-5", "Your card provider carried something out"),
    ],
)
def test_what_the_ledger_has_under_its_key_is_said_in_place_of_nothing_was_sent(usd: str, found: str) -> None:
    said = said_debited(replace(OPEN, outcome_text=SAYS_IT), Decimal(usd))

    assert said.startswith(f"It expired. {found} under its key all the same,")
    assert not says_nothing_was_sent(said)
