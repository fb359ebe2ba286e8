"""Two addresses of one mailbox compare as one, and no others do."""

from __future__ import annotations

import itertools

import pytest

from bot.domain.people import Standing, joined, mailbox_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bob@example.com", "Bob@Example.COM"),
        ("bob@example.com", " bob+admin@example.com "),
        ("b.o.b@gmail.com", "bob+x@googlemail.com"),
        ("ｂｏｂ@example.com", "bob@example.com"),
    ],
)
def test_one_mailbox_however_its_address_is_written(one: str, other: str) -> None:
    assert mailbox_of(one) == mailbox_of(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bob@example.com", "bob@example.org"),
        ("b.ob@example.com", "bob@example.com"),
        ("bob@example.com", "rob@example.com"),
    ],
)
def test_two_mailboxes_stay_two(one: str, other: str) -> None:
    assert mailbox_of(one) != mailbox_of(other)


@pytest.mark.parametrize("address", ["", "bob", "@example.com", "bob@", "+tag@example.com"])
def test_what_is_no_address_is_no_mailbox(address: str) -> None:
    assert mailbox_of(address) == ""


def test_accounts_are_put_together_in_whatever_order_the_groups_come() -> None:
    groups = ({"A", "B"}, {"C", "D"}, {"B", "C"}, {"E", "F"})
    for order in itertools.permutations(groups):
        persons = joined({}, order)
        assert len({persons[one] for one in "ABCD"}) == 1
        assert persons["E"] == persons["F"] != persons["A"]


def test_a_delegate_of_one_account_counts_with_the_other_accounts_of_that_person() -> None:
    standing = Standing.of(frozenset({"BOB", "BOB2", "CAROL"}), [("BOB", "DORA")]).with_persons(
        [{"BOB", "BOB2"}]
    )

    assert standing.are_one("DORA", "BOB2")
    assert not standing.is_same_person("DORA", "BOB2")
    assert not standing.are_one("DORA", "CAROL")


def test_a_mailbox_is_written_in_one_way() -> None:
    assert mailbox_of(" B.o.b+x@GoogleMail.com") == "bob@gmail.com"
    assert mailbox_of("b.ob+x+y@Example.com") == "b.ob@example.com"


def test_groups_that_share_an_account_are_one_person_and_an_empty_group_is_nobody() -> None:
    found = joined({}, [["c", "d"], [], ["a", "b"], ["b", "c"]])
    assert found == {"a": "a", "b": "a", "c": "a", "d": "a"}
    assert joined({"x": "w", "w": "w"}, [["x", "y"]]) == {"x": "w", "w": "w", "y": "w"}
    assert joined({"x": "z", "z": "z"}, [["x", "a"]]) == {"x": "a", "z": "a", "a": "a"}
