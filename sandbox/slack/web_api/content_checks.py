"""What an app may send, checked as Slack checks it: messages, blocks, metadata, views, and where they go.

Used by the methods of the Web API, and wherever else an app answers with content: the ack of a command or of a
submission, a response URL.

Source: https://docs.slack.dev/reference/methods/chat.postMessage and https://docs.slack.dev/reference/views
"""

from __future__ import annotations

import json
from typing import Any

from sandbox.slack.block_kit import limits, stored_blocks
from sandbox.slack.errors import SlackError, invalid_arguments
from sandbox.slack.json_object import Json
from sandbox.slack.state import Channel
from sandbox.slack.web_api.arguments import Args
from sandbox.slack.workspace import Workspace

MAX_METADATA_BYTES = 16_000
MAX_MARKDOWN = 12_000
MAX_VIEW_BYTES = 250_000


def target_channel(workspace: Workspace, key: str) -> Channel:
    """The channel the app means by an id, a `#name` or a person's id. Raises SlackError `channel_not_found`."""
    store = workspace.store
    channel = store.channels.get(key) or store.channel_named(key)
    if channel is None:
        channel = store.direct_message(key)
        if channel is None:
            raise SlackError("channel_not_found")
    if channel.is_private and not channel.bot_is_in:
        raise SlackError("channel_not_found")
    return channel


def visible_channel(workspace: Workspace, key: str) -> Channel:
    """The channel with this id, where the app may know of it. Raises SlackError `channel_not_found`."""
    channel = workspace.store.channels.get(key)
    if channel is None or (channel.is_private and not channel.bot_is_in):
        raise SlackError("channel_not_found")
    return channel


def readable_channel(workspace: Workspace, key: str) -> Channel:
    """The channel with this id, where the app is in it. Raises SlackError, `not_in_channel` too."""
    channel = visible_channel(workspace, key)
    if not channel.bot_is_in:
        raise SlackError("not_in_channel")
    return channel


def target_message(workspace: Workspace, key: str, ts: str) -> tuple[Channel, Json]:
    """A message and its channel, which the app is in. Raises SlackError, such as `message_not_found`."""
    channel = readable_channel(workspace, key)
    message = workspace.store.message(channel.id, ts)
    if message is None:
        raise SlackError("message_not_found")
    return channel, message


def message_content(args: Args) -> Json:
    """What a message says: text, blocks, attachments and metadata, None for what was not given.

    `markdown_text` stands for `text`, and comes without text and blocks. Raises SlackError, with the error that Slack
    gives for each.
    """
    found: Json = {"text": args.text("text") if args.has("text") else None, **structured_content(args)}
    if args.has("markdown_text"):
        if found["text"] or found["blocks"]:
            raise SlackError("markdown_text_conflict")
        found["text"] = markdown_text(args)
    return found


def markdown_text(args: Args) -> str:
    """The `markdown_text` of a call, "" without one. Raises SlackError `msg_too_long`."""
    text = args.text("markdown_text")
    if len(text) > MAX_MARKDOWN:
        raise SlackError("msg_too_long")
    return text


def structured_content(args: Args) -> Json:
    """The blocks, attachments and metadata of a message, checked; None for what was not given. Raises SlackError."""
    found: Json = {
        "blocks": args.structure("blocks", list, "invalid_blocks_format"),
        "attachments": args.structure("attachments", list, "invalid_attachments"),
        "metadata": args.structure("metadata", dict, "invalid_metadata_format"),
    }
    if found["blocks"]:
        check_blocks(found["blocks"])
    if not all(isinstance(one, dict) for one in found["attachments"] or ()):
        raise SlackError("invalid_attachments")
    if found["metadata"]:
        _check_metadata(found["metadata"])
    return found


def check_blocks(given: list[Any]) -> None:
    """Check the blocks of a message. Raises SlackError `invalid_blocks` or `msg_blocks_too_long`."""
    complaints = limits.message_complaints(given)
    if complaints:
        raise SlackError(
            "invalid_blocks",
            errors=complaints,
            response_metadata={"messages": [f"[ERROR] {text}" for text in complaints]},
        )
    if stored_blocks.text_length(given) > limits.MESSAGE_TEXT_SUM:
        raise SlackError("msg_blocks_too_long")


def _check_metadata(metadata: Json) -> None:
    kind, payload = metadata.get("event_type"), metadata.get("event_payload")
    if not isinstance(kind, str) or not kind or not isinstance(payload, dict):
        raise SlackError("invalid_metadata_format")
    if len(json.dumps(payload)) > MAX_METADATA_BYTES:
        raise SlackError("metadata_too_large")


def check_not_empty(found: Json) -> None:
    """Check that a message would show anything. Raises SlackError `no_text`."""
    if not (found["text"] or found["blocks"] or found["attachments"]):
        raise SlackError("no_text")


def check_writable(workspace: Workspace, channel: Channel) -> None:
    """Check that the app may write there. Raises SlackError, such as `is_archived` or `not_in_channel`."""
    if channel.archived:
        raise SlackError("is_archived")
    if channel.is_im:
        person = workspace.store.people[channel.im_user]
        if not workspace.manifest.messages_tab:
            raise SlackError("messages_tab_disabled")
        if person.deleted:
            raise SlackError("user_disabled")
    elif not channel.bot_is_in and "chat:write.public" not in workspace.manifest.scopes:
        raise SlackError("not_in_channel")


def check_view(view: Any, *kinds: str) -> Json:
    """Check a view that must be of one of `kinds` (`modal`, `home`), and answer it.

    Raises SlackError `invalid_arguments` or `view_too_large`.
    """
    complaints = limits.view_complaints(view, kinds)
    if complaints:
        raise invalid_arguments(*complaints)
    if len(json.dumps(view, ensure_ascii=False).encode()) > MAX_VIEW_BYTES:
        raise SlackError("view_too_large")
    checked: Json = view
    return checked
