"""An assertion of a passkey as it is stored and read, and the words that are shown of one."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from bot.domain.passkeys import (
    Assertion,
    Bound,
    anchors_unreadable,
    base64url,
    key_digest,
    read_out,
    unbase64url,
)

PARTS: dict[str, Any] = {field.name: "x" for field in fields(Bound)}
BOUND = Bound(**PARTS)
ASSERTION = Assertion(BOUND, *(name.name for name in fields(Assertion)[1:]))


def test_an_assertion_is_read_as_it_was_stored() -> None:
    assert Assertion.read(ASSERTION.as_json()) == ASSERTION


@pytest.mark.parametrize("gone", [field.name for field in fields(Assertion)])
def test_what_lacks_a_part_or_has_one_more_is_no_assertion(gone: str) -> None:
    stored = ASSERTION.as_json()
    lacking: dict[str, Any] = {name: value for name, value in stored.items() if name != gone}
    bound: dict[str, Any] = {**stored["bound"], "more": "x"}
    for wrong in (lacking, {**stored, "more": "x"}, {**stored, "bound": bound}, {**stored, "bound": None}):
        with pytest.raises(ValueError, match="assertion of a passkey"):
            Assertion.read(wrong)


@pytest.mark.parametrize("raw", [b"", b"a", b"ab", b"abc", b"\xff\xfe\xfd\xfc"])
def test_binary_values_come_back_from_text_without_padding(raw: bytes) -> None:
    text = base64url(raw)
    assert "=" not in text
    assert unbase64url(text) == raw


@pytest.mark.parametrize("text", ["a", "a b", "ab\n", "é"])
def test_what_is_no_base64_for_addresses_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        unbase64url(text)


def test_a_key_is_read_out_by_twenty_digits_of_its_fingerprint_in_fours() -> None:
    digits = key_digest(base64url(b"a key"))
    said = read_out(base64url(b"a key"))
    assert said.replace(" ", "") == digits[:20]
    assert [len(part) for part in said.split()] == [4] * 5
    assert read_out(base64url(b"another key")) != said


def test_a_place_for_anchors_that_does_not_answer_is_named_with_what_to_do() -> None:
    said = anchors_unreadable("/mnt/anchors")
    assert "/mnt/anchors cannot be read" in said
    assert "Nothing was changed." in said
