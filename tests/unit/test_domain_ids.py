"""Ids people can say, keys the API takes, and the short code of the terms."""

import random
import re
from datetime import UTC, datetime

from bot.domain.ids import Ids, short_code
from bot.domain.requests import mask_email, mask_phone
from bot.domain.requests.terms import terms_digest

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def test_request_ids_are_sayable() -> None:
    ids = Ids("abc123", random.Random(1), lambda: NOW)
    made = [ids.request_id() for _ in range(2000)]
    assert all(re.fullmatch("R-[234679ACDEFGHJKMNPQRTUVWXYZ]{4}", one) for one in made)
    assert len(set(made)) > 1990


def test_keys_fit_the_api_carry_the_instance_and_never_repeat() -> None:
    ids = Ids("abc123", random.Random(1), lambda: NOW)
    keys = [ids.idempotency_key() for _ in range(10_000)]
    assert all(re.fullmatch("co-abc123-[0-9A-Z]{26}", key) and len(key) <= 128 for key in keys)
    assert len(set(keys)) == len(keys)


def test_ulids_sort_by_time() -> None:
    times = iter([NOW, NOW.replace(second=1), NOW.replace(year=2027)])
    ids = Ids("abc123", random.Random(1), lambda: next(times))
    made = [ids.ulid() for _ in range(3)]
    assert made == sorted(made)


def test_the_digest_tells_any_two_terms_apart_whatever_their_order() -> None:
    one = {"a": "1", "b": {"x": [1, 2]}}
    assert terms_digest(one) == terms_digest({"b": {"x": [1, 2]}, "a": "1"})
    for other in (
        {"a": "1"},
        {"a": "12", "b": {"x": [1, 2]}},
        {"a": "1", "b": {"x": [12]}},
        {"a": 1, "b": one["b"]},
    ):
        assert terms_digest(other) != terms_digest(one)


def test_the_short_code_reads_the_same_for_the_same_terms_only() -> None:
    one, other = terms_digest({"a": "1"}), terms_digest({"a": "2"})
    assert re.fullmatch("[A-Z2-7]{3}-[A-Z2-7]{3}", short_code(one))
    assert short_code(one) == short_code(one) != short_code(other)


def test_masks_show_enough_to_recognise_and_too_little_to_use() -> None:
    assert mask_phone("15112345678") == "••••5678"
    assert mask_phone("1234") == "••••"
    assert mask_email("nora.quist@example.co.uk") == "n•••@•••.uk"
