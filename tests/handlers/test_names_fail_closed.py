"""A name of the policy means what it meant first. What came to have the name later gives nobody anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from bot.domain.errors import UnknownName
from handlers.slack_api import SlackDirectory

HOME = "T0HOME"
BOB, CAROL, MALLORY = "U0BOB", "U0CAROL", "U0MALLORY"


class Slack:
    """The answers of Slack's lists: groups and people as a test sets them."""

    def __init__(self) -> None:
        self.groups = [self.group("S0APPROVERS", "approvers", [BOB, CAROL])]
        self.people = [self.person(BOB, "bob"), self.person(CAROL, "carol")]

    @staticmethod
    def group(slack_id: str, handle: str, users: Sequence[str], *, deleted: int = 0) -> dict[str, Any]:
        return {"id": slack_id, "handle": handle, "users": list(users), "date_delete": deleted}

    @staticmethod
    def person(slack_id: str, name: str, **flags: Any) -> dict[str, Any]:
        return {"id": slack_id, "name": name, "team_id": HOME, **flags}

    async def usergroups_list(self, **_: Any) -> dict[str, Any]:
        return {"usergroups": self.groups}

    async def users_list(self, **_: Any) -> dict[str, Any]:
        return {"members": self.people}


@pytest.fixture
def slack() -> Slack:
    return Slack()


@pytest.fixture
def directory(slack: Slack) -> SlackDirectory:
    return SlackDirectory(slack, home_team=HOME)  # type: ignore[arg-type]  # only these two calls are made


async def test_a_person_who_takes_the_name_of_a_group_that_is_gone_is_no_approver(
    slack: Slack, directory: SlackDirectory
) -> None:
    assert await directory.members(["@approvers"]) == {BOB, CAROL}

    slack.groups = [slack.group("S0APPROVERS", "approvers", [BOB, CAROL], deleted=1)]
    slack.people.append(slack.person(MALLORY, "approvers"))

    with pytest.raises(UnknownName, match="was the user group S0APPROVERS"):
        await directory.members(["@approvers"])


async def test_it_is_so_after_a_start_with_what_is_on_record(slack: Slack, directory: SlackDirectory) -> None:
    slack.groups = []
    slack.people.append(slack.person(MALLORY, "approvers"))
    directory.meant = {"approvers": "S0APPROVERS"}

    with pytest.raises(UnknownName, match="was the user group S0APPROVERS"):
        await directory.members(["@approvers"])


async def test_another_group_that_takes_the_handle_counts_for_nothing(
    slack: Slack, directory: SlackDirectory
) -> None:
    await directory.members(["@approvers"])

    slack.groups = [
        slack.group("S0APPROVERS", "approvers-old", [BOB, CAROL]),
        slack.group("S0EVIL", "approvers", [MALLORY]),
    ]

    assert await directory.members(["@approvers"]) == {BOB, CAROL}
    assert await directory.called(["@approvers"]) == ["S0APPROVERS"]


async def test_a_person_who_takes_anothers_username_counts_for_nothing(
    slack: Slack, directory: SlackDirectory
) -> None:
    assert await directory.members(["@bob"]) == {BOB}

    slack.people = [slack.person(BOB, "bobby"), slack.person(MALLORY, "bob")]

    assert await directory.members(["@bob"]) == {BOB}


async def test_a_group_that_takes_a_persons_name_counts_for_nothing(
    slack: Slack, directory: SlackDirectory
) -> None:
    await directory.members(["@bob"])

    slack.groups.append(slack.group("S0EVIL", "bob", [MALLORY]))

    assert await directory.members(["@bob"]) == {BOB}


async def test_two_of_one_name_are_none(slack: Slack, directory: SlackDirectory) -> None:
    slack.people.append(slack.person(MALLORY, "bob"))
    with pytest.raises(UnknownName, match="two people named @bob"):
        await directory.members(["@bob"])

    slack.groups.append(slack.group("S0EVIL", "Approvers", [MALLORY]))
    with pytest.raises(UnknownName, match="two user groups named @approvers"):
        await directory.members(["@approvers"])
    assert await directory.members(["S0APPROVERS"]) == {BOB, CAROL}


@pytest.mark.parametrize(
    "flags", [{"team_id": "T0OTHER"}, {"is_bot": True}, {"is_stranger": True}, {"deleted": True}], ids=str
)
async def test_nobody_else_of_the_name_is_meant(
    slack: Slack, directory: SlackDirectory, flags: dict[str, Any]
) -> None:
    slack.people.insert(0, {**slack.person(MALLORY, "bob"), **flags})

    assert await directory.members(["@bob"]) == {BOB}
    slack.people = slack.people[:1]
    with pytest.raises(UnknownName):
        await SlackDirectory(slack, home_team=HOME).members(["@bob"])  # type: ignore[arg-type]


async def test_what_is_only_shown_goes_by_the_same_ids(slack: Slack, directory: SlackDirectory) -> None:
    await directory.members(["@approvers", "@bob"])
    slack.groups = []
    slack.people = [slack.person(MALLORY, "bob"), slack.person(MALLORY, "approvers")]

    assert await directory.members_lately(["@bob"]) == {BOB}
    directory._groups_at = float("-inf")
    with pytest.raises(UnknownName):
        await directory.members_lately(["@approvers"])
