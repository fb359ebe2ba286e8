"""manifest.yml against Slack's schema, and against what the code registers and calls."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import jsonschema
import pytest
import yaml
from slack_sdk.web.async_client import AsyncWebClient

import handlers
from bot import operations
from handlers.commands import all_lookups

ROOT = Path(__file__).parents[1]
SCHEMAS = ROOT.parent / "shared" / "data" / "slack-manifest-schema"

#: Web API method -> the bot scopes it needs, from Slack's reference.
METHOD_SCOPES: dict[str, set[str]] = {
    "auth.test": set(),
    "apps.connections.open": set(),  # with the app token, whose one scope is connections:write
    "views.open": set(),
    "views.push": set(),
    "views.update": set(),
    "views.publish": set(),
    "chat.getPermalink": set(),
    "chat.postMessage": {"chat:write"},
    "chat.postEphemeral": {"chat:write"},
    "chat.update": {"chat:write"},
    "chat.delete": {"chat:write"},
    "users.info": {"users:read"},
    "users.list": {"users:read"},
    "usergroups.list": {"usergroups:read"},
    "usergroups.users.list": {"usergroups:read"},
    # The approvals channel may be private, so both kinds.
    "conversations.list": {"channels:read", "groups:read"},
    "conversations.info": {"channels:read", "groups:read"},
    "conversations.members": {"channels:read", "groups:read"},
    "conversations.history": {"channels:history", "groups:history"},
    "conversations.replies": {"channels:history", "groups:history"},
    "conversations.open": {"im:write"},
    "assistant.threads.setStatus": {"chat:write"},
    "assistant.threads.setSuggestedPrompts": {"assistant:write"},
    "files.upload.v2": {"files:write"},
}
EVENT_SCOPES: dict[str, set[str]] = {
    "app_mention": {"app_mentions:read"},
    "message.im": {"im:history"},
    "app_home_opened": set(),
    "subteam_members_changed": {"usergroups:read"},
}


class Recorder:
    """Stands for the Bolt app and notes what is registered on it."""

    def __init__(self) -> None:
        self.registered: list[tuple[str, Any]] = []

    def __getattr__(self, kind: str) -> Any:
        def register(*args: Any, **_: Any) -> Any:
            self.registered.append((kind, args[0] if args else None))
            return lambda listener: listener

        return register

    def names(self, kind: str) -> set[Any]:
        return {what["type"] if isinstance(what, dict) else what for k, what in self.registered if k == kind}


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "manifest.yml").read_text())
    return loaded


@pytest.fixture(scope="module")
def registered() -> Recorder:
    recorder = Recorder()
    handlers.register(recorder, MagicMock())  # type: ignore[arg-type]  # only registers, never runs
    return recorder


def methods_called() -> Iterator[str]:
    """Every Web API method that the handlers or the composition root name, as `users.info`."""
    known = {name for name in dir(AsyncWebClient) if "_" in name and not name.startswith("_")}
    for path in [*sorted((ROOT / "bot").glob("*.py")), *sorted((ROOT / "handlers").rglob("*.py"))]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in known - {"api_call"}:
                yield node.attr.replace("_", ".")
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "api_call":
                if ast.unparse(node.func) == "super().api_call":
                    continue  # a client of ours, on whose way are the methods that are named elsewhere
                assert isinstance(node.args[0], ast.Constant), f"{path}: name the method where it is called"
                yield str(node.args[0].value)


def test_the_manifest_is_valid_by_slacks_own_schema(manifest: dict[str, Any]) -> None:
    version = manifest["_metadata"]["major_version"]
    path = SCHEMAS / f"manifest.schema.{version}.0.0.json"
    if not path.exists():
        pytest.skip(f"sample data ../shared/data is absent: {path.name}")
    validator = jsonschema.Draft7Validator(json.loads(path.read_text()))

    assert [error.message for error in validator.iter_errors(manifest)] == []
    broken = {**manifest, "features": {**manifest["features"], "slash_commands": [{"command": "card"}]}}
    assert list(validator.iter_errors(broken)), "the schema would catch a broken manifest"


def test_the_commands_declared_are_the_commands_handled(
    manifest: dict[str, Any], registered: Recorder
) -> None:
    declared = {command["command"] for command in manifest["features"]["slash_commands"]}
    handled = set()
    for pattern in registered.names("command"):
        handled |= set(re.findall(r"/[a-z]+", getattr(pattern, "pattern", pattern)))

    assert declared == handled


def test_the_shortcuts_declared_are_the_shortcuts_handled(
    manifest: dict[str, Any], registered: Recorder
) -> None:
    declared = {shortcut["callback_id"] for shortcut in manifest["features"]["shortcuts"]}

    assert declared == registered.names("shortcut")


def test_the_usage_hints_name_the_subcommands_there_are(manifest: dict[str, Any]) -> None:
    kinds = [kind.command for kind in operations.kinds().values()]
    look_ups = {*all_lookups.LOOK_UPS, ("countersign", "help")}
    for declared in manifest["features"]["slash_commands"]:
        name = declared["command"].lstrip("/")

        hinted = {part.split()[0] for part in declared["usage_hint"].split("|") if part.strip()[0] != "("}

        there_are = {sub.split()[0] for command, sub in kinds if command == name}
        there_are |= {sub for command, sub in look_ups if command == name and sub}
        assert hinted == there_are, declared["command"]


def test_the_events_declared_are_the_events_handled(manifest: dict[str, Any], registered: Recorder) -> None:
    declared = set(manifest["settings"]["event_subscriptions"]["bot_events"])

    # Bolt names the event `message`; which channels' messages arrive is the manifest's say.
    assert {name.replace("message.im", "message") for name in declared} == registered.names("event")
    assert declared == set(EVENT_SCOPES)


def test_the_scopes_are_those_of_what_is_called_and_no_others(manifest: dict[str, Any]) -> None:
    called = set(methods_called())
    assert called <= METHOD_SCOPES.keys(), "a method without an entry in the table"
    # files:read is for downloads, see handlers/slack_api/files.py. users:read.email has no method of its own: with it,
    # users.info tells the address.
    needed = {"commands", "files:read", "users:read.email"}
    for scopes in [METHOD_SCOPES[name] for name in called] + list(EVENT_SCOPES.values()):
        needed |= scopes

    assert set(manifest["oauth_config"]["scopes"]["bot"]) == needed


def test_people_can_answer_the_app_and_press_its_buttons(manifest: dict[str, Any]) -> None:
    home = manifest["features"]["app_home"]

    assert home["home_tab_enabled"] is True
    assert home["messages_tab_enabled"] is True  # else a direct message to a person fails
    assert home["messages_tab_read_only_enabled"] is False
    assert manifest["settings"]["interactivity"]["is_enabled"] is True
    assert manifest["settings"]["socket_mode_enabled"] is True


def test_a_person_named_in_a_command_arrives_as_an_id(manifest: dict[str, Any]) -> None:
    """A name is anybody's to choose, and `people map REF @person` says who gets one-time codes."""
    commands = manifest["features"]["slash_commands"]

    escaped = {declared["command"] for declared in commands if declared.get("should_escape")}

    assert escaped == {"/countersign", "/requests"}
