"""Events API: what happens in the workspace, sent to the app if its manifest declared it.

An event goes out only if it is declared and the scope it needs is declared too. Edits and
deletions by the app itself come back to it as `message_changed` and `message_deleted`, as in Slack.

Deviation: the limit of 30,000 events an hour (`app_rate_limited`) is not enforced.

Source: https://docs.slack.dev/apis/events-api and, for each event, https://docs.slack.dev/reference/events
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from sandbox.slack.clock import Clock
from sandbox.slack.delivery.envelopes import Ack, Delivery, Parcel
from sandbox.slack.delivery.payloads import event_callback
from sandbox.slack.ids import Ids
from sandbox.slack.json_object import Json
from sandbox.slack.state import TEAM_ID, Channel, Group, Manifest, Person, Views, user_json

#: The scope without which Slack would not let the app subscribe.
SCOPE_OF = {
    "app_mention": "app_mentions:read",
    "message.im": "im:history",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "user_change": "users:read",
    "subteam_members_changed": "usergroups:read",
}


@dataclass(frozen=True)
class Events:
    """Makes events and hands them to `delivery`.

    Each method answers the task of the first attempt, which ends with the app's ack, or None when the app has
    not declared that event or is not in the channel."""

    manifest: Manifest
    clock: Clock
    ids: Ids
    views: Views
    delivery: Delivery

    def send(self, name: str, event: Json, channel: Channel | None = None) -> asyncio.Task[Ack] | None:
        """Send one event under its subscription name, such as `message.im`. `event` is the inner event, with its
        `type`; `channel` is where it happened, if anywhere."""
        needed = SCOPE_OF.get(name)
        if name not in self.manifest.events or (needed is not None and needed not in self.manifest.scopes):
            return None
        payload = event_callback(
            event,
            self.ids.fresh("Ev"),
            int(self.clock.now()),
            is_ext_shared=channel is not None and channel.is_ext_shared,
        )
        summary = f"{event['type']} {event.get('text', '')}".strip()
        return self.delivery.send_event(Parcel("events_api", name, payload, False, summary))

    def message_posted(self, channel: Channel, message: Json) -> asyncio.Task[Ack] | None:
        """`message`: a message appeared in `channel`, also the app's own.

        Metadata is left out (it needs a scope of its own)."""
        if not channel.bot_is_in:
            return None
        name, channel_type = _message_subscription(channel)
        event = {
            **_without_metadata(message),
            "channel": channel.id,
            "event_ts": message["ts"],
            "channel_type": channel_type,
        }
        return self.send(name, event, channel)

    def mentioned(self, channel: Channel, message: Json) -> asyncio.Task[Ack] | None:
        """`app_mention`: somebody wrote @app in a channel the app is in."""
        keys = ("user", "ts", "client_msg_id", "text", "team", "thread_ts", "blocks")
        event = {key: message[key] for key in keys if key in message}
        event |= {"type": "app_mention", "channel": channel.id, "event_ts": message["ts"]}
        return self.send("app_mention", event, channel)

    def message_changed(self, channel: Channel, message: Json, before: Json) -> None:
        """`message_changed`: a message was edited; `before` is what it was."""
        more = {"message": _without_metadata(message), "previous_message": _without_metadata(before)}
        self._hidden(channel, "message_changed", more)

    def message_deleted(self, channel: Channel, before: Json) -> None:
        """`message_deleted`: a message is gone; `before` is what it was."""
        more = {"deleted_ts": before["ts"], "previous_message": _without_metadata(before)}
        self._hidden(channel, "message_deleted", more)

    def _hidden(self, channel: Channel, subtype: str, more: Json) -> None:
        """A change is a message of its own, with a timestamp of its own."""
        if not channel.bot_is_in:
            return
        name, channel_type = _message_subscription(channel)
        ts = self.ids.ts()
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
        self.send(name, event, channel)

    def home_opened(self, person: Person, channel: Channel, tab: str) -> asyncio.Task[Ack] | None:
        """`app_home_opened`: somebody opened the app's `home` or `messages` tab; `channel` is their conversation
        with the app. The view is in it once the app has published one."""
        event: Json = {
            "type": "app_home_opened",
            "user": person.id,
            "channel": channel.id,
            "tab": tab,
            "event_ts": self.ids.ts(),
        }
        home = self.views.home(person.id)
        if tab == "home" and home is not None:
            event["view"] = home.as_json()
        return self.send("app_home_opened", event)

    def group_changed(self, group: Group, before: list[str], previous_update: int) -> None:
        """`subteam_members_changed`: the members of a user group are no longer `before` (user ids), which they
        had been since `previous_update` (seconds). Nothing is sent when they are the same."""
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
            "event_ts": self.ids.ts(),
        }
        self.send("subteam_members_changed", event)

    def person_changed(self, person: Person) -> None:
        """`user_change`: something about a person changed."""
        now = self.clock.now()
        user = user_json(person, now, with_email="users:read.email" in self.manifest.scopes)
        user["profile"]["fields"] = []
        user["locale"] = "en-US"
        event = {
            "type": "user_change",
            "user": user,
            "cache_ts": int(now),
            "event_ts": self.ids.ts(),
        }
        self.send("user_change", event)


def _message_subscription(channel: Channel) -> tuple[str, str]:
    """The subscription name and the `channel_type` of messages there."""
    if channel.is_im:
        return "message.im", "im"
    return ("message.groups", "group") if channel.is_private else ("message.channels", "channel")


def _without_metadata(message: Json) -> Json:
    """A message as events show it: metadata needs a subscription of its own."""
    return {key: value for key, value in message.items() if key != "metadata"}
