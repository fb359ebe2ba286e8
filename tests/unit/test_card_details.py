"""Whose pages may show card details, and where a link to them leads."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import accumulate, pairwise

import pytest

from bot.domain.card_details import Reveals, digest_of, origin_of, origins
from bot.domain.card_numbers import holds_card_number


def is_loopback(host: str) -> bool:
    return host in ("localhost", "127.0.0.1", "::1")


@dataclass
class Token:
    text: str

    def reveal(self) -> str:
        return self.text


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://Frame.Example.com/details?token=1#x", "https://frame.example.com"),
        ("https://frame.example.com:443/", "https://frame.example.com"),
        ("https://frame.example.com:8443", "https://frame.example.com:8443"),
        ("https://[2606:4700::1]/", "https://[2606:4700::1]"),
        ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080"),
        ("http://localhost:80/", "http://localhost"),
        ("http://[::1]:9/", "http://[::1]:9"),
        ("http://frame.example.com/", None),
        ("ftp://frame.example.com/", None),
        ("javascript:alert(1)", None),
        ("//frame.example.com/", None),
        ("https:///path", None),
        ("https://", None),
        ("", None),
        ("https://user@frame.example.com/", None),
        ("https://user:pass@frame.example.com/", None),
        ("https://frame.example.com:99999/", None),
        ("https://frame.example.com:x/", None),
        ("https://[::1/", None),
        *((f"https://a{sign}b.example.com/", None) for sign in " ;,'\"*"),
    ],
)
def test_an_origin_is_named_in_one_way_or_not_at_all(url: str, origin: str | None) -> None:
    """It stands in a header of the page's: nothing in it may begin another source there."""
    assert origin_of(url, is_loopback) == origin


def test_expected_are_the_origins_of_the_api_and_those_named_beside_it_and_no_other() -> None:
    expected = origins(
        ["https://api.example.com/v1", "http://10.0.0.1/"], ["frame.example.com", "bad host"], is_loopback
    )
    reveals = Reveals("https://bot.example.com", expected)

    assert expected == {"https://api.example.com", "https://frame.example.com"}
    assert reveals.may_show("https://frame.example.com")
    assert not any(
        map(reveals.may_show, (None, "", "https://frame.example.com.evil.example", "https://bad host"))
    )


def test_the_token_stands_behind_the_sign_that_no_browser_sends_on_and_only_its_digest_is_kept() -> None:
    token = Token("t0ken")
    before, _, after = Reveals("https://bot.example.com").link(token).partition("#")

    assert (before, after) == ("https://bot.example.com/details", "t0ken")
    assert digest_of(token) == hashlib.sha256(b"t0ken").hexdigest()


def luhn(digits: str) -> bool:
    """The check by its textbook, written out once more."""
    odd, even = digits[-1::-2], digits[-2::-2]
    return (sum(map(int, odd)) + sum(sum(map(int, str(int(d) * 2))) for d in even)) % 10 == 0


def with_check(digits: str) -> str:
    return next(digits + last for last in "0123456789" if luhn(digits + last))


@pytest.mark.parametrize("length", range(10, 23))
def test_a_number_of_a_card_has_13_to_19_digits_that_pass_the_check(length: int) -> None:
    number = with_check("4" + "0" * (length - 3) + "7")
    assert holds_card_number([number]) is (13 <= length <= 19)
    wrong = number[:-1] + str((int(number[-1]) + 1) % 10)
    assert holds_card_number([wrong]) is False


@pytest.mark.parametrize("sizes", [[4, 4, 4, 4], [16], [1] * 16, [4, 6, 5], [2, 3, 5, 7]])
def test_it_is_found_whole_in_groups_that_follow_each_other(sizes: list[int]) -> None:
    number = with_check("4" + "1" * (sum(sizes) - 2))
    ends = [*accumulate(sizes, initial=0)]
    groups = [number[start:end] for start, end in pairwise(ends)]
    assert holds_card_number(groups)
    assert holds_card_number(["9" * 20, *groups, "7" * 20])
    assert not holds_card_number([*groups[:-1], "1" * 30])
