"""The agent surface: assistant.threads.setStatus, setSuggestedPrompts and setTitle.

Deviations: which error Slack gives an app without `features.agent_view` is unverified (`feature_not_enabled`
here); that the status of a message in a channel needs none is from its changelog of March 2026.
"""

from __future__ import annotations

from typing import Any

from sandbox.slack.errors import SlackError, invalid_arguments
from sandbox.slack.json_object import Json
from sandbox.slack.state import MAX_PROMPTS, Channel, Prompts
from sandbox.slack.web_api.arguments import Args
from sandbox.slack.web_api.content_checks import check_writable, target_channel
from sandbox.slack.web_api.dispatch import Method
from sandbox.slack.workspace import Workspace

MAX_LOADING_MESSAGES = 10


def _channel(workspace: Workspace, args: Args) -> Channel:
    channel = target_channel(workspace, args.required("channel_id"))
    check_writable(workspace, channel)
    return channel


def set_status(workspace: Workspace, args: Args) -> Json:
    """`assistant.threads.setStatus`: show a status line in a thread; an empty `status` takes it away. Answers nothing.

    Source: https://docs.slack.dev/reference/methods/assistant.threads.setStatus
    """
    channel, thread_ts = _channel(workspace, args), args.required("thread_ts")
    if not args.has("status"):
        raise invalid_arguments("missing required field: status")
    loading = args.structure("loading_messages", list, "invalid_arguments") or []
    if len(loading) > MAX_LOADING_MESSAGES:
        raise invalid_arguments("no more than 10 items allowed [json-pointer:/loading_messages]")
    parent = workspace.store.message(channel.id, thread_ts)
    if parent is None:
        raise SlackError("invalid_thread_ts")
    root = str(parent.get("thread_ts") or thread_ts)
    workspace.agent.set_status(channel.id, root, args.text("status"))
    workspace.changed()
    return {}


def set_suggested_prompts(workspace: Workspace, args: Args) -> Json:
    """`assistant.threads.setSuggestedPrompts`: suggest up to four prompts in the app's conversation. Answers nothing.

    Source: https://docs.slack.dev/reference/methods/assistant.threads.setSuggestedPrompts
    """
    channel = _channel(workspace, args)
    if not workspace.manifest.agent_view or not channel.is_im:
        raise SlackError("feature_not_enabled")
    thread_ts = args.text("thread_ts")
    if thread_ts and workspace.store.message(channel.id, thread_ts) is None:
        raise SlackError("invalid_thread_ts")
    given = args.structure("prompts", list, "invalid_arguments")
    if not given:
        raise invalid_arguments("missing required field: prompts")
    if len(given) > MAX_PROMPTS:
        raise invalid_arguments(f"no more than {MAX_PROMPTS} items allowed [json-pointer:/prompts]")
    prompts = tuple(_prompt(one, number) for number, one in enumerate(given))
    workspace.agent.set_prompts(channel.id, Prompts(args.text("title"), prompts))
    workspace.changed()
    return {}


def _prompt(given: Any, number: int) -> Json:
    pointer = f"[json-pointer:/prompts/{number}]"
    if not isinstance(given, dict):
        raise invalid_arguments(f"must be an object {pointer}")
    for name in ("title", "message"):
        if not isinstance(given.get(name), str) or not given[name].strip():
            raise invalid_arguments(f"missing required field: {name} {pointer}")
    return {"title": given["title"], "message": given["message"]}


def set_title(workspace: Workspace, args: Args) -> Json:
    """`assistant.threads.setTitle`: checked only; nothing is drawn of a thread's title. Answers nothing.

    Source: https://docs.slack.dev/reference/methods/assistant.threads.setTitle
    """
    _channel(workspace, args)
    args.required("title")
    return {}


METHODS = {
    "assistant.threads.setStatus": Method(set_status, None, "chat:write"),
    "assistant.threads.setSuggestedPrompts": Method(set_suggested_prompts, 4, "assistant:write"),
    "assistant.threads.setTitle": Method(set_title, 3, "assistant:write"),
}
