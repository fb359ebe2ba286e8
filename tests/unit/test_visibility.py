"""Who may see what: a request waits for exactly those whose approval would count."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.cards import CardEntry, label, masked
from bot.domain.people import Actor, Standing
from bot.domain.requests import Decision, DecisionKind, Request, State, decide
from bot.domain.visibility import (
    may_see_card_details,
    may_see_form,
    may_see_private_values,
    waits_for,
)
from handlers.commands.lookup import mentioned

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
PEOPLE = ("U0ALICE", "U0BOB", "U0CAROL", "U0DORA", "U0ERIN")
SOME = st.frozensets(st.sampled_from(PEOPLE))
PAIRS = st.lists(st.tuples(st.sampled_from(PEOPLE), st.sampled_from(PEOPLE)), max_size=3)


def a_request(requester: str, state: State = State.PENDING) -> Request:
    return Request(
        id="R-7K3M",
        program="main",
        kind="card_topup",
        state=state,
        version=1,
        requester=requester,
        requester_name=requester,
        reason="because",
        terms={},
        subject="",
        subject_label="",
        summary="Top up",
        exposure_usd=Decimal(50),
        digest="digest",
        key="key",
        approvals_needed=2,
        policy_version="p",
        created_at=NOW,
        expires_at=NOW + timedelta(hours=8),
    )


def approval(person: str) -> Decision:
    return Decision(
        id=f"D-{person}",
        request_id="R-7K3M",
        kind=DecisionKind.APPROVE,
        actor=person,
        actor_name=person,
        requester="",
        digest="digest",
        policy_version="p",
        decided_at=NOW,
        mac="",
    )


@given(st.sampled_from(PEOPLE), st.sampled_from(PEOPLE), st.sampled_from(State), SOME, SOME, PAIRS)
def test_a_request_waits_for_exactly_those_whose_approval_would_count(
    person: str,
    requester: str,
    state: State,
    approvers: frozenset[str],
    voted: frozenset[str],
    delegated: list[tuple[str, str]],
) -> None:
    request, standing = a_request(requester, state), Standing.of(approvers, delegated)
    verdict = decide(
        request,
        [approval(one) for one in sorted(voted)],
        actor=person,
        standing=standing,
        shown_digest="digest",
        now=NOW,
    )

    assert waits_for(person, request, voted, standing) is verdict.counts
    assert may_see_private_values(person, request, voted, standing) is verdict.counts


def test_only_who_asked_for_card_details_sees_them() -> None:
    assert [p for p in PEOPLE if may_see_card_details(p, a_request("U0ALICE"))] == ["U0ALICE"]


def test_a_card_is_masked_in_one_way() -> None:
    assert (masked("4242"), masked(None), masked("")) == ("••4242", "••????", "••????")
    assert label("NORA QUIST", "4242") == CardEntry("c", "main", "NORA QUIST", "4242").label
    assert label("NORA QUIST", None) == "NORA QUIST ••????"


@pytest.mark.parametrize(
    ("named", "zone"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        ("Mars/Base", "UTC"),
        ("", "UTC"),
        ("../x", "UTC"),
        ("Europe", "UTC"),
    ],
)
def test_a_person_without_a_time_zone_we_know_has_utc(named: str, zone: str) -> None:
    assert Actor("U0BOB", "Bob", tz=named).zone.key == zone


@pytest.mark.parametrize(
    ("word", "person"),
    [
        ("<@U0BOB>", "U0BOB"),
        ("<@W0BOB|bob>", "W0BOB"),
        ("@bob", ""),
        ("<@U0BOB>,", ""),
        ("<#C0OPS>", ""),
        ("", ""),
    ],
)
def test_a_whole_word_may_mention_a_person(word: str, person: str) -> None:
    assert mentioned(word) == person


def test_a_form_that_was_not_submitted_is_its_owners_alone() -> None:
    assert may_see_form("U0ALICE", "U0ALICE") is True
    assert may_see_form("U0BOB", "U0ALICE") is False
