"""The app's manifest, as far as Slack acts on it: commands, scopes, events, home and messages tab.

Source: https://docs.slack.dev/reference/app-manifest
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from sandbox.slack.json_object import Json

#: The events that the stand-in sends, by the names in which a manifest declares them.
SUPPORTED_EVENTS = frozenset(
    {
        "app_home_opened",
        "app_mention",
        "channel_archive",
        "channel_created",
        "channel_rename",
        "channel_unarchive",
        "file_deleted",
        "file_shared",
        "link_shared",
        "member_joined_channel",
        "member_left_channel",
        "message.channels",
        "message.groups",
        "message.im",
        "message.mpim",
        "pin_added",
        "pin_removed",
        "reaction_added",
        "reaction_removed",
        "subteam_created",
        "subteam_members_changed",
        "subteam_updated",
        "team_join",
        "user_change",
    }
)


class ManifestError(Exception):
    """The manifest cannot be used; the text says what is wrong with it."""


@dataclass(frozen=True)
class Command:
    """One slash command as declared."""

    command: str
    description: str
    usage_hint: str = ""
    should_escape: bool = False


@dataclass(frozen=True)
class Shortcut:
    """One shortcut as declared; `kind` is "message" or "global"."""

    name: str
    callback_id: str
    kind: str
    description: str = ""


@dataclass(frozen=True)
class Manifest:
    """What the app declared. Anything not in here is neither delivered nor allowed."""

    name: str
    bot_name: str
    commands: tuple[Command, ...] = ()
    scopes: frozenset[str] = frozenset()
    events: frozenset[str] = frozenset()
    home_tab: bool = False
    messages_tab: bool = True
    messages_tab_read_only: bool = False
    interactive: bool = True
    shortcuts: tuple[Shortcut, ...] = ()
    agent_view: bool = False
    #: Prompts shown in the app's conversation until it suggests others: `{title, message}`.
    prompts: tuple[dict[str, str], ...] = ()
    #: Domains whose links are reported to the app.
    unfurl_domains: tuple[str, ...] = ()

    @property
    def unsupported(self) -> list[str]:
        """What the app declared and will not get here, in sentences; Slack would send it."""
        missing = sorted(self.events - SUPPORTED_EVENTS)
        return [
            f"The manifest declares the event {name}, which the stand-in never sends." for name in missing
        ]

    def shortcut(self, callback_id: str, kind: str) -> Shortcut | None:
        """The declared shortcut of this kind ("message" or "global") with this callback id, or None."""
        declared = (one for one in self.shortcuts if one.kind == kind)
        return next((one for one in declared if one.callback_id == callback_id), None)

    def command(self, name: str) -> Command | None:
        """The declared command with this name (`/card`), or None."""
        return next((command for command in self.commands if command.command == name), None)


def load(path: Path) -> Manifest:
    """Read a manifest file, YAML or JSON. Raises ManifestError."""
    try:
        return parse(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ManifestError(f"cannot read the manifest {path}: {error.strerror}") from error
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise ManifestError(f"cannot read the manifest {path}: {error}") from error


def parse(data: Any) -> Manifest:
    """Take a decoded manifest. Raises ManifestError."""
    if not isinstance(data, dict):
        raise ManifestError("the manifest is not a mapping")
    features = _mapping(data, "features")
    settings = _mapping(data, "settings")
    home = _mapping(features, "app_home")
    name: str = _mapping(data, "display_information").get("name", "")
    if not name:
        raise ManifestError("the manifest has no display_information.name")
    return Manifest(
        name=name,
        bot_name=_mapping(features, "bot_user").get("display_name", name),
        commands=tuple(_command(entry) for entry in features.get("slash_commands") or ()),
        scopes=frozenset(_mapping(_mapping(data, "oauth_config"), "scopes").get("bot") or ()),
        events=frozenset(_mapping(settings, "event_subscriptions").get("bot_events") or ()),
        home_tab=bool(home.get("home_tab_enabled", False)),
        messages_tab=bool(home.get("messages_tab_enabled", True)),
        messages_tab_read_only=bool(home.get("messages_tab_read_only_enabled", False)),
        interactive=bool(_mapping(settings, "interactivity").get("is_enabled", False)),
        shortcuts=tuple(_shortcut(entry) for entry in features.get("shortcuts") or ()),
        agent_view="agent_view" in features,
        unfurl_domains=tuple(features.get("unfurl_domains") or ()),
        prompts=tuple(_mapping(features, "agent_view").get("suggested_prompts") or ()),
    )


def _mapping(data: Json, key: str) -> Json:
    value = data.get(key) or {}
    if not isinstance(value, dict):
        raise ManifestError(f"{key} in the manifest is not a mapping")
    return value


def _shortcut(entry: Any) -> Shortcut:
    if not isinstance(entry, dict) or not entry.get("callback_id") or not entry.get("name"):
        raise ManifestError(f"not a shortcut in the manifest: {entry!r}")
    if entry.get("type") not in ("message", "global"):
        raise ManifestError(f"a shortcut is of type message or global: {entry!r}")
    return Shortcut(entry["name"], entry["callback_id"], entry["type"], entry.get("description", ""))


def _command(entry: Any) -> Command:
    if not isinstance(entry, dict) or not str(entry.get("command", "")).startswith("/"):
        raise ManifestError(f"not a slash command in the manifest: {entry!r}")
    return Command(
        command=entry["command"],
        description=entry.get("description", ""),
        usage_hint=entry.get("usage_hint", ""),
        should_escape=bool(entry.get("should_escape", False)),
    )
