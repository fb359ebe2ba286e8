"""Fixtures of a test's own people and channels: in each way they can be given, and what is said of people not there."""

from collections.abc import Callable
from typing import Any

import pytest

from sandbox.testing import SlackSandbox

CHANNELS = "- {name: kitchen, members: [ann]}\n"


@pytest.fixture(scope="module")
def slack_people() -> dict[str, Any]:
    return {"people": [{"name": "ann"}], "groups": [{"handle": "cooks", "users": ["ann"]}]}


@pytest.fixture(scope="module", params=["a path as a text", "a path", "a list"])
def slack_channels(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("own") / "channels.yml"
    path.write_text(CHANNELS)
    given = {
        "a path as a text": str(path),
        "a path": path,
        "a list": [{"name": "kitchen", "members": ["ann"]}],
    }
    return given[request.param]


def ann(sandbox: SlackSandbox) -> str:
    people = sandbox.control("state", "GET")["people"]
    found: str = next(one["id"] for one in people if one["name"] == "ann")
    return found


def test_people_and_channels_are_those_that_were_given(slack_sandbox: SlackSandbox) -> None:
    assert slack_sandbox.messages("kitchen", user=ann(slack_sandbox)) == []


WAYS: list[Callable[[SlackSandbox], object]] = [
    lambda sandbox: sandbox.see(),
    lambda sandbox: sandbox.messages(),
    lambda sandbox: sandbox.wait_for_message("x", within_seconds=0.05),
    lambda sandbox: sandbox.wait_for_modal(within_seconds=0.05),
]


@pytest.mark.parametrize("look", WAYS)
def test_a_person_who_is_not_there_is_named_with_those_who_are(
    slack_sandbox: SlackSandbox, look: Callable[[SlackSandbox], object]
) -> None:
    with pytest.raises(AssertionError, match=rf"there is no person 'U0ALICE'.*{ann(slack_sandbox)} \(ann\)"):
        look(slack_sandbox)


def test_a_wait_in_vain_says_where_and_as_whom_it_looked(slack_sandbox: SlackSandbox) -> None:
    who = ann(slack_sandbox)
    with pytest.raises(AssertionError, match=f"in kitchen as {who} sees it"):
        slack_sandbox.wait_for_message("x", channel="kitchen", user=who, within_seconds=0.05)
    with pytest.raises(AssertionError, match=r"sees no channel C0OPS, only .*\(kitchen\)"):
        slack_sandbox.wait_for_message("x", user=who, within_seconds=0.05)
