"""Messages: chat.postMessage, postEphemeral, update, delete, getPermalink."""

from __future__ import annotations

import json
from typing import Any

from sandbox.slack.arguments import Args
from sandbox.slack.block_kit import limits, stored_blocks
from sandbox.slack.errors import SlackError
from sandbox.slack.json_object import Json
from sandbox.slack.state import TEAM_DOMAIN, Channel, Ephemeral, messages
from sandbox.slack.web_api import Method
from sandbox.slack.workspace import Workspace

MAX_METADATA_BYTES = 16_000
#: What the answer to an update leaves out of the message.
NOT_IN_UPDATE = {"ts", "thread_ts", "reply_count", "reply_users", "reply_users_count", "latest_reply"}


def target(workspace: Workspace, key: str) -> Channel:
    """A channel the app may write to, by id, `#name` or a person's id. Raises SlackError."""
    store = workspace.store
    channel = store.channels.get(key) or store.channel_named(key)
    if channel is None:
        channel = store.direct_message(key)
        if channel is None:
            raise SlackError("channel_not_found")
    if channel.is_private and not channel.bot_is_in:
        raise SlackError("channel_not_found")
    return channel


def content(args: Args) -> Json:
    """What a message shall say, checked. Raises SlackError."""
    found: Json = {
        "text": args.text("text") if args.has("text") else None,
        "blocks": args.structure("blocks", list, "invalid_blocks_format"),
        "attachments": args.structure("attachments", list, "invalid_attachments"),
        "metadata": args.structure("metadata", dict, "invalid_metadata_format"),
    }
    if found["blocks"]:
        check_blocks(found["blocks"])
    if found["metadata"]:
        _check_metadata(found["metadata"])
    return found


def check_blocks(given: list[Any]) -> None:
    """Raises SlackError `invalid_blocks` or `msg_blocks_too_long`."""
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


def _must_say_something(found: Json) -> None:
    if not (found["text"] or found["blocks"] or found["attachments"]):
        raise SlackError("no_text")


def check_writable(workspace: Workspace, channel: Channel) -> None:
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


def _thread(workspace: Workspace, channel: Channel, args: Args) -> str | None:
    """The parent's ts; a reply to a reply goes to the same thread."""
    ts = args.text("thread_ts")
    if not ts:
        return None
    parent = workspace.store.message(channel.id, ts)
    if parent is None:
        raise SlackError("thread_not_found")
    return str(parent.get("thread_ts") or ts)


def post_message(workspace: Workspace, args: Args) -> Json:
    channel = target(workspace, args.required("channel"))
    found = content(args)
    _must_say_something(found)
    check_writable(workspace, channel)
    found["thread_ts"] = _thread(workspace, channel, args)
    workspace.rates.post(channel.id)
    message = messages.bot_message(workspace.ids, workspace.manifest.bot_name, channel.created_at, found)
    if found["thread_ts"] and args.flag("reply_broadcast"):
        message["subtype"] = "thread_broadcast"
    workspace.store.put_message(channel.id, message)
    workspace.events.message_posted(channel, message)
    return {"channel": channel.id, "ts": message["ts"], "message": message}


def post_ephemeral(workspace: Workspace, args: Args) -> Json:
    channel = target(workspace, args.required("channel"))
    user = args.required("user")
    found = content(args)
    _must_say_something(found)
    check_writable(workspace, channel)
    if user not in channel.members:
        raise SlackError("user_not_in_channel")
    found["thread_ts"] = _thread(workspace, channel, args)
    message = messages.bot_message(workspace.ids, workspace.manifest.bot_name, channel.created_at, found)
    workspace.store.put_ephemeral(Ephemeral(user, channel.id, message))
    return {"message_ts": message["ts"]}


def _own_message(workspace: Workspace, args: Args, refusal: str) -> tuple[Channel, Json]:
    """The app's own message named by channel id and ts; somebody else's is refused."""
    channel = workspace.store.channels.get(args.required("channel"))
    if channel is None or (channel.is_private and not channel.bot_is_in):
        raise SlackError("channel_not_found")
    message = workspace.store.message(channel.id, args.required("ts"))
    if message is None:
        raise SlackError("message_not_found")
    if not messages.by_the_app(message):
        raise SlackError(refusal)
    return channel, message


def update(workspace: Workspace, args: Args) -> Json:
    """Blocks and metadata that are not given stay, as Slack says of them."""
    channel, message = _own_message(workspace, args, "cant_update_message")
    found = content(args)
    if all(value is None for value in found.values()):
        raise SlackError("no_text")
    if channel.archived:
        raise SlackError("is_archived")
    before = dict(message)
    messages.put_content(message, found, workspace.ids)
    message["edited"] = {"user": message["bot_id"], "ts": workspace.ids.ts()}
    workspace.store.put_message(channel.id, message)
    workspace.events.message_changed(channel, message, before)
    shown = {key: value for key, value in message.items() if key not in NOT_IN_UPDATE}
    return {"channel": channel.id, "ts": message["ts"], "text": message["text"], "message": shown}


def delete(workspace: Workspace, args: Args) -> Json:
    channel, message = _own_message(workspace, args, "cant_delete_message")
    workspace.store.remove_message(channel.id, message)
    workspace.events.message_deleted(channel, message)
    return {"channel": channel.id, "ts": message["ts"]}


def get_permalink(workspace: Workspace, args: Args) -> Json:
    channel = target(workspace, args.required("channel"))
    ts = args.required("message_ts")
    message = workspace.store.message(channel.id, ts)
    if message is None:
        raise SlackError("message_not_found")
    link = f"https://{TEAM_DOMAIN}.slack.com/archives/{channel.id}/p{ts.replace('.', '')}"
    if message.get("thread_ts") not in (None, ts):
        link += f"?thread_ts={message['thread_ts']}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


METHODS = {
    "chat.postMessage": Method(post_message, None, "chat:write"),
    "chat.postEphemeral": Method(post_ephemeral, 4, "chat:write"),
    "chat.update": Method(update, 3, "chat:write"),
    "chat.delete": Method(delete, 3, "chat:write"),
    "chat.getPermalink": Method(get_permalink, None),
}
