"""Reactions: reactions.add, remove, get and list.

Deviation: any name that looks like an emoji's is taken; which emoji a workspace has is not kept.
"""

from __future__ import annotations

import re

from sandbox.slack.errors import SlackError
from sandbox.slack.json_object import Json
from sandbox.slack.state import BOT_USER, Channel, messages
from sandbox.slack.web_api.arguments import Args
from sandbox.slack.web_api.content_checks import target_message
from sandbox.slack.web_api.dispatch import Method
from sandbox.slack.workspace import Workspace

_NAME = re.compile(r"[a-z0-9_+'-]{1,100}(::skin-tone-[2-6])?")


def _asked(workspace: Workspace, args: Args) -> tuple[Channel, Json, str]:
    name = args.required("name").strip(":")
    if not _NAME.fullmatch(name):
        raise SlackError("invalid_name")
    channel, message = target_message(workspace, args.required("channel"), args.required("timestamp"))
    return channel, message, name


def add(workspace: Workspace, args: Args) -> Json:
    """`reactions.add`: the app reacts to a message. Answers nothing.

    Source: https://docs.slack.dev/reference/methods/reactions.add
    """
    channel, message, name = _asked(workspace, args)
    if not messages.react(message, BOT_USER, name):
        raise SlackError("already_reacted")
    workspace.store.put_message(channel.id, message)
    workspace.events.reacted("reaction_added", channel, message, BOT_USER, name)
    return {}


def remove(workspace: Workspace, args: Args) -> Json:
    """`reactions.remove`: the app takes its reaction back. Answers nothing.

    Source: https://docs.slack.dev/reference/methods/reactions.remove
    """
    channel, message, name = _asked(workspace, args)
    if not messages.unreact(message, BOT_USER, name):
        raise SlackError("no_reaction")
    workspace.store.put_message(channel.id, message)
    workspace.events.reacted("reaction_removed", channel, message, BOT_USER, name)
    return {}


def get(workspace: Workspace, args: Args) -> Json:
    """`reactions.get`: a message with its reactions. Answers `{type, channel, message}`.

    Source: https://docs.slack.dev/reference/methods/reactions.get
    """
    channel, message = target_message(workspace, args.required("channel"), args.required("timestamp"))
    return {"type": "message", "channel": channel.id, "message": message}


METHODS = {
    "reactions.add": Method(add, 3, "reactions:write"),
    "reactions.remove": Method(remove, 2, "reactions:write"),
    "reactions.get": Method(get, 3, "reactions:read"),
}
