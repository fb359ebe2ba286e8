"""Messages: chat.postMessage, postEphemeral, update, delete, getPermalink."""

from __future__ import annotations

from sandbox.slack.errors import SlackError
from sandbox.slack.json_object import Json
from sandbox.slack.state import TEAM_DOMAIN, Channel, Ephemeral, messages
from sandbox.slack.web_api.arguments import Args
from sandbox.slack.web_api.content_checks import (
    check_not_empty,
    check_writable,
    message_content,
    target_channel,
)
from sandbox.slack.web_api.dispatch import Method
from sandbox.slack.workspace import Workspace

#: What the answer to an update leaves out of the message.
NOT_IN_UPDATE = {"ts", "thread_ts", "reply_count", "reply_users", "reply_users_count", "latest_reply"}


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
    """`chat.postMessage`: write a message into a channel or thread. Answers `{channel, ts, message}`.

    Source: https://docs.slack.dev/reference/methods/chat.postMessage
    """
    channel = target_channel(workspace, args.required("channel"))
    found = message_content(args)
    check_not_empty(found)
    check_writable(workspace, channel)
    found["thread_ts"] = _thread(workspace, channel, args)
    workspace.rates.post(channel.id)
    message = messages.bot_message(workspace.ids, workspace.manifest.bot_name, channel.created_at, found)
    if "chat:write.customize" in workspace.manifest.scopes:
        message |= _own_look(args)
    if found["thread_ts"] and args.flag("reply_broadcast"):
        message["subtype"] = "thread_broadcast"
    workspace.store.put_message(channel.id, message)
    workspace.events.message_posted(channel, message)
    return {"channel": channel.id, "ts": message["ts"], "message": message, **_cut(found)}


def _own_look(args: Args) -> Json:
    """The name and picture that an app gives one message; without the scope Slack ignores them."""
    look: Json = {"username": args.text("username")} if args.text("username") else {}
    if args.text("icon_emoji"):
        look["icons"] = {"emoji": f":{args.text('icon_emoji').strip(':')}:"}
    elif args.text("icon_url"):
        look["icons"] = {"image_48": args.text("icon_url")}
    return {**look, "subtype": "bot_message"} if look else {}


def _cut(found: Json) -> Json:
    """The warning that comes with a text that was cut."""
    if len(found["text"] or "") <= messages.MAX_TEXT:
        return {}
    return {"warning": "message_truncated", "response_metadata": {"warnings": ["message_truncated"]}}


def post_ephemeral(workspace: Workspace, args: Args) -> Json:
    """`chat.postEphemeral`: write a message that only `user` sees. Answers `{message_ts}`.

    Source: https://docs.slack.dev/reference/methods/chat.postEphemeral
    """
    channel = target_channel(workspace, args.required("channel"))
    user = args.required("user")
    found = message_content(args)
    check_not_empty(found)
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


def _is_streaming(message: Json) -> bool:
    return message.get("streaming_state") == "in_progress"


def update(workspace: Workspace, args: Args) -> Json:
    """`chat.update`: edit a message of the app's own. Answers `{channel, ts, text, message}`.

    Blocks and metadata that are not given stay, as Slack says of them.

    Source: https://docs.slack.dev/reference/methods/chat.update
    """
    channel, message = _own_message(workspace, args, "cant_update_message")
    if _is_streaming(message):
        raise SlackError("streaming_state_conflict")
    found = message_content(args)
    if all(value is None for value in found.values()):
        raise SlackError("no_text")
    if found["text"] == "":  # an empty text alone would leave nothing to read
        check_not_empty(found)
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
    """`chat.delete`: delete a message of the app's own. Answers `{channel, ts}`.

    Source: https://docs.slack.dev/reference/methods/chat.delete
    """
    channel, message = _own_message(workspace, args, "cant_delete_message")
    if _is_streaming(message):
        raise SlackError("cant_delete_message")
    workspace.store.remove_message(channel.id, message)
    workspace.events.message_deleted(channel, message)
    return {"channel": channel.id, "ts": message["ts"]}


def get_permalink(workspace: Workspace, args: Args) -> Json:
    """`chat.getPermalink`: the address of a message. Answers `{channel, permalink}`.

    Source: https://docs.slack.dev/reference/methods/chat.getPermalink
    """
    channel = target_channel(workspace, args.required("channel"))
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
