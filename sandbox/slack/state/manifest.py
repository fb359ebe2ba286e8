"""The app's manifest, as far as Slack acts on it: commands, scopes, events, home and messages tab.

Source: https://docs.slack.dev/reference/app-manifest
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from sandbox import strict_yaml
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


#: The scopes that something in the stand-in needs.
KNOWN_SCOPES = frozenset(
    {
        "app_mentions:read", "assistant:write", "bookmarks:read", "bookmarks:write", "channels:history",
        "channels:join", "channels:manage", "channels:read", "channels:write.invites", "channels:write.topic",
        "chat:write", "chat:write.customize", "chat:write.public", "commands", "emoji:read", "files:read",
        "files:write", "groups:history", "groups:read", "groups:write", "im:history", "im:read", "im:write",
        "links:read", "links:write", "mpim:history", "mpim:read", "mpim:write", "pins:read", "pins:write",
        "reactions:read", "reactions:write", "team:read", "usergroups:read", "usergroups:write",
        "users.profile:read", "users:read", "users:read.email",
    }
)  # fmt: skip

#: The fields of a manifest that change nothing here, or do what Slack does with them. A mapping stands for one with
#: these fields, a list for a list of mappings with these; None for a value that is not looked into.
_TAKEN: dict[str, Any] = {
    "_metadata": {"major_version": None, "minor_version": None},
    "display_information": {
        "name": None, "description": None, "long_description": None, "background_color": None,
    },
    "features": {
        "app_home": {
            "home_tab_enabled": None, "messages_tab_enabled": None, "messages_tab_read_only_enabled": None,
        },
        "agent_view": {"agent_description": None, "suggested_prompts": [{"title": None, "message": None}]},
        "bot_user": {"display_name": None, "always_online": None},
        "shortcuts": [{"name": None, "type": None, "callback_id": None, "description": None}],
        "slash_commands": [
            {"command": None, "description": None, "usage_hint": None, "should_escape": None, "url": None}
        ],
        "unfurl_domains": None,
    },
    "oauth_config": {"scopes": {"bot": None}},
    "settings": {
        "event_subscriptions": {"bot_events": None, "request_url": None},
        "interactivity": {"is_enabled": None, "request_url": None, "message_menu_options_url": None},
        "socket_mode_enabled": None, "allowed_ip_address_ranges": None,
    },
}  # fmt: skip
#: Fields that Slack acts on and the stand-in does not; without them `false` and empty say the same.
_LACKING: dict[str, str] = {
    "datastores": "datastores, which the stand-in does not have",
    "external_auth_providers": "external_auth_providers, which the stand-in does not have",
    "features.assistant_view": "assistant_view, the older agent surface; the stand-in has agent_view",
    "features.rich_previews": "rich_previews, which the stand-in never asks for",
    "features.search": "search, which the stand-in does not have",
    "features.workflow_steps": "workflow_steps, which the stand-in does not run",
    "functions": "the function {}, which the stand-in never runs",
    "oauth_config.redirect_urls": "redirect_urls: the app is installed here, so no OAuth takes place",
    "oauth_config.scopes.bot_optional": "the scopes bot_optional, which the stand-in does not offer",
    "oauth_config.scopes.user": "the scopes of a user; the stand-in has the bot's token only",
    "oauth_config.scopes.user_optional": "the scopes user_optional; the stand-in has the bot's token only",
    "oauth_config.token_management_enabled": "token_management_enabled, which the stand-in does not have",
    "outgoing_domains": "outgoing_domains, which the stand-in does not check",
    "settings.event_subscriptions.metadata_subscriptions": "metadata_subscriptions, which the stand-in never sends",
    "settings.event_subscriptions.user_events": "user_events; the stand-in sends bot_events only",
    "settings.function_runtime": "function_runtime; the stand-in runs no functions",
    "settings.hermes_app_type": "hermes_app_type; the stand-in runs no functions",
    "settings.incoming_webhooks": "incoming_webhooks, which the stand-in does not have",
    "settings.is_hosted": "is_hosted; the stand-in hosts no app",
    "settings.is_mcp_enabled": "is_mcp_enabled, which the stand-in does not have",
    "settings.org_deploy_enabled": "org_deploy_enabled; the stand-in is one workspace and no organization",
    "settings.siws_links": "siws_links: nobody signs in with Slack here",
    "settings.token_rotation_enabled": "token_rotation_enabled; tokens do not change here",
    "types": "types; the stand-in runs no functions",
    "workflows": "the workflow {}, which the stand-in never runs",
}


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
    #: Whether the app asks for Socket Mode; one that says nothing of it is taken to.
    socket_mode: bool = True
    #: Fields of the file that the stand-in does not act on, in sentences.
    gaps: tuple[str, ...] = ()

    @property
    def unsupported(self) -> list[str]:
        """What the app declared and will not get here, in sentences; Slack would send it."""
        events = sorted(self.events - SUPPORTED_EVENTS)
        scopes = sorted(self.scopes - KNOWN_SCOPES)
        return [
            *(f"The manifest declares the event {name}, which the stand-in never sends." for name in events),
            *(
                f"The manifest asks for the scope {name}, which nothing in the stand-in needs."
                for name in scopes
            ),
            *self.gaps,
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
        return parse(strict_yaml.read(path.read_text(encoding="utf-8")))
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
        socket_mode=settings.get("socket_mode_enabled") is not False,
        unfurl_domains=tuple(features.get("unfurl_domains") or ()),
        prompts=tuple(_mapping(features, "agent_view").get("suggested_prompts") or ()),
        gaps=tuple(_gaps(data, _TAKEN, "")),
    )


def _gaps(data: Any, taken: Any, place: str) -> Iterator[str]:
    """What is declared beyond what is taken, in sentences; `place` is where, with dots."""
    if isinstance(taken, list):
        for entry in data if isinstance(data, list) else ():
            yield from _gaps(entry, taken[0], place)
    elif isinstance(taken, dict) and isinstance(data, dict):
        for name, value in data.items():
            below = f"{place}.{name}" if place else str(name)
            if below in _LACKING:
                if value or isinstance(value, dict):
                    named = ", ".join(map(str, value)) if value and isinstance(value, dict) else str(name)
                    yield f"The manifest declares {_LACKING[below].format(named)}."
            elif name not in taken:
                yield f"The manifest has the field {below}, which the stand-in does not know. Is it spelt right?"
            else:
                yield from _gaps(value, taken[name], below)


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
