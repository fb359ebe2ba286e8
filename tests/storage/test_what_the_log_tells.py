"""What entries of the audit log tell of policies, passkeys, webhook secrets, safe modes and what is counted."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from storage import audit
from storage.columns import time_text
from storage.log_record import LogFacts, counted
from storage.transaction import RequestRow

BEGAN = datetime(2026, 3, 2, 9, tzinfo=UTC)


def entry(
    seq: int, action: str, subject: str, body: dict[str, Any] | None = None, *, policy: str = "p1"
) -> audit.Link:
    at = time_text(BEGAN + timedelta(minutes=seq))
    return audit.Link(seq, at, "BOB", action, subject, "ok", json.dumps(body or {}), policy, "")


def test_the_last_twenty_policies_are_known_and_the_one_in_force_is_among_them() -> None:
    found = LogFacts().and_(
        entry(n, "policy.loaded", "policy", {"settings": {}}, policy=f"p{n}") for n in range(1, 31)
    )
    assert found.policies.keys() == {f"p{n}" for n in range(11, 31)}
    assert found.policy is not None
    assert found.policy.version == "p30"


def test_a_policy_that_is_loaded_again_is_no_older_one() -> None:
    first = (entry(n, "policy.loaded", "policy", policy=f"p{n}") for n in range(1, 21))
    again = entry(21, "policy.loaded", "policy", policy="p1")
    newer = entry(22, "policy.loaded", "policy", policy="p22")
    assert LogFacts().and_([*first, again, newer]).policies.keys() == {
        *(f"p{n}" for n in range(3, 21)),
        "p1",
        "p22",
    }


def test_people_are_notified_of_the_last_reset_of_passkeys_once() -> None:
    reset = entry(1, "passkey.reset", "passkey:all")
    found = LogFacts().and_([reset])
    assert found.reset is not None
    assert (found.reset.seq, found.reset.by) == (1, "BOB")
    reported = entry(2, "passkey.reset_reported", "passkey:all")
    assert found.and_([reported]).reset is None
    again = found.and_([reported, entry(3, "passkey.reset", "passkey:all")]).reset
    assert again is not None
    assert again.seq == 3


def secret(seq: int, version: int, state: str) -> audit.Link:
    return entry(seq, "webhook.secret", "program:main", {"version": version, "state": state})


def test_a_webhook_secret_has_its_number_for_good_and_no_older_number_comes_back() -> None:
    two = LogFacts().and_([secret(1, 1, "current"), secret(2, 2, "current")]).secrets["main"]
    assert (two.newest, two.taken) == (2, {1: BEGAN + timedelta(minutes=12), 2: None})
    for said_again in (secret(3, 1, "current"), secret(3, 2, "current"), secret(3, 2, "pending")):
        assert LogFacts(secrets={"main": two}).and_([said_again]).secrets["main"] == two
    pending = LogFacts(secrets={"main": two}).and_([secret(3, 3, "pending")]).secrets["main"]
    assert (pending.newest, pending.taken) == (3, two.taken), "it signs nothing before it is in force"


def test_of_safe_modes_the_one_that_nobody_left_is_in_force() -> None:
    restored = {"head": 1, "head_at": None}
    first, second = (entry(seq, "database.restored", "database", restored) for seq in (2, 5))
    voided = entry(3, "database.voided", "database", {"voided": 4})
    accepted = entry(4, "database.accepted", "database")

    within = LogFacts().and_([first, voided])
    assert within.restored is not None
    assert (within.restored.seq, within.restored.voided) == (2, 4)
    over = within.and_([accepted])
    assert (over.restored, [one.voided for one in over.safe_modes]) == (None, [4])
    assert (
        over.and_([entry(5, "database.voided", "database", {"voided": 9})]).safe_modes == over.safe_modes
    ), "nothing is void by a safe mode that is over"
    again = within.and_([second])
    assert again.restored is not None
    assert (again.restored.seq, again.restored.voided) == (5, None), (
        "what was void by then is looked at again"
    )
    assert [one.seq for one in again.safe_modes] == [2, 5]


def step(seq: int, action: str, state: str, **more: Any) -> audit.Link:
    body = {"kind": "card_topup", "digest": "d", "state": state, **more}
    return entry(seq, f"request.{action}", f"request:R-1:{seq}", body)


COUNTS = {
    "program": "main",
    "subject": "c",
    "requester": "A",
    "usd": "50",
    "by": ["BOB"],
    "asked": time_text(BEGAN),
}
PAID = (
    step(1, "approval", "approved", counts=COUNTS),
    step(2, "attempt", "executing"),
    step(3, "outcome", "succeeded"),
)


@pytest.mark.parametrize(
    ("then", "row", "is_written", "why"),
    [
        (
            step(4, "cancelled", "cancelled"),
            RequestRow("approved", 2, ""),
            True,
            "changed its row to approved",
        ),
        (step(4, "noted", "approved"), None, False, "changed its row to approved"),
        (step(4, "noted", "succeeded"), None, False, ""),
        (step(4, "noted", "none of ours"), None, False, ""),
        (step(4, "stage", "succeeded"), RequestRow("succeeded", 3, ""), True, ""),
        (step(4, "put_right", "succeeded"), RequestRow("approved", 2, ""), True, ""),
        (step(4, "outcome", "approved"), None, True, ""),
    ],
)
def test_what_counts_is_not_changed_by_a_row_that_says_something_else(
    then: audit.Link, row: RequestRow | None, why: str, *, is_written: bool
) -> None:
    found = LogFacts().and_(PAID).counted
    wrong = counted.contradiction(found, then, row, is_written=is_written)
    assert (wrong is not None) == bool(why)
    if wrong is not None:
        assert wrong.request_id == "R-1"
        assert "is succeeded by the audit log" in wrong.why
        assert why in wrong.why


def test_what_is_not_counted_is_held_against_nothing_here() -> None:
    unknown = step(4, "cancelled", "cancelled")
    row = RequestRow("approved", 2, "")
    assert counted.contradiction({}, unknown, row, is_written=True) is None


def test_what_was_approved_twice_counts_once_from_its_last_approval() -> None:
    """As a log has it in which an older version had a request approved whose row somebody had put back."""
    later = step(200, "approval", "approved", counts=COUNTS)
    for found in (
        LogFacts().and_([*PAID, later]).counted,
        LogFacts().and_(PAID).and_([later]).counted,
    ):
        assert [one.seq for hour in found.values() for one in hour.values()] == [200]
