"""Deciding in somebody's place: what the file may say, and that two people never become three."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.config import Config
from bot.domain.people import Delegation, Standing
from bot.domain.requests import second_people, who_may_be_second
from tests.unit.test_config import SMALLEST, problems_of

PEOPLE = ["A", "B", "C", "D", "E"]
PAIRS = st.lists(st.tuples(st.sampled_from(PEOPLE), st.sampled_from(PEOPLE)), max_size=6)


@given(st.frozensets(st.sampled_from(PEOPLE)), PAIRS)
def test_delegation_never_lets_more_people_count_than_the_policy_names(
    named: frozenset[str], pairs: list[tuple[str, str]]
) -> None:
    standing = Standing.of(named, pairs)

    for order in permutations(PEOPLE):
        given = [p for p in order if p in standing.approvers]
        counted = second_people(given, asked_by="SOMEBODY", standing=standing)
        assert len(counted) <= len(named)
    assert named <= standing.approvers
    for person in PEOPLE:
        assert person not in who_may_be_second(person, standing)
        for away, delegate in pairs:
            if delegate not in named and away in named:
                assert delegate not in who_may_be_second(away, standing)
                assert away not in who_may_be_second(delegate, standing)


def test_who_is_no_approver_has_nothing_to_delegate_and_an_approver_needs_no_delegation() -> None:
    standing = Standing.of(frozenset({"B", "C"}), [("A", "D"), ("B", "C")])

    assert standing.approvers == {"B", "C"}
    assert not standing.are_one("B", "C")


def _file(row: str) -> str:
    return f"{SMALLEST}\n[[people.delegations]]\n{row}\n"


WHOLE = 'from = "@boss"\nto = "@dora"\nsince = 2026-03-02\nuntil = 2026-03-08\nreason = "on leave"'


def test_whole_days_count_in_the_teams_time_zone_the_last_one_included() -> None:
    text = _file(WHOLE) + '\n[alerts.hours]\ntimezone = "Europe/Berlin"\n'

    (found,) = Config.parse(text.encode()).policy.delegations

    assert (found.away, found.delegate, found.reason) == ("@boss", "@dora", "on leave")
    assert found.since == datetime(2026, 3, 1, 23, tzinfo=UTC)
    assert found.until == datetime(2026, 3, 8, 23, tzinfo=UTC)
    assert found.in_force(found.since)
    assert not found.in_force(found.until)
    assert found.in_force(found.until - timedelta(seconds=1))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (('to = "@dora"', 'to = "@boss"'), "people.delegations[1].to is the person who is away."),
        (("2026-03-08", "2026-03-01"), "people.delegations[1].until is not after since."),
        (("2026-03-08", "2026-09-08"), "more than 92 days"),
        (("2026-03-08", "2026-03-08T10:00:00"), "must be a date such as 2026-03-02"),
        (("2026-03-08", '"soon"'), "must be a date such as 2026-03-02"),
        (('reason = "on leave"', ""), "people.delegations[1].reason is needed."),
        (('to = "@dora"', 'too = "@dora"'), "people.delegations[1].too is not known. Did you mean to?"),
        (('"@dora"', '"Dora"'), "is 'Dora', which is not an \"@user\" or a Slack id."),
        (("on leave", 'on leave"\n[[people.delegations]]\n' + WHOLE[:-1]), "overlaps another delegation"),
    ],
)
def test_every_mistake_in_a_delegation_is_named(change: tuple[str, str], problem: str) -> None:
    assert any(problem in said for said in problems_of(_file(WHOLE.replace(*change)))), problems_of(
        _file(WHOLE.replace(*change))
    )


@pytest.mark.parametrize(
    ("other", "overlaps"),
    [
        (("ann", "dan", 0, 2), True),
        (("ann", "dan", 1, 3), True),
        (("ann", "dan", 2, 3), False),
        (("ann", "dan", -1, 0), False),
        (("ann", "dan", -1, 1), True),
        (("ann", "dan", 3, 4), False),
        (("ann", "dan", -3, -2), False),
        (("ann", "eve", 0, 2), False),
        (("bob", "dan", 0, 2), False),
    ],
)
def test_two_rows_overlap_where_one_day_is_in_both_of_the_same_two_people(
    other: tuple[str, str, int, int], *, overlaps: bool
) -> None:
    def row(away: str, delegate: str, since: int, until: int) -> Delegation:
        noon = datetime(2026, 3, 2, 12, tzinfo=UTC)
        return Delegation(away, delegate, noon + timedelta(days=since), noon + timedelta(days=until), "")

    one = row("ann", "dan", 0, 2)
    assert one.overlaps(row(*other)) is overlaps
    assert row(*other).overlaps(one) is overlaps
