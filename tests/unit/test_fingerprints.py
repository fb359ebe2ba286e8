"""A fingerprint changes with all that a next step leans on, and with nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from bot.domain.requests import State
from bot.domain.requests.fingerprints import CARD_AFTER, of_end, of_progress, of_words
from bot.domain.requests.lifecycle import REOPENED_AT, is_of_before, reopening
from tests.unit.test_domain_approvals import BY_BOB, REQUEST

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
PROGRESS: dict[str, Any] = {
    "first_sent_at": AT,
    "key_expires_at": AT,
    "outcome_unknown": True,
    "outcome": {"amount_usd": "5"},
}
END: dict[str, Any] = {
    "state": State.FAILED,
    "outcome_text": "It failed.",
    "approved_at": AT,
    "valid_until": AT,
    "finished_at": AT,
    "break_glass": True,
    "attempts": 7,
    "fence": 9,
}


@pytest.mark.parametrize("name", PROGRESS)
def test_what_is_said_of_its_calls_changes_both_and_the_rest_the_end_alone(name: str) -> None:
    changed = replace(REQUEST, **{name: PROGRESS[name]})
    assert of_progress(changed) != of_progress(REQUEST)
    assert of_end(changed) != of_end(REQUEST)


@pytest.mark.parametrize("name", END)
def test_how_it_ended_changes_the_end_alone(name: str) -> None:
    changed = replace(REQUEST, **{name: END[name]})
    assert of_progress(changed) == of_progress(REQUEST)
    assert of_end(changed) != of_end(REQUEST)


def test_what_is_read_of_the_card_after_it_has_ended_changes_no_end() -> None:
    ended = replace(REQUEST, outcome={"amount_usd": "5"})
    read = replace(ended, outcome={"amount_usd": "5", CARD_AFTER: "17.00"})
    assert of_end(read) == of_end(ended)
    assert of_progress(read) != of_progress(ended)


def test_one_moment_has_one_fingerprint_in_whatever_zone_it_was_read() -> None:
    there = AT.astimezone(timezone(timedelta(hours=5, minutes=45)))
    assert of_progress(replace(REQUEST, first_sent_at=AT)) == of_progress(
        replace(REQUEST, first_sent_at=there)
    )


@pytest.mark.parametrize("name", ["id", "actor_name", "reason", "assertion"])
def test_the_words_of_a_decision_are_those_that_its_mac_does_not_cover(name: str) -> None:
    value: Any = {"kind": "x"} if name == "assertion" else f"{getattr(BY_BOB, name)}x"
    assert of_words(replace(BY_BOB, **{name: value})) != of_words(BY_BOB)
    assert of_words(replace(BY_BOB, mac="x", actor="CAROL")) == of_words(BY_BOB)


def test_a_reopening_is_kept_in_the_outcome_and_what_was_said_before_it_was_of_something_else() -> None:
    assert reopening(REQUEST) == {}
    assert not is_of_before(AT, REQUEST)
    reopened = replace(REQUEST, outcome={REOPENED_AT: AT.isoformat(), "amount_usd": "5"})

    assert reopening(reopened) == {REOPENED_AT: AT.isoformat()}
    assert is_of_before(AT - timedelta(microseconds=1), reopened)
    assert not is_of_before(AT, reopened)
