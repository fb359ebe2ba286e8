"""What the audit log keeps of a policy, and what follows from an earlier one."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from bot.domain.people import Delegation, Standing
from bot.domain.people.draft_only import approved_as_draft, is_said_in, sentence
from bot.domain.people.policy import LIMITS, Limits, People, Policy
from bot.domain.people.policy_on_record import counts_sums_otherwise, lowered, people_as_json, people_of
from bot.domain.process_roles import ALL, Role, UnknownRole, parse

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
PEOPLE = People(
    requesters=("@all", "U1"),
    approvers=("@ops",),
    admins=("U2", "U3"),
    same_person=(("U1", "U4"), ("U2", "U5", "U6")),
    settle=timedelta(hours=3),
)


def test_who_has_which_role_comes_back_from_the_log_as_it_was_but_for_reasons() -> None:
    delegations = (Delegation("U2", "U3", AT, AT + timedelta(days=2), "on holiday"),)
    recorded = json.loads(json.dumps(people_as_json(Policy(PEOPLE, delegations=delegations))))

    assert people_of(recorded) == (PEOPLE, (replace(delegations[0], reason=""),))


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize(
    ("before", "is_lowered"),
    [
        ("101.00 USD", True),
        ("100.00 USD", False),
        ("99.99 USD", False),
        ("no limit", True),
        ("?", True),
        (None, True),
    ],
)
def test_a_limit_is_lowered_where_it_was_higher_or_was_not_there(
    name: str, before: str | None, is_lowered: bool
) -> None:
    limits = Limits(**{name: Decimal(100)})
    then = {} if before is None else {f"limits.{name}": before}
    assert lowered(limits, then, {}) == (limits if is_lowered else Limits())


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_of_a_person_is_lowered_where_more_accounts_are_that_person(name: str) -> None:
    limits, same = Limits(**{name: Decimal(100)}), {f"limits.{name}": "100.00 USD"}
    now = {**same, "people.same_person": "U1 U4"}
    assert lowered(limits, same, now) == (Limits() if name == "total_usd" else limits)


def test_a_sum_of_24_hours_counts_otherwise_by_other_tiers_or_other_people() -> None:
    then = {"policy.default.tiers": "a", "policy.card_topup.tiers": "b", "people.same_person": "U1 U4"}
    assert not counts_sums_otherwise("card_topup", then, {**then, "policy.default.tiers": "c"})
    assert counts_sums_otherwise("card_topup", then, {**then, "policy.card_topup.tiers": "c"})
    assert counts_sums_otherwise("card_unload", then, {**then, "policy.default.tiers": "c"})
    assert not counts_sums_otherwise("card_unload", then, {**then, "policy.card_topup.tiers": "c"})
    assert counts_sums_otherwise("card_unload", then, {**then, "people.same_person": ""})


def test_all_accounts_of_a_person_are_theirs_and_whoever_waits_is_named_too() -> None:
    standing = Standing.of(frozenset({"A", "B"}), [("A", "D")]).with_persons([("A", "X"), ("C", "Y", "Z")])

    assert standing.accounts_of(["X"]) == {"A", "X"}
    assert standing.accounts_of(["B"]) == {"B"}
    assert standing.accounts_of(["Y", "B"]) == {"B", "C", "Y", "Z"}
    assert standing.accounts_of([]) == frozenset()
    assert replace(standing, waiting=frozenset({"W"})).named == {"A", "B", "W"}


def test_a_draft_says_that_nothing_is_sent_and_a_freeze_that_it_is_not_done() -> None:
    why = sentence("main")
    assert is_said_in(why)
    assert not is_said_in("Paused by Bob.")
    assert approved_as_draft(why, "not frozen").startswith(f"{why} The card is not frozen. You can approve")
    assert approved_as_draft(why, "").startswith(f"{why} You can approve")


def test_a_process_has_the_roles_that_are_named_and_no_name_is_guessed() -> None:
    assert parse("slack,web,worker") == ALL
    assert parse(" worker , worker ,") == {Role.WORKER}
    for text in ("", " , ", "slack,mail", "Slack", "slack web"):
        with pytest.raises(UnknownRole, match="slack, web and worker"):
            parse(text)
