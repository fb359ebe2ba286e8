"""What no entry about a request may say after those before it, and what such an entry leaves of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.domain.requests import State, fingerprints
from storage import audit
from storage.log_record import open_requests
from storage.log_record.open_requests import Call, OpenRequest
from storage.protection.chain_replay import Replayed
from storage.transaction import RequestRow

AT = "2026-03-02T09:00:00.000000Z"
OTHER = "said otherwise"


def entry(action: str, body: dict[str, Any] | str = "{}", *, version: int = 9, by: str = "BOB") -> audit.Link:
    text = body if isinstance(body, str) else json.dumps({"digest": "d", "progress": "p", **body})
    return audit.Link(9, AT, by, f"request.{action}", f"request:R-1:{version}", "ok", text, "", "")


SUBMITTED = entry("submitted", {"state": "pending"}, version=1)
APPROVED = entry("approval", {"state": "approved", "words": {"D-1": "w"}}, version=2)
SENT = entry("attempt", {"state": "executing", "number": 1, "call": "c1"}, version=3)
LOST = entry("outcome", {"state": "unresolved", "attempt": 1, "answer": "a1"}, version=4)
PROPOSED = entry("resolution_proposed", {"state": "unresolved", "verdict": "happened"}, version=5)
REJECTED = entry("rejected", {"state": "rejected"}, version=2)


def after(*entries: audit.Link) -> Replayed:
    """What is known after these, none of which contradicts those before it."""
    found = Replayed()
    for one in entries:
        found.take_link(one)
    assert found.wrong == []
    return found


CALLS = fingerprints.of_calls({1: "a1"})


@pytest.mark.parametrize(
    ("before", "then", "why"),
    [
        pytest.param(
            (SUBMITTED,),
            entry("approval", {"state": "approved", "digest": OTHER}),
            "asks for something else",
            id="approved is what was submitted",
        ),
        pytest.param(
            (SUBMITTED, APPROVED),
            entry("attempt", {"state": "executing", "number": 1, "digest": OTHER}),
            "asks for something else",
            id="sent is what was submitted",
        ),
        pytest.param(
            (SUBMITTED, APPROVED, SENT, LOST),
            entry("attempt", {"state": "unresolved", "number": 1, "call": "c1"}),
            "was sent or looked up 1 times",
            id="the same call is not made twice",
        ),
        pytest.param(
            (SUBMITTED, APPROVED, SENT, LOST),
            entry("attempt", {"state": "unresolved", "number": 2, "calls": OTHER}),
            "had other calls",
            id="the next call leans on those before it",
        ),
        pytest.param(
            (SUBMITTED, APPROVED, SENT, LOST),
            entry("attempt", {"state": "unresolved", "number": 2, "calls": CALLS, "unanswered": [1]}),
            "had other calls",
            id="a call that was answered is not said to have no answer",
        ),
        pytest.param(
            (SUBMITTED, APPROVED, SENT, LOST, PROPOSED),
            entry("resolved_by_hand", {"state": "succeeded", "verdict": "happened"}),
            "by one person alone",
            id="one person does not say twice how it ended",
        ),
        pytest.param(
            (SUBMITTED, APPROVED, SENT, LOST, PROPOSED),
            entry("resolved_by_hand", {"state": "failed", "verdict": "did not"}, by="CAROL"),
            "by one person alone",
            id="two who say different things do not agree",
        ),
        pytest.param(
            (SUBMITTED,),
            entry("approval", {"state": "approved", "progress": OTHER}),
            "something else of its calls than the entry before",
            id="an approval calls nothing",
        ),
        pytest.param(
            (SUBMITTED, APPROVED),
            entry("cancelled", {"state": "cancelled", "progress": OTHER}),
            "something else of its calls than the entry before",
            id="nor does an end",
        ),
        pytest.param(
            (SUBMITTED, REJECTED),
            entry("approval", {"state": "approved"}),
            "has ended by the audit log",
            id="what was rejected is not approved",
        ),
        pytest.param(
            (SUBMITTED, REJECTED),
            entry("changed", {"state": "pending"}),
            "has ended by the audit log",
            id="nor open again in any other way",
        ),
    ],
)
def test_an_entry_that_does_not_follow_is_found_and_its_words_say_why(
    before: tuple[audit.Link, ...], then: audit.Link, why: str
) -> None:
    found = open_requests.contradiction(after(*before).open.get("R-1"), then)
    assert found is not None
    assert (found.request_id, why in found.why) == ("R-1", True), found.why


@pytest.mark.parametrize(
    ("before", "then"),
    [
        ((SUBMITTED,), APPROVED),
        ((SUBMITTED, APPROVED), SENT),
        ((SUBMITTED, APPROVED, SENT), LOST),
        (
            (SUBMITTED, APPROVED, SENT, LOST),
            entry("attempt", {"state": "unresolved", "number": 2, "calls": CALLS, "unanswered": []}),
        ),
        (
            (SUBMITTED, APPROVED, SENT, LOST, PROPOSED),
            entry("resolved_by_hand", {"state": "succeeded", "verdict": "happened"}, by="CAROL"),
        ),
        ((SUBMITTED, REJECTED), entry("reopened", {"state": "unresolved"})),
        ((SUBMITTED, REJECTED), entry("confirmed", {})),
        ((SUBMITTED, APPROVED), entry("noted", "no JSON")),
        ((SUBMITTED, APPROVED), entry("noted", "[" * 100_000)),
        ((SUBMITTED, APPROVED), entry("noted", "[]")),
    ],
)
def test_an_entry_that_follows_or_says_nothing_of_the_state_is_no_contradiction(
    before: tuple[audit.Link, ...], then: audit.Link
) -> None:
    assert open_requests.contradiction(after(*before).open.get("R-1"), then) is None


@pytest.mark.parametrize(
    ("says", "why"),
    [
        ({"state": "pending"}, "is approved by the audit log"),
        ({"state": "executing"}, "somebody changed its row to executing"),
        ({"state": "approved", "digest": OTHER}, "somebody changed its row"),
        ({"state": "approved", "progress": OTHER}, "its calls was changed"),
        ({"state": "approved"}, ""),
    ],
)
def test_what_somebody_wrote_into_a_row_gets_on_record_by_no_entry_that_changes_nothing(
    says: dict[str, Any], why: str
) -> None:
    known = after(SUBMITTED, APPROVED).open["R-1"]
    found = open_requests.contradiction(known, entry("noted", says), is_written=False)
    assert (found is not None) == bool(why)
    assert found is None or why in found.why
    if found is not None and says["state"] == "approved":
        assert " to " not in found.why, "its state is as it was"
    older = open_requests.contradiction(
        known, entry("noted", {"state": "approved"}, version=1), is_written=False
    )
    assert older is not None, "an older version of the row"
    assert "somebody changed its row" in older.why


def test_a_row_that_was_put_back_is_not_leant_on() -> None:
    known = after(SUBMITTED, APPROVED).open["R-1"]
    for row in (
        RequestRow("pending", 1, ""),
        RequestRow("approved", 1, ""),
        RequestRow("approved", 2, OTHER),
    ):
        found = open_requests.contradiction(known, SENT, row)
        assert found is not None, row
    assert open_requests.contradiction(known, SENT, RequestRow("approved", 2, "p")) is None


@pytest.mark.parametrize(
    ("before", "then", "left"),
    [
        ((SUBMITTED,), entry("attempt", {"state": "executing", "number": 1, "call": "c1"}), State.PENDING),
        ((SUBMITTED, APPROVED), entry("approval", {"state": "approved"}), State.APPROVED),
        ((SUBMITTED, APPROVED, SENT), entry("changed", {"state": "pending"}), State.EXECUTING),
        ((SUBMITTED, REJECTED), entry("approval", {"state": "approved"}), None),
        ((SUBMITTED, REJECTED), entry("doubted", {"progress": OTHER}), None),
        ((SUBMITTED, REJECTED), entry("signed_again", {"digest": OTHER}), None),
        ((SUBMITTED, APPROVED), entry("noted", "no JSON"), State.APPROVED),
    ],
)
def test_an_entry_that_does_not_follow_leaves_what_is_known_as_it_was(
    before: tuple[audit.Link, ...], then: audit.Link, left: State | None
) -> None:
    found = after(*before).open
    known = dict(found)
    open_requests.take(found, then)
    assert found == known
    assert (found["R-1"].state if left else found.get("R-1")) == left


def late(number: str, request_id: str = "R-1") -> audit.Link:
    body = json.dumps({"answer": "late"})
    return audit.Link(
        9, AT, "BOB", open_requests.ANSWERED_LATE, f"attempt:{request_id}.{number}", "ok", body, "", ""
    )


def calls(*entries: audit.Link) -> Any:
    return {one: known.made for one, known in after(SUBMITTED, APPROVED, SENT, *entries).open.items()}


def test_a_late_answer_is_of_a_call_that_was_made_or_of_none() -> None:
    assert calls(late("1")) == {"R-1": {1: Call("c1", "late", is_late=True)}}
    for of_none in (late("2"), late("x"), late("1", "R-2"), late("")):
        assert calls(of_none) == {"R-1": {1: Call("c1")}}


def test_calls_that_an_older_version_made_are_not_known_and_are_held_against_nothing() -> None:
    answered_unseen = entry("outcome", {"state": "unresolved", "attempt": 2, "answer": "a2"}, version=4)
    without_answer = entry("outcome", {"state": "unresolved", "attempt": 1}, version=4)
    for one in (answered_unseen, without_answer):
        known = after(SUBMITTED, APPROVED, SENT, one).open["R-1"]
        assert known.made is None
        again = entry("attempt", {"state": "unresolved", "number": 2, "calls": OTHER})
        assert open_requests.contradiction(known, again) is None
        found = {"R-1": known}
        open_requests.take_late_answer(found, late("1"))
        assert found["R-1"].made is None


def test_what_is_found_in_a_whole_log_is_said_with_the_number_of_its_entry() -> None:
    """As `audit verify --deep` goes through it."""
    found = Replayed()
    for one in (SUBMITTED, APPROVED, entry("attempt", {"state": "executing", "number": 1, "digest": OTHER})):
        found.take_link(one)
    ((request_id, how),) = found.wrong
    assert (request_id, how.startswith("request.attempt is on record at entry 9, and it ")) == ("R-1", True)


def test_after_a_late_answer_to_a_request_that_is_over_nothing_is_said_of_its_calls() -> None:
    over = (SUBMITTED, APPROVED, SENT, entry("outcome", {"state": "failed", "attempt": 1, "answer": "a1"}))
    assert after(*over).requests["R-1"].made == CALLS
    assert after(*over, late("1", "R-2")).requests["R-1"].made == CALLS
    assert after(*over, late("1")).requests["R-1"].made == ""


def test_of_nothing_known_nothing_is_older() -> None:
    assert not open_requests.says_older_terms(None, SENT)
    assert open_requests.says_older_terms(OpenRequest(1, State.APPROVED, 2, OTHER), LOST)
