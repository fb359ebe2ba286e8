"""Messages that are not written in one call: scheduled ones, and those that stream in.

Deviations: a scheduled message is posted by the stand-in's clock, real or moved; chunks of a stream other than
text are checked by their type and not drawn.
"""

from __future__ import annotations

from sandbox.slack.errors import SlackError
from sandbox.slack.json_object import Json
from sandbox.slack.state import messages
from sandbox.slack.web_api.arguments import Args
from sandbox.slack.web_api.content_checks import (
    check_not_empty,
    check_writable,
    markdown_text,
    message_content,
    structured_content,
    target_channel,
    target_message,
)
from sandbox.slack.web_api.dispatch import Method
from sandbox.slack.workspace import Scheduled, Workspace

_FARTHEST_SECONDS = 120 * 86400
_CHUNKS = ("markdown_text", "task_update", "plan_update", "blocks")


def schedule(workspace: Workspace, args: Args) -> Json:
    """`chat.scheduleMessage`: write a message at `post_at` (seconds). Answers `{scheduled_message_id, post_at}`.

    Source: https://docs.slack.dev/reference/methods/chat.scheduleMessage
    """
    channel = target_channel(workspace, args.required("channel"))
    found = message_content(args)
    check_not_empty(found)
    check_writable(workspace, channel)
    when, now = args.required("post_at"), workspace.clock.now()
    if not (when.isascii() and when.isdigit()):
        raise SlackError("invalid_time")
    post_at = int(when)
    if post_at <= now:
        raise SlackError("time_in_past")
    if post_at > now + _FARTHEST_SECONDS:
        raise SlackError("time_too_far")
    found["thread_ts"] = args.text("thread_ts") or None
    waiting = Scheduled(workspace.ids.fresh("Q"), channel.id, post_at, int(now), found)
    workspace.schedule(waiting)
    shown = messages.bot_message(workspace.ids, workspace.manifest.bot_name, channel.created_at, found)
    del shown["ts"]
    return {"channel": channel.id, "scheduled_message_id": waiting.id, "post_at": post_at, "message": shown}


def scheduled(workspace: Workspace, args: Args) -> Json:
    """`chat.scheduledMessages.list`: what waits. Answers `{scheduled_messages}`.

    Source: https://docs.slack.dev/reference/methods/chat.scheduledMessages.list
    """
    wanted = args.text("channel")
    return {
        "scheduled_messages": [
            {
                "id": one.id,
                "channel_id": one.channel,
                "post_at": one.post_at,
                "date_created": one.created_at,
                "text": one.content.get("text") or "",
            }
            for one in workspace.scheduled
            if wanted in ("", one.channel)
        ],
        "response_metadata": {"next_cursor": ""},
    }


def unschedule(workspace: Workspace, args: Args) -> Json:
    """`chat.deleteScheduledMessage`: a message is not written after all. Answers nothing.

    Source: https://docs.slack.dev/reference/methods/chat.deleteScheduledMessage
    """
    channel, wanted = (
        target_channel(workspace, args.required("channel")),
        args.required("scheduled_message_id"),
    )
    found = next((one for one in workspace.scheduled if (one.id, one.channel) == (wanted, channel.id)), None)
    if found is None:
        raise SlackError("invalid_scheduled_message_id")
    workspace.scheduled.remove(found)
    return {}


def start_stream(workspace: Workspace, args: Args) -> Json:
    """`chat.startStream`: begin a message in a thread. Answers `{channel, ts}`.

    Source: https://docs.slack.dev/reference/methods/chat.startStream
    """
    channel = target_channel(workspace, args.required("channel"))
    thread_ts = args.required("thread_ts")
    check_writable(workspace, channel)
    if workspace.store.message(channel.id, thread_ts) is None:
        raise SlackError("thread_not_found")
    for recipient in () if channel.is_im else ("recipient_user_id", "recipient_team_id"):
        if not args.text(recipient):
            raise SlackError(f"missing_{recipient}")
    workspace.rates.post(channel.id)
    content = {"text": _text(args), "thread_ts": thread_ts}
    message = messages.bot_message(workspace.ids, workspace.manifest.bot_name, channel.created_at, content)
    message["streaming_state"] = "in_progress"
    workspace.store.put_message(channel.id, message)
    return {"channel": channel.id, "ts": message["ts"]}


def _streaming(workspace: Workspace, args: Args) -> tuple[str, Json]:
    channel, message = target_message(workspace, args.required("channel"), args.required("ts"))
    if not messages.by_the_app(message):
        raise SlackError("message_not_owned_by_app")
    if message.get("streaming_state") != "in_progress":
        raise SlackError("message_not_in_streaming_state")
    message["text"] += _text(args)
    return channel.id, message


def _text(args: Args) -> str:
    """The text of a call: its `markdown_text`, and that of its chunks. Raises SlackError `invalid_chunks`."""
    chunks = args.structure("chunks", list, "invalid_chunks") or []
    if not all(isinstance(one, dict) and one.get("type") in _CHUNKS for one in chunks):
        raise SlackError("invalid_chunks")
    said = (str(one.get("text", "")) for one in chunks if one["type"] == "markdown_text")
    return markdown_text(args) + "".join(said)


def append_stream(workspace: Workspace, args: Args) -> Json:
    """`chat.appendStream`: more of a message. Answers `{channel, ts}`.

    Source: https://docs.slack.dev/reference/methods/chat.appendStream
    """
    if not args.has("markdown_text") and not args.has("chunks"):
        raise SlackError("no_text")
    channel, message = _streaming(workspace, args)
    workspace.store.put_message(channel, message)
    return {"channel": channel, "ts": message["ts"]}


def stop_stream(workspace: Workspace, args: Args) -> Json:
    """`chat.stopStream`: the end of a message, with blocks below it. Answers `{channel, ts, message}`.

    Source: https://docs.slack.dev/reference/methods/chat.stopStream
    """
    below = structured_content(args)
    channel, message = _streaming(workspace, args)
    messages.put_content(message, {name: below[name] for name in ("blocks", "metadata")}, workspace.ids)
    message["streaming_state"] = "completed"
    workspace.store.put_message(channel, message)
    workspace.events.message_posted(workspace.store.channels[channel], message)
    return {"channel": channel, "ts": message["ts"], "message": message}


METHODS = {
    "chat.scheduleMessage": Method(schedule, 3, "chat:write"),
    "chat.scheduledMessages.list": Method(scheduled, 3),
    "chat.deleteScheduledMessage": Method(unschedule, 3, "chat:write"),
    "chat.startStream": Method(start_stream, 2, "chat:write"),
    "chat.appendStream": Method(append_stream, 4, "chat:write"),
    "chat.stopStream": Method(stop_stream, 2, "chat:write"),
}
