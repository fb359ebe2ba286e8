"""The digest of a request: which fields it covers, and that stored digests stay what they were."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest

from bot.domain.requests import Request, State, request_digest
from bot.domain.requests.terms import COVERED, mask_email, mask_phone

NOW = datetime(2026, 3, 2, 9, 0, 0, 123456, tzinfo=UTC)
ONE = Request(
    id="R-7K3M",
    program="main",
    kind="card_topup",
    state=State.PENDING,
    version=1,
    requester="U0ALICE",
    requester_name="Alice Ünal",
    reason="Team lunch\nat Ökobäck",
    terms={"card": "card1", "amount_usd": "50.00"},
    subject="card1",
    subject_label="MARTA KOWALSKA ••3205",
    summary="Top up MARTA KOWALSKA ••3205 by 50.00 USD",
    exposure_usd=Decimal("50.00"),
    digest="",
    key="co-1-2-3",
    approvals_needed=1,
    policy_version="test-policy",
    created_at=NOW,
    expires_at=NOW + timedelta(hours=8),
    facts={"unresolved": [], "similar": ["R-1 (pending)"], "pending_usd": "17.00"},
    body_mac="k1:abc",
)
# What the code that made the first stored requests gave for these.
STORED = (
    (ONE, "21f8dd75ff1fe36da5dcc31cd4448dd90ecfc61b29ac37e63010ff1d10ddc5ac"),
    (
        replace(ONE, exposure_usd=Decimal("1E+3")),
        "187c4cecfb1b9c17a17017be12757a98c6074662a2f74e1d3f2a24f739ea997b",
    ),
    (replace(ONE, rows=3), "c2a981fedf02a832827975397a50eba50aa4e4b00ce575e6b390fa117fb6e2ed"),
    (replace(ONE, parent_id="R-ABCD"), "83ca2843262dea6d3868d7558bf7316917b164e60fef6cef6a218252a30c4f87"),
)


@pytest.mark.parametrize(("request_", "digest"), STORED)
def test_the_digest_of_a_stored_request_is_what_it_was(request_: Request, digest: str) -> None:
    assert request_digest(request_) == digest


def test_an_amount_has_one_digest_however_it_was_stored() -> None:
    assert request_digest(replace(ONE, exposure_usd=Decimal(50))) == request_digest(ONE)


def other(value: Any) -> Any:
    """Another value of the same type."""
    match value:
        case None:
            return 7
        case str():
            return f"{value}x"
        case bool():
            return not value
        case int() | Decimal():
            return value + 1
        case datetime():
            return value + timedelta(seconds=1)
        case _:
            return {**value, "other": "x"}


@pytest.mark.parametrize("name", [field.name for field in fields(Request)])
def test_a_covered_field_changes_the_digest_and_any_other_does_not(name: str) -> None:
    changed = replace(ONE, **{name: other(getattr(ONE, name))})

    assert (request_digest(changed) != request_digest(ONE)) is (name in COVERED)


def test_terms_and_facts_of_any_mapping_make_the_same_digest() -> None:
    """Stored ones come back as dicts, and a form hands in what it has."""
    other = replace(ONE, terms=MappingProxyType(dict(ONE.terms)), facts=MappingProxyType(dict(ONE.facts)))
    assert request_digest(other) == request_digest(ONE)


@pytest.mark.parametrize(
    ("phone", "masked"),
    [("15112345678", "••••5678"), ("1234567", "••••4567"), ("123456", "••••"), ("", "••••")],
)
def test_of_a_phone_number_four_digits_are_shown_where_it_has_more_than_six(phone: str, masked: str) -> None:
    assert mask_phone(phone) == masked


@pytest.mark.parametrize(
    ("email", "masked"),
    [
        ("nora@example.com", "n•••@•••.com"),
        ("x@mail.example.co.uk", "x•••@•••.uk"),
        ("nora", "n•••@•••."),
        ("", "•••@•••."),
    ],
)
def test_of_an_address_a_letter_and_the_last_part_are_shown(email: str, masked: str) -> None:
    assert mask_email(email) == masked
