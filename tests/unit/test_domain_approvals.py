"""Judging one approval, pure: the order of the checks, the quorum, and what a decision's seal covers."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from bot.domain.people import Standing
from bot.domain.requests import (
    BY_ANOTHER,
    Conditions,
    Decision,
    DecisionKind,
    Reason,
    Request,
    State,
    Verdict,
    decide,
    decision_bytes,
    needs_confirmation,
    second_people,
    two_agree,
    who_may_be_second,
    why_not_second,
)

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
REQUEST = Request(
    id="R-7K3M",
    program="main",
    kind="card_topup",
    state=State.PENDING,
    version=1,
    requester="ALICE",
    requester_name="Alice",
    reason="because",
    terms={"amount_usd": "50.00"},
    subject="card1",
    subject_label="NORA ••4242",
    summary="Top up NORA ••4242 by 50.00 USD",
    exposure_usd=Decimal(50),
    digest="d1",
    key="co-abc-1",
    approvals_needed=2,
    policy_version="p1",
    created_at=NOW,
    expires_at=NOW + timedelta(hours=8),
)
BY_BOB = Decision(
    id="1",
    request_id="R-7K3M",
    kind=DecisionKind.APPROVE,
    actor="BOB",
    actor_name="Bob",
    requester="ALICE",
    digest="d1",
    policy_version="p1",
    mac="m",
    decided_at=NOW,
)
GROUP = frozenset({"ALICE", "BOB", "CAROL"})


def judged(
    request: Request = REQUEST,
    earlier: tuple[Decision, ...] = (),
    *,
    actor: str = "BOB",
    approvers: frozenset[str] = GROUP,
    shown: str = "d1",
    now: datetime = NOW,
) -> Verdict:
    standing = Standing(approvers)
    return decide(request, earlier, actor=actor, standing=standing, shown_digest=shown, now=now)


@pytest.mark.parametrize("state", State)
def test_only_a_pending_request_takes_an_approval(state: State) -> None:
    verdict = judged(replace(REQUEST, state=state))
    assert verdict.reason is (Reason.COUNTS if state is State.PENDING else Reason.NOT_PENDING)


def test_the_quorum_counts_people_and_not_clicks() -> None:
    assert judged() == Verdict(Reason.COUNTS, 1)
    assert judged(earlier=(BY_BOB,)) == Verdict(Reason.ALREADY_DECIDED, 1)
    assert judged(earlier=(BY_BOB,), actor="CAROL") == Verdict(Reason.SETTLES, 2)
    assert judged(earlier=(replace(BY_BOB, kind=DecisionKind.RESOLVE),)) == Verdict(Reason.COUNTS, 1)


def test_two_who_became_one_person_since_they_approved_are_one_of_the_quorum() -> None:
    """Bob and Dora approved as approvers both; now Dora decides in the place of Bob."""
    by_dora = replace(BY_BOB, id="2", actor="DORA")
    standing = Standing.of(GROUP, [("BOB", "DORA")])
    request = replace(REQUEST, approvals_needed=3)

    verdict = decide(request, (BY_BOB, by_dora), actor="CAROL", standing=standing, shown_digest="d1", now=NOW)

    assert verdict == Verdict(Reason.COUNTS, 2)


@pytest.mark.parametrize(
    ("actor", "earlier", "reason"),
    [
        ("ALICE", (), Reason.OWN_REQUEST),
        ("MALLORY", (), Reason.NOT_AN_APPROVER),
        ("DORA", (), Reason.OF_ONES_DELEGATE),
        ("BOB", ("BOB",), Reason.ALREADY_DECIDED),
        ("ERIC", ("BOB",), Reason.DECIDED_BY_DELEGATE),
        ("BOB", ("ERIC",), Reason.DECIDED_BY_DELEGATE),
        ("CAROL", ("BOB",), None),
        ("BOB", ("ALICE",), None),
    ],
)
def test_who_may_act_as_the_second_person(
    actor: str, earlier: tuple[str, ...], reason: Reason | None
) -> None:
    """Dora decides in the place of Alice, who asked, and Eric in the place of Bob."""
    standing = Standing.of(GROUP, [("ALICE", "DORA"), ("BOB", "ERIC")])

    assert why_not_second(actor, asked_by="ALICE", standing=standing, earlier=earlier) is reason
    if not earlier:
        assert (actor in who_may_be_second("ALICE", standing)) == (reason is None)


def test_only_some_may_give_a_word_that_is_not_the_approvers_alone() -> None:
    standing = Standing(GROUP)

    judge = partial(why_not_second, asked_by="ALICE", standing=standing)
    assert judge("ADMIN", allowed={"ADMIN"}) is None
    assert judge("BOB", allowed={"ADMIN"}) is Reason.NOT_AN_APPROVER
    assert judge("ALICE", allowed={"ALICE"}) is Reason.OWN_REQUEST


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        ({"BOB"}, False),
        ({"ALICE"}, False),
        ({"ALICE", "DORA"}, False),
        ({"BOB", "ERIC"}, False),
        ({"ALICE", "BOB"}, True),
        ({"DORA", "ERIC"}, True),
        ({"BOB", "CAROL"}, True),
        ({"ALICE", "MALLORY"}, False),
    ],
)
def test_two_agree_where_they_are_two_and_one_of_them_could_be_the_second(
    said: set[str], holds: bool
) -> None:
    standing = Standing.of(GROUP, [("ALICE", "DORA"), ("BOB", "ERIC")])

    assert two_agree(said, asked_by="ALICE", standing=standing) is holds


@pytest.mark.parametrize(
    ("verdict", "reason"),
    [
        (
            judged(actor="ALICE", approvers=frozenset(), shown="x", now=NOW + timedelta(days=9)),
            Reason.OWN_REQUEST,
        ),
        (judged(actor="MALLORY", shown="x", now=NOW + timedelta(days=9)), Reason.NOT_AN_APPROVER),
        (judged(earlier=(BY_BOB,), shown="x", now=NOW + timedelta(days=9)), Reason.ALREADY_DECIDED),
        (judged(shown="x", now=NOW + timedelta(hours=8)), Reason.EXPIRED),
        (judged(shown="x"), Reason.STALE),
    ],
)
def test_who_somebody_is_comes_before_what_the_request_is(verdict: Verdict, reason: Reason) -> None:
    assert verdict.reason is reason
    assert not verdict.counts


def test_the_last_instant_counts_and_the_moment_of_expiry_does_not() -> None:
    assert judged(now=REQUEST.expires_at - timedelta(microseconds=1)).counts
    assert judged(now=REQUEST.expires_at).reason is Reason.EXPIRED


def test_the_seal_of_a_decision_covers_every_field_that_gives_it_force() -> None:
    # The assertion is a signature by itself, which names what it is about.
    shown_only = {"actor_name", "mac", "reason", "assertion"}
    for field in fields(Decision):
        if field.name in shown_only:
            continue
        other: Any = NOW + timedelta(seconds=1) if field.name == "decided_at" else "other"
        if field.name == "kind":
            other = DecisionKind.REJECT
        assert decision_bytes(replace(BY_BOB, **{field.name: other})) != decision_bytes(BY_BOB), field.name


def test_two_decisions_whose_fields_join_alike_are_sealed_apart() -> None:
    one = replace(BY_BOB, id="ab", request_id="c")
    other = replace(BY_BOB, id="a", request_id="bc")
    assert decision_bytes(one) != decision_bytes(other)


CONFIRMED = replace(BY_BOB, kind=DecisionKind.CONFIRM)


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("at_once", [False, True])
def test_what_was_done_at_once_and_happened_waits_for_a_confirmation(state: State, *, at_once: bool) -> None:
    request = replace(REQUEST, state=state, break_glass=at_once)
    waits = at_once and state is State.SUCCEEDED

    assert needs_confirmation(request, []) is waits
    assert needs_confirmation(request, [BY_BOB, replace(BY_BOB, kind=DecisionKind.BREAK_GLASS)]) is waits
    assert needs_confirmation(request, [BY_BOB, CONFIRMED]) is False


def test_without_a_standing_each_counts_once_as_the_person_they_were() -> None:
    assert second_people(iter(["BOB", "ALICE", "BOB", "CAROL"]), asked_by="ALICE") == ["BOB", "CAROL"]
    nobody_now = Standing(frozenset())
    assert second_people(["BOB", "CAROL"], asked_by="ALICE", standing=nobody_now) == ["BOB", "CAROL"]


def test_the_words_of_decisions_are_those_that_databases_hold() -> None:
    assert {kind.name: kind.value for kind in DecisionKind} == {
        "APPROVE": "approve",
        "REJECT": "reject",
        "BREAK_GLASS": "break_glass",
        "CONFIRM": "confirm",
        "RESOLVE": "resolve",
    }
    assert {DecisionKind.APPROVE, DecisionKind.REJECT, DecisionKind.CONFIRM} == BY_ANOTHER
    assert {reason.value for reason in Reason} == {
        "counts", "settles", "own_request", "own_other_account", "of_ones_delegate", "not_an_approver", "not_settled",
        "already_decided", "decided_from_other_account", "decided_by_delegate", "not_pending", "expired", "stale",
    }  # fmt: skip


WITH_CONDITIONS = replace(BY_BOB, conditions={"by": "ü", "after": ["BOB", 1]})


def test_what_the_mac_of_a_decision_covers_has_not_changed_by_a_byte() -> None:
    """MACs of these bytes are stored: other bytes would make every decision on record a forgery."""
    fields = [b"1", b"R-7K3M", b"approve", b"BOB", b"ALICE", b"d1", b"p1", b"2026-03-02T09:00:00+00:00", b""]
    conditions = b'{"after":["BOB",1],"by":"\\u00fc"}'
    for decision, signed in ((BY_BOB, fields), (WITH_CONDITIONS, [*fields, conditions])):
        assert decision_bytes(decision) == b"".join(bytes([0, 0, 0, len(one)]) + one for one in signed)


def test_a_verdict_makes_nobody_wait_where_nothing_is_said_of_it() -> None:
    assert Verdict(Reason.SETTLES) == Verdict(Reason.SETTLES, 0, timedelta(0))


def test_a_refusal_that_nobody_counted_for_counts_nobody() -> None:
    assert judged(replace(REQUEST, state=State.EXPIRED)).approvals == 0
    assert judged(now=REQUEST.expires_at).approvals == 0


@pytest.mark.parametrize(
    ("conditions", "stored"),
    [
        (Conditions(), None),
        (Conditions(needed=2), {"needed": 2}),
        (Conditions(waits=timedelta(minutes=10)), {"waits_s": 600}),
        (Conditions(3, timedelta(seconds=1)), {"needed": 3, "waits_s": 1}),
    ],
)
def test_what_a_policy_asked_for_is_stored_where_it_says_anything(
    conditions: Conditions, stored: dict[str, int] | None
) -> None:
    assert conditions.as_json() == stored
    assert Conditions.of([replace(BY_BOB, conditions=stored)]) == conditions


def test_of_several_approvals_the_strictest_conditions_count_and_nonsense_says_nothing() -> None:
    said: list[Any] = [
        None, {"needed": 2, "waits_s": 60}, {"needed": 3}, {"waits_s": 600}, "needed", {"needed": "9", "waits_s": None},
    ]  # fmt: skip
    made = [replace(BY_BOB, conditions=one) for one in said]
    assert Conditions.of(made) == Conditions(3, timedelta(minutes=10))
    assert Conditions.of([]) == Conditions(0, timedelta(0)) == Conditions()
    far = Conditions.of([replace(BY_BOB, conditions={"waits_s": 10**30})])
    assert far.waits == timedelta(seconds=10**8)


@pytest.mark.parametrize(("needed", "reason"), [(0, Reason.COUNTS), (1, Reason.COUNTS), (3, Reason.COUNTS)])
def test_what_is_asked_for_now_never_lowers_what_stands_in_the_request(needed: int, reason: Reason) -> None:
    judge = partial(decide, standing=Standing(GROUP), shown_digest="d1", now=NOW, needed=needed)
    assert judge(REQUEST, [], actor="BOB") == Verdict(reason, 1)
    second = judge(REQUEST, [BY_BOB], actor="CAROL")
    assert second == Verdict(Reason.COUNTS if needed > 2 else Reason.SETTLES, 2)
