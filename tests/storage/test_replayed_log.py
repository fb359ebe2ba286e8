"""What the audit log tells, entry by entry, of passkeys, drafts, codes, pauses and steps of requests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from storage.protection.chain_replay import Replayed, RequestReplayed

AT = "2026-03-02T09:00:00.000000Z"


def replayed(*entries: tuple[str, str, dict[str, Any]]) -> Replayed:
    found = Replayed()
    for action, subject, body in entries:
        found.take("BOB", action, subject, json.dumps(body), AT)
    assert found.entries == len(entries)
    return found


ADDED = [
    ("passkey.added", f"passkey:{one}", {"person": who})
    for one, who in (("p1", "A"), ("p2", "A"), ("p3", "B"))
]


@pytest.mark.parametrize(
    ("then", "left"),
    [
        ([], {"p1": "A", "p2": "A", "p3": "B"}),
        ([("passkey.ended", "passkey:p1", {})], {"p1": "", "p2": "A", "p3": "B"}),
        ([("passkey.all_ended", "person:A", {"person": "A"})], {"p1": "", "p2": "", "p3": "B"}),
        ([("passkey.all_ended", "person:C", {"person": "C"})], {"p1": "A", "p2": "A", "p3": "B"}),
        ([("passkey.reset", "passkeys", {})], {"p1": "", "p2": "", "p3": ""}),
        ([("passkey.reset", "passkeys", {}), ADDED[2]], {"p1": "", "p2": "", "p3": "B"}),
        ([("passkey.renamed", "passkey:p1", {"person": "C"})], {"p1": "A", "p2": "A", "p3": "B"}),
    ],
)
def test_a_passkey_counts_until_it_its_persons_or_everybodys_ended(
    then: list[Any], left: dict[str, str]
) -> None:
    assert replayed(*ADDED, *then).passkeys == left


def test_of_drafts_pauses_and_codes_the_last_word_counts() -> None:
    found = replayed(
        ("program.drafts_on", "program:main", {}),
        ("program.drafts_on", "program:other", {}),
        ("program.drafts_off", "program:main", {}),
        ("program.write_paused", "program:main", {}),
        ("program.write_resumed", "program:other", {}),
        ("code.name_person", "code:emp-1", {"person": "U1"}),
        ("code.name_person", "code:emp-1", {}),
        ("code.name_person", "somebody:emp-2", {"person": "U1"}),
    )
    assert found.drafts == {"main": False, "other": True}
    assert found.paused == {"main": True, "other": False}
    assert found.codes == {"emp-1": ""}


def step(action: str, version: int, state: str, **body: Any) -> tuple[str, str, dict[str, Any]]:
    return f"request.{action}", f"request:R-1:{version}", {"digest": "d", "state": state, **body}


def test_a_request_is_where_its_last_possible_step_left_it() -> None:
    known = replayed(step("submitted", 1, "pending"), step("approval", 2, "approved")).requests["R-1"]
    assert (known.submitted, known.state, known.version, known.newest) == (True, "approved", "2", 2)
    assert known.decisions == {("approve", "BOB")}

    invented = replayed(step("submitted", 1, "pending"), step("changed", 2, "succeeded")).requests["R-1"]
    assert (invented.state, invented.version) == ("pending", "1"), "nothing goes from pending to succeeded"
    assert invented.newest == 2


@pytest.mark.parametrize(
    ("known", "state", "version", "may"),
    [
        (("pending", "1"), "approved", "2", True),
        (("pending", "1"), "approved", "1", False),
        (("pending", "1"), "succeeded", "2", False),
        (("pending", "1"), "pending", "1", True),
        (("", ""), "succeeded", "9", True),
    ],
)
def test_a_step_is_one_of_the_state_machine_under_a_new_version(
    known: tuple[str, str], state: str, version: str, *, may: bool
) -> None:
    found = RequestReplayed(state=known[0], version=known[1])
    assert found.may_become(state, "request.changed", version) is may


def test_what_was_refused_or_says_no_state_changes_nothing() -> None:
    found = replayed(
        step("submitted", 1, "pending"),
        ("request.approval", "request:R-1:2", {"why": "own request"}),
        ("request.approval", "request:R-2:2", {"digest": "d"}),
    )
    assert found.requests.keys() == {"R-1"}
    assert found.requests["R-1"].decisions == set()


def test_rows_that_are_left_out_of_a_list_take_its_approvals_with_them_and_no_rejection() -> None:
    found = replayed(
        step("submitted", 1, "pending"),
        step("approval", 2, "pending", words={"1": "w1"}),
        step("rejected", 3, "pending", words={"2": "w2"}),
        step("rows_left_out", 4, "pending"),
    ).requests["R-1"]
    assert found.decisions == {("reject", "BOB")}
    assert dict(found.said) == {"2": ("reject", "BOB")}
    assert dict(found.words or ()) == {"1": "w1", "2": "w2"}


def test_an_end_that_is_not_the_one_on_record_was_edited() -> None:
    ended = step("changed", 3, "failed", ended=["", "f1"])
    honest = replayed(
        step("submitted", 1, "executing"), ended, step("changed", 4, "failed", ended=["f1", "f2"])
    )
    edited = replayed(
        step("submitted", 1, "executing"), ended, step("changed", 4, "failed", ended=["f9", "f2"])
    )
    again = replayed(step("submitted", 1, "failed"), ended, step("changed", 4, "unresolved"))

    assert honest.wrong == []
    assert [one for one, _ in edited.wrong] == ["R-1"]
    assert edited.requests["R-1"].ended == "f2"
    assert again.requests["R-1"].ended == "", "it is open again"
