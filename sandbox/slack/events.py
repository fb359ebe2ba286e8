"""Events API: what happens in the workspace, told to the app if its manifest declared it.

An event goes out only if it is declared and the scope it needs is declared too. Edits and
deletions by the app itself come back to it as `message_changed` and `message_deleted`, as in Slack.

Deviation: the limit of 30,000 events an hour (`app_rate_limited`) is not enforced.
"""

from __future__ import annotations

import asyncio

from sandbox.slack.delivery import Ack, Parcel
from sandbox.slack.json_object import Json
from sandbox.slack.payloads import event_callback
from sandbox.slack.state import TEAM_ID, Channel, Group, Person, user_json
from sandbox.slack.workspace import Workspace

#: The scope without which Slack would not let the app subscribe.
SCOPE_OF = {
    "app_mention": "app_mentions:read",
    "message.im": "im:history",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "user_change": "users:read",
    "subteam_members_changed": "usergroups:read",
}


def send(
    workspace: Workspace, name: str, event: Json, channel: Channel | None = None
) -> asyncio.Task[Ack] | None:
    """Send one event under its subscription name; None when the app did not declare it."""
    manifest = workspace.manifest
    needed = SCOPE_OF.get(name)
    if name not in manifest.events or (needed is not None and needed not in manifest.scopes):
        return None
    payload = event_callback(
        event,
        workspace.ids.fresh("Ev"),
        int(workspace.clock.now()),
        is_ext_shared=channel is not None and channel.is_ext_shared,
    )
    summary = f"{event['type']} {event.get('text', '')}".strip()
    return workspace.delivery.send_event(Parcel("events_api", name, payload, False, summary))


def _message_subscription(channel: Channel) -> tuple[str, str]:
    """The subscription name and the `channel_type` of messages there."""
    if channel.is_im:
        return "message.im", "im"
    return ("message.groups", "group") if channel.is_private else ("message.channels", "channel")


def message_posted(workspace: Workspace, channel: Channel, message: Json) -> asyncio.Task[Ack] | None:
    """A message appeared, also the app's own. Metadata is not told (it needs a scope of its own)."""
    if not channel.bot_is_in:
        return None
    name, channel_type = _message_subscription(channel)
    event = {**_told(message), "channel": channel.id, "event_ts": message["ts"], "channel_type": channel_type}
    return send(workspace, name, event, channel)


def _told(message: Json) -> Json:
    """A message as events show it: metadata needs a subscription of its own."""
    return {key: value for key, value in message.items() if key != "metadata"}


def mentioned(workspace: Workspace, channel: Channel, message: Json) -> asyncio.Task[Ack] | None:
    """Somebody wrote @app in a channel the app is in."""
    keys = ("user", "ts", "client_msg_id", "text", "team", "thread_ts", "blocks")
    event = {key: message[key] for key in keys if key in message}
    event |= {"type": "app_mention", "channel": channel.id, "event_ts": message["ts"]}
    return send(workspace, "app_mention", event, channel)


def message_changed(workspace: Workspace, channel: Channel, message: Json, before: Json) -> None:
    _hidden(
        workspace, channel, "message_changed", {"message": _told(message), "previous_message": _told(before)}
    )


def message_deleted(workspace: Workspace, channel: Channel, before: Json) -> None:
    more = {"deleted_ts": before["ts"], "previous_message": _told(before)}
    _hidden(workspace, channel, "message_deleted", more)


def _hidden(workspace: Workspace, channel: Channel, subtype: str, more: Json) -> None:
    """A change is told as a message of its own, with a timestamp of its own."""
    if not channel.bot_is_in:
        return
    name, channel_type = _message_subscription(channel)
    ts = workspace.ids.ts()
    event = {
        "type": "message",
        "subtype": subtype,
        "hidden": True,
        "channel": channel.id,
        "channel_type": channel_type,
        "ts": ts,
        "event_ts": ts,
        **more,
    }
    send(workspace, name, event, channel)


def home_opened(workspace: Workspace, person: Person, channel: Channel, tab: str) -> asyncio.Task[Ack] | None:
    event: Json = {
        "type": "app_home_opened",
        "user": person.id,
        "channel": channel.id,
        "tab": tab,
        "event_ts": workspace.ids.ts(),
    }
    home = workspace.views.home(person.id)
    if tab == "home" and home is not None:
        event["view"] = home.as_json()
    return send(workspace, "app_home_opened", event)


def group_changed(workspace: Workspace, group: Group, before: list[str], previous_update: int) -> None:
    """Membership of a user group changed from `before`."""
    added = [user for user in group.users if user not in before]
    removed = [user for user in before if user not in group.users]
    if not added and not removed:
        return
    event = {
        "type": "subteam_members_changed",
        "subteam_id": group.id,
        "team_id": TEAM_ID,
        "date_previous_update": previous_update,
        "date_update": group.updated_at,
        "added_users": added,
        "added_users_count": len(added),
        "removed_users": removed,
        "removed_users_count": len(removed),
        "event_ts": workspace.ids.ts(),
    }
    send(workspace, "subteam_members_changed", event)


def person_changed(workspace: Workspace, person: Person) -> None:
    now = workspace.clock.now()
    user = user_json(person, now)
    user["profile"]["fields"] = []
    user["locale"] = "en-US"
    event = {
        "type": "user_change",
        "user": user,
        "cache_ts": int(now),
        "event_ts": workspace.ids.ts(),
    }
    send(workspace, "user_change", event)
