"""Who is a full member of this workspace: every flag alone, every pair of flags, and what each reads."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from bot.domain.errors import NotAllowed
from bot.domain.people import Actor, is_full_member, require_full_member

HOME = "T0HOME"
MEMBER = Actor("U0ALICE", "Alice", team_id=HOME)
#: What Slack says of an account -> the word for the audit and the sentence for the person; the first that fits is said.
FLAGS: list[tuple[dict[str, Any], str, str]] = [
    ({"is_gone": True}, "unknown_account", "Slack does not know this account, so it cannot use Countersign."),
    ({"deleted": True}, "deactivated", "This Slack account is deactivated, so it cannot use Countersign."),
    ({"is_bot": True}, "bot", "Bots and workflows cannot use Countersign: a person has to ask."),
    ({"is_restricted": True}, "guest", "Guests cannot use Countersign. Ask a full member of this workspace."),
    (
        {"is_ultra_restricted": True},
        "guest",
        "Guests cannot use Countersign. Ask a full member of this workspace.",
    ),
    ({"is_stranger": True}, "stranger", "People of other workspaces cannot use Countersign."),
    ({"team_id": "T0OTHER"}, "stranger", "People of other workspaces cannot use Countersign."),
    ({"team_id": ""}, "stranger", "People of other workspaces cannot use Countersign."),
]


def test_an_account_of_which_nothing_else_is_said_is_a_full_member() -> None:
    require_full_member(MEMBER, HOME)
    assert is_full_member(MEMBER, HOME) is True
    # Before Slack has said which workspace this is, the workspace of nobody is held against them.
    assert is_full_member(replace(MEMBER, team_id="T0OTHER"), "") is True


@pytest.mark.parametrize("first", range(len(FLAGS)))
def test_each_flag_refuses_alone_and_beside_each_other_one(first: int) -> None:
    flags, reason, sentence = FLAGS[first]
    others: list[dict[str, Any]] = [{}, *(more for more, _, _ in FLAGS[first + 1 :])]
    for more in others:
        actor = replace(MEMBER, **{**more, **flags})
        with pytest.raises(NotAllowed) as refused:
            require_full_member(actor, HOME)
        assert (refused.value.reason, str(refused.value)) == (reason, sentence), (flags, more)
        assert is_full_member(actor, HOME) is False


def test_every_two_flags_refuse_together() -> None:
    for (one, _, _), (other, _, _) in combinations(FLAGS, 2):
        assert not is_full_member(replace(MEMBER, **{**one, **other}), HOME)


def test_a_bot_and_a_guest_are_refused_before_it_is_known_which_workspace_this_is() -> None:
    for flags, _, _ in FLAGS[:6]:
        assert is_full_member(replace(MEMBER, **flags), "") is False


@pytest.mark.parametrize(
    ("said", "zone"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        ("Nowhere/Land", "UTC"),
        ("", "UTC"),
        ("..", "UTC"),
        ("Europe", "UTC"),
    ],
)
def test_the_zone_of_a_person_is_that_of_their_profile_or_utc(said: str, zone: str) -> None:
    assert replace(MEMBER, tz=said).zone.key == zone
    assert Actor("U0ALICE", "Alice").zone.key == "UTC"
